# Times of single operations as bars, on a logarithmic axis, as SVG or PNG. `benchcnn plot bars` sets, and then loads it:
# $bars     a block a curve: place from the top in bars, seconds, 1 where it bears a mark, seconds with the launch, seconds with
#           the plan as well, a published factor and what it comes to; 0 where there is none
# problem0 ...   what stands beside each group;  groups, count: problems, and bars of each;  name0 ...: whose bars they are
# plans     1: of plans and launches;  published: 1 where something is
# title, line0, line1: the heading; foot; common: the path of common.gp

# Colours of Okabe and Ito, told apart with any colour vision; more than seven are steps of viridis, from dark to light.
few = "#0072B2 #E69F00 #009E73 #CC79A7 #D55E00 #56B4E9 #000000"
many = "#440154 #481A6C #472F7D #414487 #39568C #31688E #2A788E #23888E #1F988B #22A884 #35B779 #54C568 #7AD151 #A5DB36 #D2E21B #FDE725"
colour(i) = count <= words(few) ? word(few, i + 1) : word(many, 1 + int(i * (words(many) - 1.0) / (count - 1) + 0.5))
grey = "#8A8A8A"

# As high as the bars need.
width = 900.0
bars = groups * (count + 0.9)
above = 100.0 + 20 * count; below = 62.0
height = above + below + (bars < 4 ? 4 : bars) * 14.0
load common
pixels(y) = 1 - y / height # from the top
spent(s) = s < 1e-6 ? sprintf("%.3g ns", s * 1e9) : s < 1e-3 ? sprintf("%.3g µs", s * 1e6) : \
    s < 1 ? sprintf("%.3g ms", s * 1e3) : sprintf("%.3g s", s)

# The frame has all bars, and room for the number behind one.
stats $bars using 2 nooutput
x_low = STATS_min / 1.6; x_high = STATS_max
if (plans) { stats $bars using 5 nooutput; x_high = max(x_high, STATS_max) }
if (published) { stats $bars using 7 nooutput; x_high = max(x_high, STATS_max) }
x_high = x_high * max(1.5, (x_high / x_low) ** (published ? 0.45 : 0.2))

set lmargin at screen 0.27
set rmargin at screen 0.97
set tmargin at screen pixels(above)
set bmargin at screen below / height
set logscale x
set xrange [x_low:x_high]
set yrange [bars - 0.35 : -0.95]

set label 1 title at screen 0.02, pixels(26) left noenhanced tc rgb text font large
set label 2 line0 at screen 0.02, pixels(53) left noenhanced tc rgb soft
set label 3 line1 at screen 0.02, pixels(74) left noenhanced tc rgb soft
set label 4 foot at screen 0.98, 14 / height right noenhanced tc rgb soft font small
do for [i = 0:count - 1] {
    set label 10 + i value("name" . i) at screen 0.0275, pixels(97 + 20 * i) left noenhanced tc rgb text \
        point pt 5 ps 1 lc rgb colour(i) offset 1.5, 0
}

set border 1 lc rgb soft lw 1
set grid xtics lc rgb line lt 1 lw 0.75
set xtics textcolor rgb text scale 0.5, 0 nomirror out () # 1, 2, 5 of each power of ten; 1 alone where they are many
unset ytics
steps = x_high / x_low > 1000 ? "1" : x_high / x_low > 100 ? "1 3" : "1 2 5"
do for [e = -10:3] {
    do for [m in steps] {
        v = m * 10.0 ** e
        if (v > x_low && v < x_high) { set xtics add (spent(v) v) }
    }
}
set style fill solid border

do for [i = 0:groups - 1] {
    place = i * (count + 0.9) + (count - 1) / 2.0
    set label 100 + i value("problem" . i) at x_low, place right offset -0.8, 0 noenhanced tc rgb text font small
}
# Beside a published one a bar is thinner: both share the place of one.
low(p) = published && p > 0 ? 0.05 : 0.42
plot for [i = 0:count - 1] $bars index i using (plans && $5 > 0 ? $5 : NaN):1:(x_low):5:($1 - 0.42):($1 + 0.42) \
         with boxxyerror fs transparent solid 0.25 noborder lc rgb colour(i), \
     for [i = 0:count - 1] $bars index i using (plans ? $4 : NaN):1:(x_low):4:($1 - 0.42):($1 + 0.42) \
         with boxxyerror fs transparent solid 0.5 noborder lc rgb colour(i), \
     for [i = 0:count - 1] $bars index i using 2:1:(x_low):2:($1 - 0.42):($1 + low($6)) \
         with boxxyerror fs solid noborder lc rgb colour(i), \
     for [i = 0:count - 1] $bars index i using ($3 > 0 ? $2 : NaN):1:(x_low):2:($1 - 0.25):($1 + min(0.25, low($6) - 0.17)) \
         with boxxyerror fs solid noborder lc rgb "white", \
     for [i = 0:count - 1] $bars index i using (published && $7 > 0 ? $7 : NaN):1:(x_low):7:($1 + 0.09):($1 + 0.42) \
         with boxxyerror fs solid noborder lc rgb grey, \
     for [i = 0:count - 1] $bars index i \
         using (plans && $5 > 0 ? $5 : published && $7 > $2 ? $7 : $2):1:(plans ? \
             sprintf(" %s, %s", spent($2), $5 > 0 ? spent($5) : "-") : published && $6 > 0 ? \
             sprintf(" %s;  published %.3g × GEMM", spent($2), $6) : " " . spent($2)) \
         with labels left tc rgb text font small
