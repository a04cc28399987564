# How near each layer comes to its floor, as SVG or PNG. `benchcnn plot floor` sets, and then loads it:
# $bars      a block a run: row from the top, floor / time in %, 1 where a bandwidth makes the floor, number of the bar's note
# rows       how many;  row0 ...: what stands beside each, group0 ...: 1 where another layer begins;  note0 ...: behind each bar
# runs       how many;  name0 ...: whose bars they are
# line0: the heading; foot; common: the path of common.gp

# Colours of Okabe and Ito, told apart with any colour vision.
colours = "#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #56B4E9 #000000"
colour(i) = word(colours, i + 1)
array place[rows] # of each row, in bars: layers keep a distance
at = 0.0
do for [i = 0:rows - 1] {
    if (value("group" . i)) { at = at + 0.6 }
    place[i + 1] = at
    at = at + runs + 0.35
}
above = 122.0 + 18 * runs; below = 62.0
width = 1000.0
height = above + below + at * 15.0
load common
pixels(y) = 1 - y / height # from the top

stats $bars using 2 nooutput
most = max(100, STATS_max)
set lmargin at screen 0.20
set rmargin at screen 0.60
set tmargin at screen pixels(above)
set bmargin at screen below / height
set xrange [0:most * 1.02]
set yrange [at - 0.4 : -0.8]

set label 1 "How near each layer is to its floor" at screen 0.02, pixels(26) left noenhanced tc rgb text font large
set label 2 line0 at screen 0.02, pixels(53) left noenhanced tc rgb soft
set label 3 "floor: the larger of FLOPs / peak and compulsory bytes / bandwidth, by measured ceilings;  bar: floor / time" \
    at screen 0.02, pixels(74) left noenhanced tc rgb soft
set label 4 "full: arithmetic makes the floor;  framed: a memory or a cache does;  the ceiling's name stands behind" \
    at screen 0.02, pixels(94) left noenhanced tc rgb soft
set label 5 foot at screen 0.98, 14 / height right noenhanced tc rgb soft font small
do for [i = 0:runs - 1] {
    set label 10 + i value("name" . i) at screen 0.0275, pixels(116 + 18 * i) left noenhanced tc rgb text \
        point pt 5 ps 1 lc rgb colour(i) offset 1.5, 0
}
do for [i = 0:rows - 1] {
    set label 100 + i value("row" . i) at 0, place[i + 1] + (runs - 1) / 2.0 right offset -0.8, 0 noenhanced tc rgb text font small
}

set border 1 lc rgb soft lw 1
set grid xtics lc rgb line lt 1 lw 0.75
set xtics 25 textcolor rgb text scale 0.5, 0 nomirror out format "%g %%"
unset ytics
set arrow 1 from 100, graph 0 to 100, graph 1 nohead lc rgb text lw 1.5
set label 6 "floor / time" at graph 0.5, screen 20 / height center noenhanced tc rgb soft
set style fill solid border
y(row, i) = place[int(row) + 1] + i
plot for [i = 0:runs - 1] $bars index i using ($3 > 0 ? NaN : $2):(y($1, i)):(0):2:(y($1, i) - 0.42):(y($1, i) + 0.42) \
         with boxxyerror fs solid noborder lc rgb colour(i), \
     for [i = 0:runs - 1] $bars index i using ($3 > 0 ? $2 : NaN):(y($1, i)):(0):2:(y($1, i) - 0.38):(y($1, i) + 0.38) \
         with boxxyerror fs transparent solid 0.25 border lc rgb colour(i), \
     for [i = 0:runs - 1] $bars index i using (max(100, $2)):(y($1, i)):(" " . value("note" . int($4))) \
         with labels left offset 0.6, 0 tc rgb text font small
