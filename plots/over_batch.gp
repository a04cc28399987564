# A figure over batch size, log-log, as SVG or PNG: seconds per epoch, or a speedup. `benchcnn plot` sets, and then loads it:
# $curves   a block a curve: batch, value, its interval's low and high, 1 where the figure bears a mark
# count     the curves;  ours: how many of them, the first, were measured; the others were published
# name0, note0, dash0, name1, ...   of each curve: the two lines of its label; the number of its dash
# unit      behind the values: s, or a times sign;  even: 1 draws the line of 1, where both sides are as fast
# evens     how often a curve crosses it;  at0, at1, ...   at which batch
# title, line0, line1, line2: the heading; foot; common: the path of common.gp

# Colours of Okabe and Ito, told apart with any colour vision; each has a mark of its own, too.
colours = "#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #56B4E9 #000000"
marks = "7 5 9 11 13 15 7"
published = "#8A8A8A"
# The number of its colour and mark. Of speedups, curves of one implementation share it: dashes tell them apart.
array tones[count]
used = 0
do for [i = 1:count] {
    tones[i] = -1
    do for [k = 1:i - 1] { if (even && value("name" . (k - 1)) eq value("name" . (i - 1))) { tones[i] = tones[k] } }
    if (tones[i] < 0) {
        tones[i] = used
        used = used + 1
    }
}
tone(i) = tones[i + 1]
colour(i) = i >= ours ? published : word(colours, tone(i) % words(colours) + 1)
mark(i) = int(word(marks, tone(i) % words(marks) + 1))
dash(i) = int(value("dash" . i))
set style textbox opaque noborder fillcolor rgb "white" margins 0.4, 0.4
set dashtype 2 (5, 3)
set dashtype 3 (1.5, 2.5)

width = 800.0; height = 520.0
load common

# The frame has all points with their intervals, and the line of 1. What is logarithmic here ends in _log.
stats $curves using (log10($1)) nooutput
margin = STATS_max > STATS_min ? 0.06 : 0.5
x_low_log = STATS_min - margin; wide = STATS_max + margin - x_low_log
stats $curves using (log10(valid(3) ? $3 : $2)) nooutput
lowest = even ? min(STATS_min, 0) : STATS_min
stats $curves using (log10(valid(4) ? $4 : $2)) nooutput
highest = even ? max(STATS_max, 0) : STATS_max
margin = max(0.06 * (highest - lowest), 0.1)
y_low_log = lowest - margin; tall = highest + margin - y_low_log
x_low = 10 ** x_low_log; x_high = 10 ** (x_low_log + wide)
y_low = 10 ** y_low_log; y_high = 10 ** (y_low_log + tall)

# Each curve's label stands at its last point's height, or moved just enough to be clear of its neighbours: taken from
# below, two that are too close share the move that parts them; then all of them are moved into the frame.
array end_x[count]; array end_y[count]; array place[count]; array order[count]
do for [i = 1:count] {
    stats $curves index i - 1 using (end_x[i] = $1, end_y[i] = $2) nooutput
    place[i] = log10(end_y[i])
}
do for [i = 1:count] {
    order[1 + (sum [k = 1:count] (place[k] < place[i] || (place[k] == place[i] && k < i)))] = i
}
gap = 0.09 * tall
do for [pass = 1:200] {
    moved = 0
    do for [i = 1:count - 1] {
        missing = gap - (place[order[i + 1]] - place[order[i]])
        if (missing > gap * 1e-3) {
            place[order[i]] = place[order[i]] - missing / 2
            place[order[i + 1]] = place[order[i + 1]] + missing / 2
            moved = 1
        }
    }
    if (!moved) { break }
}
do for [i = 1:count] { place[order[i]] = max(place[order[i]], y_low_log + (i - 0.5) * gap) }
do for [i = count:1:-1] { place[order[i]] = min(place[order[i]], y_low_log + tall - (count - i) * gap) }
# The thin line from a curve's last point to its label.
set print $leaders
do for [i = 1:count] {
    print end_x[i], end_y[i]
    print x_high, 10 ** place[i]
    print ""
    print ""
}
unset print

set multiplot

set lmargin at screen 0.075
set rmargin at screen 0.705
set tmargin at screen line2 eq '' ? 0.815 : 0.785
set bmargin at screen 0.115
set logscale xy
set xrange [x_low:x_high]
set yrange [y_low:y_high]

set label 1 title at screen 0.02, 0.95 left noenhanced tc rgb text font large
set label 2 line0 at screen 0.02, 0.898 left noenhanced tc rgb soft
set label 3 line1 at screen 0.02, 0.858 left noenhanced tc rgb soft
set label 4 line2 at screen 0.02, 0.818 left noenhanced tc rgb soft
set label 5 foot at screen 0.98, 0.03 right noenhanced tc rgb soft font small

# The labels stand right of the frame.
raised(y_log, share) = 10 ** (y_log + share * tall)
do for [i = 0:count - 1] {
    set label 10 + 2 * i value("name" . i) at graph 1.02, first raised(place[i + 1], 0.018) left noenhanced \
        tc rgb i >= ours ? soft : colour(i)
    set label 11 + 2 * i value("note" . i) at graph 1.02, first raised(place[i + 1], -0.020) left noenhanced \
        tc rgb soft font small
}

# First the axes, then the curves on top. Ticks at 1, 2 and 5 of each power of ten.
set border 1 lc rgb soft lw 1
set grid ytics lc rgb line lt 1 lw 0.75
set xtics textcolor rgb text scale 0.5, 0 nomirror out ()
set ytics textcolor rgb text scale 0 nomirror ()
do for [e = -4:5] {
    do for [m in "1 2 5"] {
        v = m * 10.0 ** e
        if (v > x_low && v < x_high) { set xtics add (grouped(v) v) }
        if (v > y_low && v < y_high) { set ytics add (grouped(v) . ' ' . unit v) }
    }
}
set xlabel "images per step (batch size)" tc rgb soft offset 0, 0.4
if (even) {
    # The side of the picture whose curves keep farther from 1 has room for the words at that line.
    near_left = near_right = 1e9
    share(x) = (log10(x) - x_low_log) / wide
    stats $curves using (share($1) < 0.3 ? (near_left = min(near_left, abs(log10($2)))) : \
        share($1) > 0.7 ? (near_right = min(near_right, abs(log10($2)))) : 0) nooutput
    if (near_right > near_left) {
        set label 8 "break even" at graph 0.988, first raised(0, 0.022) right noenhanced tc rgb text font small
    } else {
        set label 8 "break even" at graph 0.012, first raised(0, 0.022) left noenhanced tc rgb text font small
    }
    plot 1 with lines lc rgb text lw 1.25
} else {
    plot y_low / 2 with lines lc rgb "white" # nothing: only the axes
}
unset label; unset grid; unset xlabel; unset border; unset xtics; unset ytics
# One close to another whose batch is named stands without a text: the two would collide.
named = ''
do for [i = 0:evens - 1] {
    at = value("at" . i)
    set label 200 + 2 * i "" at first at, first 1 point pt 6 ps 0.9 lc rgb text lw 1.25 front
    near = 0
    do for [other in named] { near = near || abs(log10(other / at)) < 0.08 * wide }
    if (!near) {
        named = named . ' ' . sprintf("%.9g", at)
        set label 201 + 2 * i sprintf("at %.0f", at) at first at, first raised(0, -0.035) center noenhanced \
            tc rgb text font small boxed front
    }
}
plot for [i = 0:count - 1] $leaders index i using 1:2 with lines lc rgb "#BBBBBB" lw 0.75, \
     for [i = 0:ours - 1] $curves index i using 1:($3 > 0 ? $2 : NaN):3:4 \
         with yerrorbars lc rgb colour(i) lw 1 pt 0, \
     for [i = 0:count - 1] $curves index i using 1:2 \
         with lines lc rgb colour(i) lw i >= ours ? 1.75 : 2 dt dash(i) + 1, \
     for [i = 0:ours - 1] $curves index i using 1:2:(0.7) \
         with points lc rgb colour(i) pt mark(i) ps variable, \
     for [i = 0:ours - 1] $curves index i using 1:($5 > 0 ? $2 : NaN):(0.42) \
         with points lc rgb "white" pt mark(i) ps variable
unset multiplot
