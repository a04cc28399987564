# Strong and weak scaling over ranks, and what sums take a step, as SVG or PNG: a row a network and implementation. `benchcnn
# plot ranks` sets, and then loads it:
# $strong, $weak       a block a batch of each row: ranks, times as fast as one rank (weak: by the ranks, in percent), 1 where
#                      the figure bears a mark
# $sums, $alone        the same of the sum, in seconds: in a step, with waits; alone
# $strong_model, $weak_model   what the model says at powers of two;  $sums_model: a block a row
# rows      the rows;  name0, facts0, model0, knots0, name1, ...: their words;  first0, last0, first1, ...: their blocks
# $least    a block a batch of each row: the ranks with the model's least epoch, and how many times as fast as one it is
# batch0, batch1, ...  of each block: its batch, in words
# line0: the heading; common: the path of common.gp

# Colours of Okabe and Ito, told apart with any colour vision; each has a mark of its own, too.
colours = "#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #000000"
marks = "7 5 9 11 13 15"
colour(i) = word(colours, i + 1)
mark(i) = int(word(marks, i + 1))
set dashtype 2 (5, 4)

width = 1340.0; tall = 270.0; above = 66.0; below = 64.0
height = above + rows * tall + below
load common
down(pixels) = 1 - pixels / height

most = 1024
set label 1 "Scaling over ranks: measured, and a model up to " . grouped(most) . " ranks" at screen 0.016, screen down(28) left noenhanced tc rgb text font large
set label 2 line0 at screen 0.016, screen down(54) left noenhanced tc rgb soft
# The legend: what is measured, and what is not.
foot = 22 / height
set arrow 1 from screen 0.018, screen foot to screen 0.048, screen foot nohead lc rgb text lw 2
set label 3 "measured" at screen 0.033, screen foot left noenhanced tc rgb text point pt 7 ps 0.8 lc rgb text offset 3, 0
set arrow 2 from screen 0.130, screen foot to screen 0.160, screen foot nohead lc rgb text lw 1.5 dt 2
set label 4 "model, not measured" at screen 0.166, screen foot left noenhanced tc rgb text
set label 5 "the model's least time" at screen 0.306, screen foot left noenhanced tc rgb text point pt 12 ps 1.1 lc rgb text offset 1.2, 0
set arrow 3 from screen 0.450, screen foot to screen 0.480, screen foot nohead lc rgb soft lw 1
set label 6 "ideal" at screen 0.486, screen foot left noenhanced tc rgb text
set label 7 "hollow: marked as disturbed or throttled;  of sums: alone, without the waits of a step" at screen 0.984, screen foot right noenhanced tc rgb soft font small

set border 3 lc rgb soft lw 1
set grid ytics lc rgb line lt 1 lw 0.75
set xtics textcolor rgb text scale 0.5, 0 nomirror out
set logscale x 2
set xrange [0.85:most * 1.2]
set xtics ("1" 1, "4" 4, "16" 16, "64" 64, "256" 256, "1,024" 1024)
panel_left(p) = 0.042 + 0.25 * (p - 1)
panel_right(p) = panel_left(p) + 0.2

seconds(s) = s < 0.99e-3 ? sprintf("%g µs", s * 1e6) : s < 0.99 ? sprintf("%g ms", s * 1e3) : sprintf("%g s", s)
highest = 0
stats $weak using ($2 > 0 ? (highest = max(highest, $2)) : 0) nooutput
set multiplot
do for [r = 0:rows - 1] {
    block = value("first" . r); stop = value("last" . r)
    top = above + r * tall
    set tmargin at screen down(top + 44)
    set bmargin at screen down(top + tall - 34)
    set label 10 value("name" . r) at screen 0.772, screen down(top + 50) left noenhanced tc rgb text
    set label 11 value("facts" . r) at screen 0.772, screen down(top + 67) left noenhanced tc rgb soft font small
    set label 12 value("model" . r) at screen 0.772, screen down(top + 84) left noenhanced tc rgb soft font small
    set label 13 value("knots" . r) at screen 0.772, screen down(top + 99) left noenhanced tc rgb soft font small
    set label 14 "batch" at screen 0.772, screen down(top + 121) left noenhanced tc rgb soft font small
    do for [i = block:stop] {
        set label 20 + i - block value("batch" . i) \
            at screen 0.772, screen down(top + 138 + 16 * (i - block)) left noenhanced tc rgb colour(i - block) font small \
            point pt mark(i - block) ps 0.6 lc rgb colour(i - block) offset 1, 0
    }
    do for [panel = 1:3] {
        set lmargin at screen panel_left(panel)
        set rmargin at screen panel_right(panel)
        set xlabel (r == rows - 1 ? "ranks" : "") tc rgb soft offset 0, 0.6
        set label 9 (panel == 1 ? "strong: times as fast as one rank, same batch" : \
            panel == 2 ? "weak: that by the ranks, same batch a rank" : "the sum over the ranks, a step") \
            at graph 0, 1.07 left tc rgb soft
        unset ytics
        set ytics textcolor rgb text scale 0 nomirror
        unset logscale y
        if (panel == 1) {
            set logscale y 2
            set yrange [0.5:1300]
            set ytics ("½" 0.5, "1" 1, "4" 4, "16" 16, "64" 64, "256" 256, "1,024" 1024)
        }
        if (panel == 2) {
            set yrange [0:max(108, highest * 1.05)]
            set ytics ("0 %%" 0, "25 %%" 25, "50 %%" 50, "75 %%" 75, "100 %%" 100)
        }
        if (panel == 3) {
            set logscale y 10
            set yrange [*:*]
            set ytics ()
            do for [e = -6:2] {
                do for [m in "1 2 5"] {
                    v = m * 10.0 ** e
                    set ytics add (seconds(v) v)
                }
            }
        }
        if (panel == 1) {
            plot [1:most] x with lines lc rgb soft lw 1, \
                 for [i = block:stop] $strong_model index i using 1:2 with lines lc rgb colour(i - block) lw 1.5 dt 2, \
                 for [i = block:stop] $strong index i using 1:2 with lines lc rgb colour(i - block) lw 2, \
                 for [i = block:stop] $strong index i using 1:2:(0.8) with points lc rgb colour(i - block) pt mark(i - block) ps variable, \
                 for [i = block:stop] $strong index i using 1:($3 > 0 ? $2 : NaN):(0.45) with points lc rgb "white" pt mark(i - block) ps variable, \
                 for [i = block:stop] $least index i using 1:2 with points lc rgb colour(i - block) pt 12 ps 1.1
        }
        if (panel == 2) {
            plot [1:most] 100 with lines lc rgb soft lw 1, \
                 for [i = block:stop] $weak_model index i using 1:2 with lines lc rgb colour(i - block) lw 1.5 dt 2, \
                 for [i = block:stop] $weak index i using 1:2 with lines lc rgb colour(i - block) lw 2, \
                 for [i = block:stop] $weak index i using 1:2:(0.8) with points lc rgb colour(i - block) pt mark(i - block) ps variable, \
                 for [i = block:stop] $weak index i using 1:($3 > 0 ? $2 : NaN):(0.45) with points lc rgb "white" pt mark(i - block) ps variable
        }
        if (panel == 3) {
            plot $sums_model index r using 1:2 with lines lc rgb text lw 1.5 dt 2, \
                 for [i = block:stop] $sums index i using 1:2 with lines lc rgb colour(i - block) lw 2, \
                 for [i = block:stop] $sums index i using 1:2:(0.8) with points lc rgb colour(i - block) pt mark(i - block) ps variable, \
                 for [i = block:stop] $alone index i using 1:2:(0.8) with points lc rgb colour(i - block) pt mark(i - block) ps variable, \
                 for [i = block:stop] $alone index i using 1:2:(0.45) with points lc rgb "white" pt mark(i - block) ps variable
        }
        unset label 1; unset label 2; unset label 3; unset label 4; unset label 5; unset label 6; unset label 7
        do for [i = 10:30] { unset label i }
        unset arrow
    }
}
unset multiplot
