# Speedups of single operations as bars, on a logarithmic axis that they leave at 1, as SVG or PNG. `benchcnn plot speedup`
# sets, and then loads it:
# $bars     a block a curve: place from the top in bars, speedup, its interval's low and high, 1 where it bears a mark, the
#           speedup with transfers counted; not a number where there is none
# problem0, time0 ...   what stands beside each group: the problem; the baseline's time
# groups, count   problems, and bars of each;  name0 ... whose bars they are
# line0, line1: the heading; foot; common: the path of common.gp

# Colours of Okabe and Ito, told apart with any colour vision; their greys differ, too.
colours = "#0072B2 #E69F00 #009E73 #CC79A7 #D55E00 #56B4E9 #000000"
colour(i) = word(colours, i % words(colours) + 1)

# As high as the bars need; many groups stand in up to three columns, of as many groups each.
columns = groups > 18 ? 3 : groups > 9 ? 2 : 1
each = ceil(groups / (columns * 1.0))
width = columns == 1 ? 900.0 : 560.0 * columns
bars = each * (count + 0.7)
above = 100.0 + 20 * count; below = 62.0
height = above + below + (bars < 4 ? 4 : bars) * 13.0
load common
pixels(y) = 1 - y / height # from the top

# The frame has 1, all bars, whiskers and strokes, and room for the number behind a bar.
stats $bars using (min(valid(3) ? $3 : $2, valid(6) ? $6 : $2)) nooutput
x_low = min(STATS_min, 1) / 1.25
stats $bars using (valid(4) ? $4 : $2) nooutput
x_high = max(STATS_max, 1) * (max(STATS_max, 1) / x_low) ** 0.12

left(column) = (column + (columns == 1 ? 0.34 : 0.3)) / columns
right(column) = (column + 0.82) / columns
set tmargin at screen pixels(above)
set bmargin at screen below / height
set logscale x
set xrange [x_low:x_high]

set label 1 "Speedup of single operations" at screen 0.02, pixels(26) left noenhanced tc rgb text font large
set label 2 line0 at screen 0.02, pixels(53) left noenhanced tc rgb soft
set label 3 line1 at screen 0.02, pixels(74) left noenhanced tc rgb soft
set label 4 foot at screen 0.98, 14 / height right noenhanced tc rgb soft font small
do for [i = 0:count - 1] {
    set label 10 + i value("name" . i) at screen 0.0275, pixels(97 + 20 * i) left noenhanced tc rgb text \
        point pt 5 ps 1 lc rgb colour(i) offset 1.5, 0
}

set border 1 lc rgb soft lw 1
set grid xtics lc rgb line lt 1 lw 0.75
set xtics textcolor rgb text scale 0.5, 0 nomirror out () # 1, 2, 5 of each power of ten; 1 alone has text where it is narrow
unset ytics
decade = width * (right(0) - left(0)) / log10(x_high / x_low) # pixels
steps = decade < 40 ? "1" : "1 2 5"
do for [e = -4:5] {
    do for [m in steps] {
        v = m * 10.0 ** e
        if (v > x_low && v < x_high) { set xtics add ((m == 1 || decade > 160 ? grouped(v) . " ×" : "") v) }
    }
}
set xlabel "times as fast as the baseline" tc rgb soft offset 0, 0.4
set arrow 1 from first 1, graph 0 to first 1, graph 1 nohead lc rgb text lw 1.25 front
set style fill solid border

if (columns > 1) { set multiplot }
do for [column = 0:columns - 1] {
    from = column * each
    to = min(from + each, groups) - 1
    set lmargin at screen left(column)
    set rmargin at screen right(column)
    set yrange [(from + each) * (count + 0.7) - 0.35 : from * (count + 0.7) - 0.85]
    do for [i = from:to] {
        place = i * (count + 0.7) + (count - 1) / 2.0
        set label 100 + 2 * i value("problem" . i) at x_low, place right offset -0.8, 0 noenhanced tc rgb text font small
        set label 101 + 2 * i value("time" . i) at x_high, place left offset 0.8, 0 noenhanced tc rgb soft font small
    }
    inside(y) = y > from * (count + 0.7) - 0.85 && y < (to + 1) * (count + 0.7) - 0.35
    plot for [i = 0:count - 1] $bars index i using (inside($1) ? $2 : NaN):1:(1):2:($1 - 0.42):($1 + 0.42) \
             with boxxyerror fs solid lc rgb colour(i) lw 1, \
         for [i = 0:count - 1] $bars index i using ($5 > 0 && inside($1) ? $2 : NaN):1:(1):2:($1 - 0.3):($1 + 0.3) \
             with boxxyerror fs solid lc rgb "white" lw 0.5, \
         for [i = 0:count - 1] $bars index i using ($3 > 0 && inside($1) ? $2 : NaN):1:3:4 \
             with xerrorbars lc rgb text lw 0.75 pt 0, \
         for [i = 0:count - 1] $bars index i using (inside($1) ? $6 : NaN):($1 - 0.42):(0):(0.84) \
             with vectors nohead lc rgb text lw 1.5, \
         for [i = 0:count - 1] $bars index i \
             using (inside($1) ? max(max($2, 1), $4 > 0 ? $4 : $2) : NaN):1:(sprintf(" %.3g", $2)) \
             with labels left tc rgb text font small
    do for [i = from:to] { # the next column has its own
        unset label 100 + 2 * i
        unset label 101 + 2 * i
    }
    if (column == 0) { do for [i = 1:10 + count] { unset label i } }
}
if (columns > 1) { unset multiplot }
