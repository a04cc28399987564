# Of how many problems each candidate has the right answer, and how fast, as SVG or PNG. `benchcnn plot solved` sets, and then loads
# it:
# $curves   a block a candidate, a line of steps: times as long as the fastest, or as fast as the baseline; share in percent
# count     candidates, the best first;  name0, note0 ...: the lines of each one's label
# least, most: the ends of the axis;  over: 1 over a baseline
# title, line0, line1: the heading; beside: what the axis is; common: the path of common.gp

# Colours of Okabe and Ito, told apart with any colour vision; each has a mark of its own, too. Where they come round, lines are dashed.
colours = "#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #56B4E9 #000000"
marks = "7 5 9 11 13 15 4"
colour(i) = word(colours, i % words(colours) + 1)
mark(i) = int(word(marks, i % words(marks) + 1))
set dashtype 2 (6, 3)
set dashtype 3 (2, 3)
dash(i) = i / words(colours) + 1

width = 1040.0
above = 92.0; below = 66.0
height = above + below + (count < 8 ? 300.0 : 37.0 * count)
load common
pixels(y) = 1 - y / height # from the top

set lmargin at screen 0.06
set rmargin at screen 0.58
set tmargin at screen pixels(above)
set bmargin at screen below / height
set logscale x
set xrange [least:most]
set yrange [0:101]

set label 1 title at screen 0.02, pixels(26) left noenhanced tc rgb text font large
set label 2 line0 at screen 0.02, pixels(49) left noenhanced tc rgb soft
set label 3 line1 at screen 0.02, pixels(68) left noenhanced tc rgb soft
set label 4 beside at graph 0.5, screen 20 / height center noenhanced tc rgb soft
do for [i = 0:count - 1] {
    set label 10 + i value("name" . i) . (i < words(colours) ? "" : " (dashed)") at screen 0.61, pixels(above + 6 + 37 * i) left noenhanced tc rgb text \
        point pt mark(i) ps 0.8 lc rgb colour(i) offset 1, 0
    set label 100 + i value("note" . i) at screen 0.61, pixels(above + 22 + 37 * i) left noenhanced tc rgb soft font small offset 1, 0
}

set border 3 lc rgb soft lw 1
set grid ytics xtics lc rgb line lt 1 lw 0.75
set ytics textcolor rgb text scale 0 nomirror 0, 20 format "%g %%"
set xtics textcolor rgb text scale 0.5, 0 nomirror out ()
steps = most / least > 200 ? "1" : most / least > 12 ? "1 2 5" : "1 1.1 1.2 1.5 2 3 4 5 7"
do for [e = -2:2] {
    do for [m in steps] {
        v = m * 10.0 ** e
        if (v >= least * 0.999 && v <= most * 1.001) { set xtics add (sprintf("%g", v) v) }
    }
}
if (over) { set arrow 1 from 1, graph 0 to 1, graph 1 nohead lc rgb text lw 1.25 }
# The worst first, so that the best lie on top; a mark where each ends, and one at every few steps.
plot for [i = 0:count - 1] $curves index count - 1 - i using 1:2 \
         with linespoints lc rgb colour(count - 1 - i) lw 2 dt dash(count - 1 - i) \
         pt mark(count - 1 - i) ps 0.6 pi 7 + (count - 1 - i) % 5
