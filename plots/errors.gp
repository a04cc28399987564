# How much of its rounding bound each kernel uses, as SVG or PNG. `benchcnn plot errors` sets, and then loads it:
# $points    a block a direction (FWD, BWD_D, BWD_W): row, share of the bound, 1 where it FAILED
# $medians   row, direction, the median share
# rows       how many;  row0 ...: what stands beside each, note0 ...: and behind it;  least, most: the shares at the edges
# title, line0: the heading; common: the path of common.gp

# Colours of Okabe and Ito, told apart with any colour vision; each direction has a mark and a height of its own, too.
colours = "#0072B2 #E69F00 #009E73"
marks = "7 9 5"
directions = "FWD BWD_D BWD_W"
above = 108.0; below = 66.0
width = 1080.0
height = above + below + (rows < 2 ? 2 : rows) * 34.0
load common
pixels(y) = 1 - y / height # from the top
percent(s) = s > 1 ? sprintf("%g times", s) : sprintf("%g", 100 * s) . " %%" # a tic is a format
place(row, dir) = row + 0.27 * (dir - 1)

set lmargin at screen 0.23
set rmargin at screen 0.66
set tmargin at screen pixels(above)
set bmargin at screen below / height
set logscale x
set xrange [least / 1.3:most * 1.3]
set yrange [(rows < 2 ? 2 : rows) - 0.4 : -0.6]

set label 1 title at screen 0.02, pixels(26) left noenhanced tc rgb text font large
set label 2 line0 at screen 0.02, pixels(53) left noenhanced tc rgb soft
do for [i = 0:2] {
    set label 10 + i word(directions, i + 1) at screen 0.0275 + 0.1 * i, pixels(78) left noenhanced tc rgb text \
        point pt int(word(marks, i + 1)) ps 0.7 lc rgb word(colours, i + 1) offset 1.5, 0
}
set label 14 "stroke: the median;  right of 100 %: FAILED" at screen 0.34, pixels(74) left noenhanced tc rgb soft
set label 15 "share of the a-priori bound on rounding errors" at graph 0.5, screen 20 / height center noenhanced tc rgb soft
do for [i = 0:rows - 1] {
    set label 100 + i value("row" . i) at least / 1.3, i right offset -0.8, 0 noenhanced tc rgb text font small
    set label 200 + i value("note" . i) at most * 1.3, i left offset 0.8, 0 noenhanced tc rgb soft font small
}

set border 1 lc rgb soft lw 1
set grid xtics lc rgb line lt 1 lw 0.75
set xtics textcolor rgb text scale 0.5, 0 nomirror out ()
do for [e = -4:2] { v = 10.0 ** e; set xtics add (percent(v) v) }
unset ytics
set arrow 1 from 1, graph 0 to 1, graph 1 nohead lc rgb "#B00020" lw 1.5
plot for [i = 0:2] $points index i using ($3 > 0 ? NaN : $2):(place($1, i)) \
         with points pt int(word(marks, i + 1)) ps 0.4 lc rgb word(colours, i + 1), \
     for [i = 0:2] $points index i using ($3 > 0 ? $2 : NaN):(place($1, i)) with points pt 2 ps 0.7 lw 1.5 lc rgb "#B00020", \
     for [i = 0:2] $medians using ($2 == i ? $3 : NaN):(place($1, i)):(0):(0.13) \
         with vectors nohead lc rgb text lw 1.5, \
     for [i = 0:2] $medians using ($2 == i ? $3 : NaN):(place($1, i)):(0):(-0.13) with vectors nohead lc rgb text lw 1.5
