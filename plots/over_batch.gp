# Seconds per epoch over batch size, log-log, as SVG or PNG. `benchcnn plot` runs it as
#   gnuplot -e "folder='...'; count=3; thesis='...'; ...; format='png'; out='...'" epoch_over_batch.gp
# folder    holds curves.dat (a block a curve: batch seconds marked, 1 where the figure bears a mark) and leaders.dat (a block a curve: the thin line from its
#           last point to its label)
# count     our curves; the published ones follow them among the labels
# name0, note0, place0, name1, ...   the two lines of each label and its height, in seconds
# thesis    plots/thesis_table_4_2.dat, or '' to leave the published curves out
# hollow    what the marks of hollow points are, or ''
# x_low, x_high, y_low, y_high   the frame; title, job, machine: the heading; out; format: svg or png

# Colours of Okabe and Ito, told apart with any colour vision; each curve has a mark of its own, too.
colours = "#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #56B4E9 #000000"
marks = "7 5 9 11 13 15 7"
colour(i) = word(colours, i % words(colours) + 1)
mark(i) = int(word(marks, i % words(marks) + 1))
text = "#222222"; soft = "#6E6E6E"; line = "#DDDDDD"; published = "#8A8A8A"

# Drawn for 800 pixels of width; the PNG has twice as many, for sharp screens.
if (format eq 'svg') {
    set terminal svg size 800,520 dynamic background "white" font "Helvetica,13"
} else {
    set terminal pngcairo size 1600,1040 background "white" font "Helvetica,9.75" fontscale 2 linewidth 2 pointscale 2
}
small = format eq 'svg' ? ",11" : ",8.25"
large = format eq 'svg' ? ",17" : ",12.75"
set output out
set encoding utf8
set multiplot

set lmargin at screen 0.065
set rmargin at screen 0.705
set tmargin at screen 0.815
set bmargin at screen 0.115
set logscale xy
set xrange [x_low:x_high]
set yrange [y_low:y_high]
unset key

set label 1 title at screen 0.02, 0.95 left noenhanced tc rgb text font large
set label 2 job at screen 0.02, 0.898 left noenhanced tc rgb soft
set label 3 machine . (thesis eq '' ? "" : ";  grey: as published in 2020, on other hardware") at screen 0.02, 0.858 left noenhanced tc rgb soft

if (hollow ne '') { set label 4 hollow at screen 0.98, 0.03 right noenhanced tc rgb soft font small }

# The labels stand right of the frame, each at its curve's height or moved just enough to be clear of its neighbours.
tall = log10(y_high) - log10(y_low)
raised(y, share) = 10 ** (log10(y) + share * tall)
tone(i) = i < count ? colour(i) : soft
all = count + (thesis eq '' ? 0 : 2)
do for [i = 0:all - 1] {
    set label 10 + 2 * i value("name" . i) at graph 1.02, first raised(value("place" . i), 0.018) left noenhanced \
        tc rgb tone(i)
    set label 11 + 2 * i value("note" . i) at graph 1.02, first raised(value("place" . i), -0.020) left noenhanced \
        tc rgb soft font small
}

# First the axes and the published curves, then ours on top.
set border 1 lc rgb soft lw 1
set grid ytics lc rgb line lt 1 lw 0.75
set xtics textcolor rgb text scale 0.5, 0 nomirror out \
    (1, 2, 5, 10, 20, 50, 100, 200, 500, "1,000" 1000, "2,000" 2000, "5,000" 5000, "10,000" 10000, \
     "20,000" 20000, "60,000" 60000)
set ytics textcolor rgb text scale 0 nomirror \
    (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, \
     "1,000" 1000, "2,000" 2000, "5,000" 5000)
set format y "%g s"
set xlabel "images per step (batch size)" tc rgb soft offset 0, 0.4
if (thesis ne '') {
    plot thesis using 1:2 with lines lc rgb published lw 1.75 dt (5, 3), \
         thesis using 1:3 with lines lc rgb published lw 1.75 dt (1.5, 2.5)
} else {
    plot y_low / 2 with lines lc rgb "white" # nothing: only the axes
}
unset label; unset grid; unset xlabel; unset border; unset xtics; unset ytics
plot for [i = 0:all - 1] folder . '/leaders.dat' index i using 1:2 with lines lc rgb "#BBBBBB" lw 0.75, \
     for [i = 0:count - 1] folder . '/curves.dat' index i using 1:2 \
         with lines lc rgb colour(i) lw 2, \
     for [i = 0:count - 1] folder . '/curves.dat' index i using 1:2:(0.7) \
         with points lc rgb colour(i) pt mark(i) ps variable, \
     for [i = 0:count - 1] folder . '/curves.dat' index i using 1:($3 > 0 ? $2 : NaN):(0.42) \
         with points lc rgb "white" pt mark(i) ps variable
unset multiplot
