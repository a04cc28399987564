# Learning curves, as SVG or PNG: loss and accuracy, over epochs and over the seconds of training. `benchcnn plot curves` sets, and
# then loads it:
# $curves   a block a run, a line an epoch: epoch, seconds of training so far, test loss, accuracy in percent, training loss
# count     the runs;  name0, note0, goal0, facts0_0 ... facts3_0, name1, ...: the lines of each one's label, some empty
# line0, line1: the heading; common: the path of common.gp

# Colours of Okabe and Ito, told apart with any colour vision; each has a mark of its own, too. Where they come round, lines are dashed.
colours = "#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #56B4E9 #000000"
marks = "7 5 9 11 13 15 7"
colour(i) = word(colours, i % words(colours) + 1)
mark(i) = int(word(marks, i % words(marks) + 1))
set dashtype 2 (6, 3)
dash(i) = i < words(colours) ? 1 : 2

width = 1040.0; height = 620.0
load common

stats $curves using 1 nooutput
epochs_low = STATS_min; epochs_high = STATS_max; points = STATS_records
stats $curves using 2 nooutput
seconds_high = STATS_max
# Runs of very different length share no linear axis.
shortest = seconds_high; first = seconds_high
do for [i = 0:count - 1] {
    stats $curves index i using 2 nooutput
    shortest = min(shortest, STATS_max); first = min(first, STATS_min)
}
far = seconds_high > 8 * shortest
size = points > 60 * count ? 0 : 0.55 # so many points are a line without marks

left1 = 0.065; right1 = 0.355; left2 = 0.42; right2 = 0.71
top1 = 0.80; bottom1 = 0.5; top2 = 0.43; bottom2 = 0.13
set label 1 "Learning curves" at screen 0.02, 0.95 left noenhanced tc rgb text font large
set label 2 line0 at screen 0.02, 0.905 left noenhanced tc rgb soft
set label 3 line1 at screen 0.02, 0.87 left noenhanced tc rgb soft

# On the right a run's name, what it came to, and what tells it apart; of many runs the latter beside the name.
step = 0.0255
array lines[count]
do for [i = 0:count - 1] { lines[i + 1] = 1 + (value("goal" . i) ne '') + (sum [k = 0:3] (value("facts" . k . "_" . i) ne "")) }
all = (sum [i = 1:count] lines[i] + 2) * step
brief = all > 0.82
at_y = 0.85
do for [i = 0:count - 1] {
    name = value("name" . i) . (brief ? '  ' . value("facts0_" . i) : "")
    set label 1000 + i name at screen right2 + 0.022, screen at_y left noenhanced tc rgb colour(i) \
        point pt mark(i) ps 0.7 lc rgb colour(i) offset 1, 0
    at_y = at_y - (brief ? 0.82 / count : 1.05 * step)
    if (!brief) {
        note = value("note" . i)
        set label 2000 + 10 * i note at screen right2 + 0.022, screen at_y left noenhanced tc rgb text font small offset 1, 0
        goal = value("goal" . i)
        if (goal ne "") {
            at_y = at_y - step
            set label 3000 + i goal at screen right2 + 0.022, screen at_y left noenhanced tc rgb text font small offset 1, 0
        }
        do for [k = 0:3] {
            facts = value("facts" . k . "_" . i)
            if (facts ne "") {
                at_y = at_y - step
                set label 2001 + 10 * i + k facts at screen right2 + 0.022, screen at_y left noenhanced tc rgb soft font small \
                    offset 1, 0
            }
        }
        at_y = at_y - 1.7 * step
    }
}
set label 5 "of the test;  thin: of the training, before each update" \
    at screen 0.98, 0.025 right noenhanced tc rgb soft font small

set border 3 lc rgb soft lw 1
set grid ytics lc rgb line lt 1 lw 0.75
set ytics textcolor rgb text scale 0 nomirror
set multiplot

# The loss on a logarithmic axis, with ticks at 1, 2 and 5 of each power of ten.
stats $curves using (log10($3)) nooutput
low = STATS_min; high = STATS_max
stats $curves using (log10(valid(5) ? $5 : $3)) nooutput
low = min(low, STATS_min); high = max(high, STATS_max)
margin = max(0.06 * (high - low), 0.05)
y_low = 10 ** (low - margin); y_high = 10 ** (high + margin)
set logscale y
set yrange [y_low:y_high]
set ytics ()
do for [e = -9:5] {
    do for [m in (high - low > 3 ? "1" : high - low > 0.7 ? "1 2 5" : "1 1.5 2 3 4 5 6 7 8 9")] {
        v = m * 10.0 ** e
        if (v > y_low && v < y_high) { set ytics add (sprintf("%g", v) v) }
    }
}

set tmargin at screen top1
set bmargin at screen bottom1
set label 6 "loss" at graph 0, 1.06 left tc rgb soft
do for [panel = 1:2] {
    set lmargin at screen panel == 1 ? left1 : left2
    set rmargin at screen panel == 1 ? right1 : right2
    if (panel == 1) {
        set xtics textcolor rgb text scale 0.5, 0 nomirror out autofreq format ""
        set xrange [epochs_low - 0.5:epochs_high + 0.5]
        if (epochs_high - epochs_low < 8) { set xtics 1 }
    } else {
        unset xtics
        set xtics textcolor rgb text scale 0.5, 0 nomirror out autofreq format ""
        if (far) { set logscale x; set xrange [first / 1.3:seconds_high * 1.3] } else { set xrange [0:seconds_high * 1.04] }
    }
    plot for [i = 0:count - 1] $curves index i using panel:5 with lines lc rgb colour(i) lw 1, \
         for [i = 0:count - 1] $curves index i using panel:3 with lines lc rgb colour(i) lw 2 dt dash(i), \
         for [i = 0:count - 1] $curves index i using panel:3 with points lc rgb colour(i) pt mark(i) ps size
    unset label
    set label 6 "loss" at graph 0, 1.06 left tc rgb soft
}

unset logscale
set xrange [*:*]
set yrange [*:*]
stats $curves using 4 nooutput
margin = max(0.06 * (STATS_max - STATS_min), 0.05)
set yrange [STATS_min - margin:min(STATS_max + margin, 100.5)]
unset ytics
set ytics textcolor rgb text scale 0 nomirror autofreq format "%g %%"
set tmargin at screen top2
set bmargin at screen bottom2
do for [panel = 1:2] {
    unset label
    set label 7 "accuracy" at graph 0, 1.05 left tc rgb soft
    set lmargin at screen panel == 1 ? left1 : left2
    set rmargin at screen panel == 1 ? right1 : right2
    unset xtics
    set xtics textcolor rgb text scale 0.5, 0 nomirror out autofreq format "%g"
    if (panel == 1) {
        set xrange [epochs_low - 0.5:epochs_high + 0.5]
        if (epochs_high - epochs_low < 8) { set xtics 1 }
        set xlabel "epoch" tc rgb soft offset 0, 0.4
    } else {
        if (far) { set logscale x; set xrange [first / 1.3:seconds_high * 1.3] } else { set xrange [0:seconds_high * 1.04] }
        set xlabel "seconds of training" tc rgb soft offset 0, 0.4
    }
    plot for [i = 0:count - 1] $curves index i using panel:4 with lines lc rgb colour(i) lw 2 dt dash(i), \
         for [i = 0:count - 1] $curves index i using panel:4 with points lc rgb colour(i) pt mark(i) ps size
}
unset multiplot
