# Times over two settings as a heat map, as SVG or PNG. `benchcnn plot sweep` sets, and then loads it:
# $cells    place across, place down, value, 1 where it bears a mark, 1 where it is the best; nan: it was not timed
# wide, tall: values across and down;  x0, x1, ..., y0, ...: what they are called;  across, down: the settings
# relative  1: times by the default's; else seconds
# title, line0, line1: the heading; common: the path of common.gp

# Each cell has its number, so that no colour need be read; light is fast, dark is slow, in grey, too.
cell_w = wide > 12 ? 52.0 : 64.0; cell_h = 30.0
left = 130.0; above = 118.0; below = 78.0
width = left + wide * cell_w + 110
if (width < 640) { width = 640.0 }
height = above + tall * cell_h + below
load common
pixels(y) = 1 - y / height
number(v) = relative ? sprintf("%.2f", v) : v < 1e-6 ? sprintf("%.3g ns", v * 1e9) : v < 1e-3 ? sprintf("%.3g µs", v * 1e6) : \
    v < 1 ? sprintf("%.3g ms", v * 1e3) : sprintf("%.3g s", v)

stats $cells using 3 nooutput
v_low = STATS_min; v_high = STATS_max > STATS_min ? STATS_max : STATS_min * 1.01
set lmargin at screen left / width
set rmargin at screen (left + wide * cell_w) / width
set tmargin at screen pixels(above)
set bmargin at screen below / height
set label 1 title at screen 0.02, pixels(26) left noenhanced tc rgb text font large
set label 2 line0 at screen 0.02, pixels(53) left noenhanced tc rgb soft
set label 3 line1 at screen 0.02, pixels(76) left noenhanced tc rgb soft
set label 4 "framed: the best;  *: marked as in doubt;  empty: not timed" at screen 0.98, 14 / height right noenhanced tc rgb soft font small
set label 5 across at graph 0.5, screen 38 / height center noenhanced tc rgb soft
set label 6 down at screen (left - 10) / width, pixels(above - 12) right noenhanced tc rgb soft

set border 0
unset xtics
unset ytics
set xtics scale 0 () textcolor rgb text
set ytics scale 0 () textcolor rgb text
do for [i = 0:wide - 1] { set xtics add (value("x" . i) i) }
do for [i = 0:tall - 1] { set ytics add (value("y" . i) i) }
set xrange [-0.5:wide - 0.5]
set yrange [tall - 0.5:-0.5]
set palette defined (0 "#FDE725", 0.25 "#5EC962", 0.5 "#21918C", 0.75 "#3B528B", 1 "#440154")
set logscale cb
set cbrange [v_low:v_high]
set cbtics (number(v_low) v_low, number(v_high) v_high) textcolor rgb text scale 0.3 out
set colorbox user origin (left + wide * cell_w + 24) / width, below / height size 14 / width, tall * cell_h / height
unset key
dark(v) = log(v / v_low) > 0.45 * log(v_high / v_low)
plot $cells using 1:2:3 with image pixels, \
     $cells using ($5 > 0 ? $1 : NaN):2:(0.46):(0.44) with boxxyerror fs empty lc rgb "#D55E00" lw 3, \
     $cells using 1:(valid(3) && !dark($3) ? $2 : NaN):(number($3) . ($4 > 0 ? "*" : "")) with labels center tc rgb "#000000" font small, \
     $cells using 1:(valid(3) && dark($3) ? $2 : NaN):(number($3) . ($4 > 0 ? "*" : "")) with labels center tc rgb "#FFFFFF" font small
