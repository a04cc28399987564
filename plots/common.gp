# What all pictures share; each sets width and height first, in pixels of the SVG. The PNG has twice as many, for sharp
# screens. `benchcnn plot` sets format (svg or png) and out, the file.
text = "#222222"; soft = "#6E6E6E"; line = "#DDDDDD"
if (format eq 'svg') {
    set terminal svg size width,height dynamic background "white" font "Helvetica,13"
} else {
    set terminal pngcairo size 2 * width,2 * height background "white" font "Helvetica,9.75" fontscale 2 linewidth 2 \
        pointscale 2
}
small = format eq 'svg' ? ",11" : ",8.25"
large = format eq 'svg' ? ",17" : ",12.75"
set termoption noenhanced # names hold what they hold: `with labels` heeds its own noenhanced in some versions alone
if (out ne '') { set output out } # else standard output
set encoding utf8
unset key
max(a, b) = a > b ? a : b
min(a, b) = a < b ? a : b
grouped(v) = v < 1000 ? sprintf("%g", v) : sprintf("%d,%03d", int(v) / 1000, int(v) % 1000)
