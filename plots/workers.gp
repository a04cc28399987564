# Speedup and efficiency over threads or workers, as SVG or PNG. `benchcnn plot workers` sets, and then loads it:
# $curves   a block a curve: threads or workers, speedup, efficiency in percent, 1 where the figure bears a mark
# count     the curves;  ours: how many of them, the first, were measured; the others were published
# name0, note0, name1, ...: the two lines of each one's label;  over: what the figure is over
# line0, line1: the heading; common: the path of common.gp

# Colours of Okabe and Ito, told apart with any colour vision; each has a mark of its own, too. Where they come round, lines are dashed.
colours = "#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #56B4E9 #000000"
marks = "7 5 9 11 13 15 7"
published = "#8A8A8A"
colour(i) = i >= ours ? published : word(colours, i % words(colours) + 1)
mark(i) = i >= ours ? (i == ours ? 6 : 4) : int(word(marks, i % words(marks) + 1))
set dashtype 2 (6, 3)
dash(i) = i >= ours || i < words(colours) ? 1 : 2

width = 960.0; height = 460.0
load common

stats $curves using 1 nooutput
most = STATS_max
stats $curves using 2 nooutput
fastest = STATS_max
stats $curves using 3 nooutput
best = STATS_max

set label 1 "Speedup over " . over at screen 0.02, 0.94 left noenhanced tc rgb text font large
set label 2 line0 at screen 0.02, 0.885 left noenhanced tc rgb soft
set label 3 line1 at screen 0.02, 0.84 left noenhanced tc rgb soft
set label 4 "training of the fastest epoch;  hollow: marked as disturbed or throttled;  grey: published" \
    at screen 0.98, 0.03 right noenhanced tc rgb soft font small
step = min(0.11, 0.68 / count)
do for [i = 0:count - 1] {
    at_y = 0.74 - i * step
    set label 10 + 2 * i value("name" . i) at screen 0.75, screen at_y left noenhanced tc rgb i >= ours ? soft : colour(i) \
        point pt mark(i) ps 0.7 lc rgb colour(i) offset 1, 0
    set label 11 + 2 * i value("note" . i) at screen 0.75, screen at_y - 0.038 left noenhanced tc rgb soft font small offset 1, 0
}

set border 3 lc rgb soft lw 1
set grid ytics lc rgb line lt 1 lw 0.75
set ytics textcolor rgb text scale 0 nomirror
set xtics textcolor rgb text scale 0.5, 0 nomirror out
set tmargin at screen 0.745
set bmargin at screen 0.16
set logscale x 2
set xrange [0.9:most * 1.1]
set xtics ()
v = 1
while (v <= most) {
    set xtics add (sprintf("%g", v) v)
    v = v * 2
}
set xlabel over tc rgb soft offset 0, 0.4
set multiplot
do for [panel = 1:2] {
    set lmargin at screen panel == 1 ? 0.055 : 0.42
    set rmargin at screen panel == 1 ? 0.36 : 0.725
    set label 6 (panel == 1 ? "times as fast as 1;  thin: ideal" : "efficiency: speedup by number") \
        at graph 0, 1.06 left tc rgb soft
    if (panel == 1) {
        set logscale y 2
        set yrange [0.9 * 2 ** floor(min(0, log(fastest) / log(2))):1.15 * max(2, fastest)]
        set ytics ()
        v = 1
        while (v <= 1.15 * max(2, fastest)) {
            set ytics add (sprintf("%g", v) v)
            v = v * 2
        }
        plot sample [1:most] x with lines lc rgb soft lw 1, \
             for [i = 0:count - 1] $curves index i using 1:2 with lines lc rgb colour(i) lw 2 dt dash(i), \
             for [i = 0:count - 1] $curves index i using 1:2:(0.8) with points lc rgb colour(i) pt mark(i) ps variable, \
             for [i = 0:ours - 1] $curves index i using 1:($4 > 0 ? $2 : NaN):(0.45) with points lc rgb "white" pt mark(i) ps variable
    } else {
        unset logscale y
        unset ytics
        set ytics textcolor rgb text scale 0 nomirror autofreq format "%g %%"
        set yrange [0:max(105, best * 1.05)]
        plot sample [1:most] 100 with lines lc rgb soft lw 1, \
             for [i = 0:count - 1] $curves index i using 1:3 with lines lc rgb colour(i) lw 2 dt dash(i), \
             for [i = 0:count - 1] $curves index i using 1:3:(0.8) with points lc rgb colour(i) pt mark(i) ps variable, \
             for [i = 0:ours - 1] $curves index i using 1:($4 > 0 ? $3 : NaN):(0.45) with points lc rgb "white" pt mark(i) ps variable
    }
    unset label
}
unset multiplot
