#!/usr/bin/env bash
# test_plot_kinds.sh BENCHCNN: `plot` without a kind draws what the files hold and names what else there is; a sweep over one
# setting is a line, over two a heat map, each point with its last round, by the default's time in its own set.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/cli.sh"
command -v gnuplot >/dev/null || { echo "SKIPPED: gnuplot is not installed"; exit 77; }

# point KNOBS THREADS MEDIAN BASELINE ROUND [PROBLEM [MARKS]]
point() {
    printf '{"kind":"sweep","impl":"cpu","algorithm":"im2col","op":"conv","problem":"%s","dir":"FWD","dtype":"f32","math":"f32","layout":"nchw",' "${6:-mb1ic2ih3oc4kh3}"
    printf '"machine":"It'"'"'s a CPU","cache":"hot","knobs":{%s},"threads":%s,"median_s":%s,"low_s":%s,"high_s":%s,"baseline_s":%s,"round":%s,"marks":"%s"}\n' \
        "$1" "$2" "$3" "$3" "$3" "$4" "$5" "${7:-}"
}
operation() { echo '{"kind":"conv","impl":"cpu","algorithm":"direct","op":"conv","problem":"mb1ic2ih3oc4kh3","dir":"FWD","dtype":"f32","machine":"a","median_s":0.001}'; }
epoch() {
    echo '{"kind":"env","cpu":"a","cores":2}'
    for each in 1 2; do
        printf '{"kind":"epoch","impl":"cpu","algorithm":"direct","threads":2,"knobs":{},"net":"thesis","data":"mnist","batch":5,"dtype":"f32","layout":"nchw","math":"f32","optimizer":"adam","seed":1,"train_images":60000,"test_images":10000,"epoch":%s,"seconds":2,"train_loss":1,"test_loss":1}\n' $each
    done
}
plot() { "$benchcnn" plot "$@" >"$tmp/out" 2>"$tmp/err" || fail "plot $*: $(cat "$tmp/err")"; }
text() { sed 's/&apos;/'"'"'/g; s/&#39;/'"'"'/g' "$1"; }

# ---- One setting: a line. The default has no value in the records; the second round counts.
{
    point '' 2 0.004 0.004 1
    point '"block":64' 2 0.003 0.004 1
    point '"block":512' 2 0.002 0.004 1
    point '"block":512' 2 0.005 0.02 2 '' noisy
    point '"block":128' 2 0.0009 0.004 1
} >"$tmp/line.jsonl"
plot sweep "$tmp/line.jsonl" --out "$tmp/line"
text "$tmp/line.svg" >"$tmp/svg"
holds "the line" "$tmp/svg" "Time by the default's over block|It's a|best: block=128, 900 µs|default|512|95 % intervals"
tr -d '\n' <"$tmp/svg" | grep -oE '>(default|64|128|512) ?<' | tr -d '<> ' | paste -sd' ' >"$tmp/order"
[ "$(cat "$tmp/order")" = "default 64 128 512" ] || fail "the order of values: $(cat "$tmp/order")"

# ---- Two: a heat map, a number a cell; what was not timed is empty; a third setting is at its best.
{
    for threads in 1 2 4; do
        for block in 64 128; do point "\"block\":$block" $threads "0.00$threads" 0.002 1; done
    done
    point '"block":256' 4 0.0005 0.002 1
    point '"block":64' 2 0.003 0.002 2
} >"$tmp/map.jsonl"
plot sweep "$tmp/map.jsonl" --out "$tmp/map"
text "$tmp/map.svg" >"$tmp/svg"
holds "the map" "$tmp/svg" "Time by the default's over|threads|block|best: threads=4 block=256, 500 µs|0.25|0.50|1.00|1.50|2.00"
cells=$(tr -d '\n' <"$tmp/svg" | grep -oE '>[012]\.[0-9][0-9] ?<' | wc -l)
[ "$cells" -eq 9 ] || fail "$cells numbers, and not those of 7 cells and of both ends of the colours"
{
    sed 's/"dtype":"f32"/"dtype":"f64"/; s/"median_s":/"median_s":1/' "$tmp/map.jsonl"
    cat "$tmp/map.jsonl"
} >"$tmp/three.jsonl"
plot sweep "$tmp/three.jsonl" --out "$tmp/three"
holds "three settings" "$tmp/three.svg" "each at the best of dtype"

# ---- Of several problems a line has one each; a map is of the first, or of those that --match names.
{ cat "$tmp/map.jsonl"; sed 's/mb1ic2ih3oc4kh3/mb2ic2ih3oc4kh3n\\"second\\"/' "$tmp/map.jsonl"; } >"$tmp/two.jsonl"
plot sweep "$tmp/two.jsonl" --out "$tmp/two"
grep -q 'drawing cpu FWD conv mb1ic2ih3oc4kh3; 7 points of other problems left out' "$tmp/err" || fail "left out without a word: $(cat "$tmp/err")"
plot sweep "$tmp/two.jsonl" --match second --out "$tmp/two"
holds "--match" "$tmp/two.svg" "cpu FWD second"
[ -s "$tmp/err" ] && fail "plot complains: $(cat "$tmp/err")"

# ---- Without a kind.
{ epoch; cat "$tmp/map.jsonl"; operation; } >"$tmp/all.jsonl"
plot "$tmp/all.jsonl" --out "$tmp/all"
holds "epochs first" "$tmp/all.svg" "fastest: 2 s"
grep -qx 'beside this: plot sweep, plot bars, plot curves' "$tmp/err" || fail "what else there is: $(cat "$tmp/err")"
plot "$tmp/map.jsonl" --out "$tmp/alone"
holds "a sweep" "$tmp/alone.svg" "best: threads=4 block=256"
[ -s "$tmp/err" ] && fail "plot names what there is not: $(cat "$tmp/err")"
operation >"$tmp/operation.jsonl"
plot "$tmp/operation.jsonl" --out "$tmp/operation"
holds "operations" "$tmp/operation.svg" "Times of single operations"
"$benchcnn" import tests/data/import/hyperfine.json --out "$tmp/others.jsonl" --quiet || fail "import"
plot "$tmp/others.jsonl" --out "$tmp/others"
text "$tmp/others.svg" >"$tmp/svg"
holds "processes" "$tmp/svg" "Times of whole processes|of which machine, the records do not say|hyperfine|sleep 0.02|slowest of 5;"
plot "$tmp/all.jsonl" --quiet --out "$tmp/all"
[ -s "$tmp/err" ] && fail "--quiet says: $(cat "$tmp/err")"

refused "no sweep to draw" plot sweep "$tmp/operation.jsonl"
refused "no regular expression" plot sweep "$tmp/map.jsonl" --match '('
refused "--match goes with plot sweep" plot bars "$tmp/operation.jsonl" --match x
for i in {1..41}; do point "\"block\":$i" 2 0.001 0.001 1; done >"$tmp/many.jsonl"
refused "more than 40 values of block" plot sweep "$tmp/many.jsonl"

# Names that gnuplot or a terminal would obey.
point '"a$(id)`id`\u001b[2J\u0027\"":1' 2 0.001 0.001 1 >"$tmp/odd.jsonl"
point '"a$(id)`id`\u001b[2J\u0027\"":2' 2 0.002 0.001 1 >>"$tmp/odd.jsonl"
plot sweep "$tmp/odd.jsonl" --out "$tmp/odd"
holds "an odd name" "$tmp/odd.svg" '$(id)`id`\x1b[2J'
finish
