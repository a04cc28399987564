# Times of whole processes as bars, on a logarithmic axis, as SVG or PNG; each command stands above its bar. `benchcnn plot bars`
# sets, and then loads it:
# $rows     a line a command: seconds, the fastest and the slowest run, seconds of the file's first command, which file
# command0 ...   the commands;  file0 ...: the files' names;  rows, files: how many
# title, line0: the heading; foot; common: the path of common.gp

# Colours of Okabe and Ito, told apart with any colour vision; what a colour stands for is written above its bars.
colours = "#0072B2 #E69F00 #009E73 #CC79A7 #D55E00 #56B4E9 #000000"
colour(i) = word(colours, 1 + int(i) % words(colours))

# Heights in pixels: a file's heading, a command and its bar, the room behind a file.
head = 28.0; row = 40.0; behind = 10.0
width = 900.0
above = 92.0; below = 58.0
inside = files * (head + behind) + rows * row
height = above + inside + below
load common
pixels(y) = 1 - y / height # from the top
spent(s) = s < 1e-3 ? sprintf("%.3g µs", s * 1e6) : s < 1 ? sprintf("%.3g ms", s * 1e3) : sprintf("%.3g s", s)

stats $rows using 2 nooutput
x_low = STATS_min / 1.6
stats $rows using 3 nooutput
x_high = STATS_max * max(1.5, (STATS_max / x_low) ** 0.25) # room for the number behind a bar

set lmargin at screen 0.03
set rmargin at screen 0.97
set tmargin at screen pixels(above)
set bmargin at screen below / height
set logscale x
set xrange [x_low:x_high]
set yrange [inside:0]

set label 1 title at screen 0.02, pixels(26) left noenhanced tc rgb text font large
set label 2 line0 at screen 0.02, pixels(53) left noenhanced tc rgb soft
set label 4 foot at screen 0.98, 14 / height right noenhanced tc rgb soft font small
set border 1 lc rgb soft lw 1
set grid xtics lc rgb line lt 1 lw 0.75
set xtics textcolor rgb text scale 0.5, 0 nomirror out () # 1, 2, 5 of each power of ten; 1 alone where they are many
unset ytics
steps = x_high / x_low > 1000 ? "1" : x_high / x_low > 100 ? "1 3" : "1 2 5"
do for [e = -7:5] {
    do for [m in steps] {
        v = m * 10.0 ** e
        if (v > x_low && v < x_high) { set xtics add (spent(v) v) }
    }
}

# Where a row begins: those of its own file and of the ones above have a heading each.
array begins[rows]
array of[rows]
of_last = -1; y = -behind
stats $rows using (of[int($0) + 1] = $5, 0) nooutput
do for [i = 1:rows] {
    if (of[i] != of_last) {
        y = y + behind
        set label 500 + i value(sprintf("file%d", of[i])) at x_low, y + head / 2 + 3 left noenhanced tc rgb text front
        y = y + head; of_last = of[i]
    }
    begins[i] = y
    set label 10 + i value(sprintf("command%d", i - 1)) at x_low, y + 9 left noenhanced tc rgb text font small front
    y = y + row
}
top(i) = begins[int(i) + 1] + 18
behind_bar(s, first) = sprintf("  %s%s", spent(s), s == first ? "" : sprintf(",  %.3g ×", s / first))
plot for [f = 0:files - 1] $rows using ($5 == f ? $1 : NaN):(top($0)):(x_low):1:(top($0)):(top($0) + 14) \
         with boxxyerror fs solid noborder lc rgb colour(f), \
     $rows using ($3 > $2 ? $1 : NaN):(top($0) + 7):2:3 with xerrorbars pt -1 lw 1.5 lc rgb text, \
     $rows using 3:(top($0) + 7):(behind_bar($1, $4)) with labels left tc rgb text font small
