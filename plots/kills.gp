# The kill matrix: which check catches which mutant, as SVG or PNG. `benchcnn plot kills` sets, and then loads it:
# $cells     two blocks, caught and missed: column of the picture, line, check
# $rows      column, line, how it ended (0 caught, 1 crash, 2 hang, 3 survived, 4 not run), number of the name
# name0 ... end0 ...: a mutant's name, and what stands behind its cells;  check0 ...: a check, and how many it catches
# columns, lines, checks: how many;  lists, list0 ..., list_column0 ..., list_line0 ...: the names of groups, and where they stand
# line0, line1: the heading; common: the path of common.gp

row = 13.0; cell = 14.0; wide = 425.0; names = 240.0 # in pixels: of a row, a cell, a column, and a name in it
above = 200.0
width = 24.0 + columns * wide
height = above + lines * row + 24.0
load common
if (format eq 'png') { # hundreds of names: sharp enough, and half the bytes
    set output
    set terminal pngcairo size 1.4 * width,1.4 * height background "white" font "Helvetica,9.75" fontscale 1.4 linewidth 1.4 pointscale 1.4
    set termoption noenhanced
    if (out ne '') { set output out }
}
caught_colour = "#0072B2"; missed_colour = "#8A8A8A"; other_colour = "#D55E00"; survived_colour = "#B00020"
set lmargin at screen 0
set rmargin at screen 1
set tmargin at screen 1
set bmargin at screen 0
set xrange [0:width]
set yrange [height:0]
unset border; unset xtics; unset ytics
left(column) = 20.0 + column * wide
x(column, check) = left(column) + names + (check + 0.5) * cell
y(line) = above + (line + 0.5) * row

set label 1 "Which check catches which mutant" at 20, 26 left noenhanced tc rgb text font large
set label 2 line0 at 20, 53 left noenhanced tc rgb soft
set label 3 line1 at 20, 74 left noenhanced tc rgb soft
set object 1 rectangle center 26, 95 size 9, 9 fc rgb caught_colour fs solid noborder
set label 4 "the check caught it" at 38, 95 left noenhanced tc rgb text
set label 5 "the check missed it" at 196, 95 left noenhanced tc rgb text point pt 6 ps 0.5 lc rgb missed_colour offset 1.5, 0
set label 6 "nothing: it had nothing to say, or the mutant was not run;  behind a check: how many it catches;  other: caught by a check of whole trainings, which has no column" at 360, 95 left noenhanced tc rgb soft
do for [c = 0:columns - 1] {
    do for [k = 0:checks - 1] {
        set label 100 + c * checks + k value("check" . k) at x(c, k), above - 5 left rotate by 90 noenhanced tc rgb soft font small
    }
}
do for [i = 0:lists - 1] {
    set label 200 + i value("list" . i) at left(value("list_column" . i)), y(value("list_line" . i)) left noenhanced tc rgb text
}
half = 4.5
plot $rows using (left($1) + 8):(y($2) + row / 2):(x($1, checks) - left($1) - 12):(0) with vectors nohead lc rgb line lw 0.5, \
     $cells index 0 using (x($1, $3)):(y($2)):(x($1, $3) - half):(x($1, $3) + half):(y($2) - half):(y($2) + half) \
         with boxxyerror fs solid noborder lc rgb caught_colour, \
     $cells index 1 using (x($1, $3)):(y($2)) with points pt 6 ps 0.45 lw 0.75 lc rgb missed_colour, \
     $rows using ($3 == 3 || $3 == 4 ? NaN : left($1) + 8):(y($2)):(value("name" . int($4))) with labels left noenhanced tc rgb text font small, \
     $rows using ($3 == 4 ? left($1) + 8 : NaN):(y($2)):(value("name" . int($4))) with labels left noenhanced tc rgb soft font small, \
     $rows using ($3 == 3 ? left($1) + 8 : NaN):(y($2)):(value("name" . int($4))) with labels left noenhanced tc rgb survived_colour font small, \
     $rows using ($3 == 3 || $3 == 4 ? NaN : x($1, checks)):(y($2)):(value("end" . int($4))) with labels left noenhanced tc rgb other_colour font small, \
     $rows using ($3 == 4 ? x($1, checks) : NaN):(y($2)):(value("end" . int($4))) with labels left noenhanced tc rgb soft font small, \
     $rows using ($3 == 3 ? x($1, checks) : NaN):(y($2)):(value("end" . int($4))) with labels left noenhanced tc rgb survived_colour font small
