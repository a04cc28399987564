# A figure over batch size, log-log, as SVG or PNG: seconds per epoch, or a speedup. `benchcnn plot` sets, and then loads it:
# $curves   a block a curve: batch, value, its interval's low and high, 1 where the figure bears a mark
# $leaders  a block a curve: the thin line from its last point to its label
# count     the curves;  ours: how many of them, the first, were measured; the others were published
# name0, note0, place0, tone0, dash0, name1, ...   of each curve: the two lines of its label and the label's height; the
#           number of its colour and mark; the number of its dash
# unit      behind the values: s, or a times sign;  even: 1 draws the line of 1, where both sides are as fast;  even_at: on
#           which side its label stands, 0 left, 1 right
# evens     how often a curve crosses it;  at0, text0, ...   the batch, and what stands below it
# x_low, x_high, y_low, y_high   the frame; title, line0, line1, line2: the heading; foot; common: the path of common.gp

# Colours of Okabe and Ito, told apart with any colour vision; each has a mark of its own, too.
colours = "#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #56B4E9 #000000"
marks = "7 5 9 11 13 15 7"
published = "#8A8A8A"
tone(i) = int(value("tone" . i))
colour(i) = i >= ours ? published : word(colours, tone(i) % words(colours) + 1)
mark(i) = int(word(marks, tone(i) % words(marks) + 1))
dash(i) = int(value("dash" . i))
set style textbox opaque noborder fillcolor rgb "white" margins 0.4, 0.4
set dashtype 2 (5, 3)
set dashtype 3 (1.5, 2.5)

width = 800.0; height = 520.0
load common
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

# The labels stand right of the frame, each at its curve's height or moved just enough to be clear of its neighbours.
tall = log10(y_high) - log10(y_low)
raised(y, share) = 10 ** (log10(y) + share * tall)
do for [i = 0:count - 1] {
    set label 10 + 2 * i value("name" . i) at graph 1.02, first raised(value("place" . i), 0.018) left noenhanced \
        tc rgb i >= ours ? soft : colour(i)
    set label 11 + 2 * i value("note" . i) at graph 1.02, first raised(value("place" . i), -0.020) left noenhanced \
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
    if (even_at) {
        set label 8 "break even" at graph 0.988, first raised(1, 0.022) right noenhanced tc rgb text font small
    } else {
        set label 8 "break even" at graph 0.012, first raised(1, 0.022) left noenhanced tc rgb text font small
    }
    plot 1 with lines lc rgb text lw 1.25
} else {
    plot y_low / 2 with lines lc rgb "white" # nothing: only the axes
}
unset label; unset grid; unset xlabel; unset border; unset xtics; unset ytics
do for [i = 0:evens - 1] {
    set label 200 + 2 * i "" at first value("at" . i), first 1 point pt 6 ps 0.9 lc rgb text lw 1.25 front
    set label 201 + 2 * i value("text" . i) at first value("at" . i), first raised(1, -0.035) center noenhanced \
        tc rgb text font small boxed front
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
