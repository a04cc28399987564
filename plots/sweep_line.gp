# Times over one setting, as SVG or PNG. `benchcnn plot sweep` sets, and then loads it:
# $curves   a block a curve: place, value, its interval's low and high, 1 where it bears a mark
# count     the curves;  name0, name1, ...: what they are of
# wide      values;  x0, x1, ...: what they are called, in their order, which is to no scale;  across: the setting
# relative  1: times by the default's, else seconds
# title, line0, line1: the heading; common: the path of common.gp

# Colours of Okabe and Ito, told apart with any colour vision; each has a mark of its own, too.
colours = "#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #56B4E9 #000000"
marks = "7 5 9 11 13 15 7"
colour(i) = word(colours, i % words(colours) + 1)
mark(i) = int(word(marks, i % words(marks) + 1))

width = 800.0
height = 420.0 + 20 * count
load common
pixels(y) = 1 - y / height
number(v) = relative ? sprintf("%g", v) : v < 1e-6 ? sprintf("%.3g ns", v * 1e9) : v < 1e-3 ? sprintf("%.3g µs", v * 1e6) : \
    v < 1 ? sprintf("%.3g ms", v * 1e3) : sprintf("%.3g s", v)
stats $curves using 3 nooutput
y_low = STATS_min / 1.1
stats $curves using 4 nooutput
y_high = STATS_max * 1.1

set lmargin at screen 0.11
set rmargin at screen 0.97
set tmargin at screen pixels(100 + 20 * count)
set bmargin at screen 74 / height
set label 1 title at screen 0.02, pixels(26) left noenhanced tc rgb text font large
set label 2 line0 at screen 0.02, pixels(53) left noenhanced tc rgb soft
set label 3 line1 at screen 0.02, pixels(76) left noenhanced tc rgb soft
set label 4 "medians with their 95 % intervals;  hollow: marked as in doubt" at screen 0.98, 14 / height right noenhanced tc rgb soft font small
set label 5 across at graph 0.5, screen 38 / height center noenhanced tc rgb soft
do for [i = 0:count - 1] {
    set label 10 + i value("name" . i) at screen 0.0275, pixels(98 + 20 * i) left noenhanced tc rgb text \
        point pt mark(i) ps 0.8 lc rgb colour(i) offset 1.5, 0
}
set border 3 lc rgb soft lw 1
set grid ytics lc rgb line lt 1 lw 0.75
set xrange [-0.4:wide - 0.6]
set xtics scale 0.5, 0 nomirror out () textcolor rgb text
do for [i = 0:wide - 1] { set xtics add (value("x" . i) i) }
set logscale y
set yrange [y_low:y_high]
set ytics nomirror scale 0.5, 0 out () textcolor rgb text
do for [e = -10:3] {
    do for [m in y_high / y_low > 100 ? "1" : y_high / y_low > 20 ? "1 2 5" : y_high / y_low > 3 ? "1 1.5 2 3 5 7" : "1 1.1 1.2 1.3 1.5 1.7 2 2.3 2.6 3 3.5 4 4.5 5 6 7 8 9"] {
        v = m * 10.0 ** e
        if (v > y_low && v < y_high) { set ytics add (number(v) v) }
    }
}
plot for [i = 0:count - 1] $curves index i using 1:2 with lines lc rgb colour(i) lw 2, \
     for [i = 0:count - 1] $curves index i using 1:2:3:4 with yerrorbars lc rgb colour(i) pt mark(i) ps 0.8, \
     for [i = 0:count - 1] $curves index i using 1:($5 > 0 ? $2 : NaN) with points lc rgb "white" pt mark(i) ps 0.4
