# Single operations under the measured roofs, log-log, as SVG or PNG. `benchcnn plot roofline` sets, and then loads it:
# $points   intensity, rate, series, direction (FWD, BWD_D, BWD_W), number to be shown (0: none)
# name0 ... the series; problem0 ... the problems, `problems` of them (0: too many to name)
# roof0 ... what stands at each roof; memory0 ... whether it is a bandwidth; main0 ... whether it counts most; value0 ...
# machine: the heading; common: the path of common.gp

# Colours of Okabe and Ito; directions have marks of their own: disc, triangle, square.
colours = "#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #56B4E9 #000000 #8A5A00"
colour(i) = word(colours, i % words(colours) + 1)
marks = "7 9 5"
mark(d) = int(word(marks, d + 1))
faint = "#8A8A8A"

width = 900.0; height = 560.0
load common

# The frame has all points, and the knee of the roofs that count most.
highest = 0; widest = 0; main_width = 0 # FLOP/s, byte/s
do for [i = 0:roofs - 1] {
    v = value("value" . i)
    if (value("memory" . i)) { widest = max(widest, v) } else { highest = max(highest, v) }
    if (value("memory" . i) && value("main" . i)) { main_width = v }
}
stats $points using 1:2 nooutput
x_low = min(highest / main_width, STATS_min_x) / 2; x_high = max(highest / main_width, STATS_max_x) * 3
y_low = min(highest, STATS_min_y) / 2; y_high = max(highest, STATS_max_y) * 2.5
# A roof is a line of two points: to the highest peak, or from the widest bandwidth.
set print $roofs
do for [i = 0:roofs - 1] {
    v = value("value" . i)
    if (value("memory" . i)) {
        print x_low, x_low * v
        print highest / v, highest
    } else {
        print v / widest, v
        print x_high, v
    }
    print ""
    print ""
}
unset print

left = 0.085; right = 0.735; bottom = 0.115; top = 0.85
set lmargin at screen left
set rmargin at screen right
set bmargin at screen bottom
set tmargin at screen top
set logscale xy
set xrange [x_low:x_high]
set yrange [y_low:y_high]

set label 1 "Operations under the measured roofs" at screen 0.02, 0.95 left noenhanced tc rgb text font large
set label 2 machine at screen 0.02, 0.898 left noenhanced tc rgb soft

# A bandwidth's label runs along its line.
slope = atan((top - bottom) * height / (log10(y_high) - log10(y_low)) \
             / ((right - left) * width / (log10(x_high) - log10(x_low)))) * 180 / pi
at_x(i) = max(x_low, y_low / value("value" . i)) * 1.25
tone(i) = value("main" . i) ? text : faint
# It begins as low as it can, and moves up its line past each peak that would strike it through; where the highest peak
# leaves it no room, it stands on the right instead.
rise(i) = 10 ** (strlen(value("roof" . i)) * 6.0 * sin(slope * pi / 180) / ((top - bottom) * height) * log10(y_high / y_low))
aside = ''
do for [i = 0:roofs - 1] {
    if (value("memory" . i)) {
        y = at_x(i) * value("value" . i) * 1.12
        do for [pass = 1:roofs] {
            do for [k = 0:roofs - 1] {
                v = value("value" . k)
                if (!value("memory" . k) && v > y / 1.15 && v < y * rise(i) * 1.2) { y = v * 1.3 }
            }
        }
        if (y * rise(i) < highest) {
            set label 10 + i value("roof" . i) at first y / 1.12 / value("value" . i), first y \
                left rotate by slope noenhanced tc rgb tone(i) font small
        } else {
            aside = aside . ' ' . i
        }
    } else {
        set label 10 + i value("roof" . i) at first x_high / 1.08, first value("value" . i) * 1.13 right noenhanced \
            tc rgb tone(i) font small
    }
}

# On the right: whose colour, which mark, which number.
row = 0.034
at_y = top - 0.01
do for [i = 0:series - 1] {
    set label 100 + i value("name" . i) at screen right + 0.03, screen at_y left noenhanced tc rgb colour(i) \
        point pt 7 ps 0.7 lc rgb colour(i) offset 1, 0 font small
    at_y = at_y - row
}
at_y = at_y - row / 2
do for [d = 0:2] {
    set label 140 + d word("FWD BWD_D BWD_W", d + 1) at screen right + 0.03, screen at_y left noenhanced tc rgb soft \
        point pt mark(d) ps 0.7 lc rgb soft offset 1, 0 font small
    at_y = at_y - row
}
at_y = at_y - row / 2
short(name) = strlen(name) > 30 ? name[1:29] . "…" : name # what the margin has room for
do for [i = 0:problems - 1] {
    set label 150 + i sprintf("%d  %s", i + 1, short(value("problem" . i))) at screen right + 0.022, screen at_y left \
        noenhanced tc rgb text font small
    at_y = at_y - row * (problems > 12 ? 0.8 : 1)
}

at_y = at_y - row / 2
do for [i in aside] {
    set label 200 + i value("roof" . i) at screen right + 0.022, screen at_y left noenhanced tc rgb tone(i + 0) font small
    at_y = at_y - row
}

set border 3 lc rgb soft lw 1
set grid xtics ytics lc rgb line lt 1 lw 0.75
set xtics textcolor rgb text scale 0.5, 0 nomirror () # 1, 2, 5 of each power of ten
set ytics textcolor rgb text scale 0 nomirror ()
do for [e = -3:15] {
    do for [m in "1 2 5"] {
        v = m * 10.0 ** e
        if (v > x_low && v < x_high) { set xtics add (sprintf("%g", v) v) }
        if (v > y_low && v < y_high) { set ytics add (gprintf("%.0s %cFLOP/s", v) v) }
    }
}
set clip two # a roof may begin and end outside the frame
set xlabel "operations a compulsory byte (FLOP/byte)" tc rgb soft offset 0, 0.4
set lmargin at screen left + 0.02

only(i, main, y) = value("main" . i) == main ? y : NaN
plot for [i = 0:roofs - 1] $roofs index i using 1:(only(i, 0, $2)) with lines lc rgb faint lw 1 dt 2, \
     for [i = 0:roofs - 1] $roofs index i using 1:(only(i, 1, $2)) with lines lc rgb text lw 2, \
     for [s = 0:series - 1] for [d = 0:2] $points using ($3 == s && $4 == d ? $1 : NaN):2 \
         with points lc rgb colour(s) pt mark(d) ps 0.75, \
     $points using ($5 > 0 ? $1 : NaN):($2 * 1.14):(problems > 0 ? sprintf("%d", int($5)) : "") \
         with labels tc rgb text font small
