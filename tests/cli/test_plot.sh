#!/usr/bin/env bash
# test_plot.sh BENCHCNN: records become pictures; what cannot be drawn is said in a sentence.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/cli.sh"

epoch() { # epoch ALGORITHM BATCH SECONDS NET
    printf '{"kind":"epoch","impl":"cpu","algorithm":"%s","threads":2,"knobs":{},"net":"%s","data":"mnist","batch":%s,' "$1" "$4" "$2"
    printf '"dtype":"f32","layout":"nchw","math":"f32","optimizer":"adam","seed":1,"train_images":60000,"test_images":10000,'
    printf '"epoch":1,"seconds":%s}\n' "$3"
}
records() {
    echo '{"kind":"env","cpu":"It'"'"'s a \"CPU\"","cores":2}'
    for net in "$@"; do
        epoch direct 5 3.5 "$net"; epoch direct 1000 2.25 "$net"; epoch im2col 5 4.5 "$net"; epoch im2col 1000 2.5 "$net"
    done
}

echo '{"kind":"env"}' >"$tmp/empty.jsonl"
refused 'plot FILE.jsonl' plot
refused 'none.jsonl' plot "$tmp/none.jsonl"
refused 'no epoch records' plot "$tmp/empty.jsonl"

records thesis >"$tmp/a b's.jsonl"
PATH=/nonexistent "$benchcnn" plot "$tmp/a b's.jsonl" 2>"$tmp/err" && fail "a missing gnuplot is no error"
grep -q 'gnuplot-nox' "$tmp/err" || fail "the package of gnuplot is not named: $(cat "$tmp/err")"

command -v gnuplot >/dev/null || { echo "SKIPPED: gnuplot is not installed"; finish && exit 77; exit 1; }
mkdir "$tmp/tmp"
TMPDIR=$tmp/tmp "$benchcnn" plot "$tmp/a b's.jsonl" >"$tmp/out" 2>"$tmp/err" || fail "plot: $(cat "$tmp/err")"
[ -z "$(ls "$tmp/tmp")" ] || fail "temporary files are left"
[ -s "$tmp/err" ] && fail "plot complains: $(cat "$tmp/err")"
picture="$tmp/a b's"
[ "$(head -c 8 "$picture.png" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] || fail "the PNG is none"
sed 's/&apos;/'"'"'/g; s/&#39;/'"'"'/g' "$picture.svg" >"$tmp/svg"
holds "the SVG" "$tmp/svg" "cpu:direct|cpu:im2col|fastest: 2.25 s, at batch 1000|ConvNetGo|GoCuNets|other hardware|It's a"

# What it was drawn of stands in both as a mark, in a chunk of text and in metadata, and spoils neither.
well_formed() { # NAME
    command -v python3 >/dev/null || return 0
    python3 - "$1" <<'P' || fail "$1 is not well formed"
import struct, sys, xml.etree.ElementTree, zlib
marks = {e.text for e in xml.etree.ElementTree.parse(sys.argv[1] + ".svg").iter() if e.tag.endswith("}metadata")}
data, at, texts = open(sys.argv[1] + ".png", "rb").read(), 8, set()
while at < len(data):
    length, kind = struct.unpack(">I4s", data[at:at + 8])
    whole = data[at + 4:at + 8 + length]
    assert zlib.crc32(whole) == struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0], kind
    if kind == b"tEXt":
        texts.add(whole[4:].split(b"\0")[1].decode())
    at += 12 + length
assert kind == b"IEND" and at == len(data) and len(marks) == 1 and marks == texts, (marks, texts)
P
}
well_formed "$picture"
"$benchcnn" plot "$tmp/a b's.jsonl" --dry-run >"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/err" ] || fail "a new picture is not up to date: $(cat "$tmp/out" "$tmp/err")"
[ "$(grep -c 'up to date$' "$tmp/out")" -eq 2 ] || fail "not both pictures are told of: $(cat "$tmp/out")"
sed 's/"seconds":3.5/"seconds":3.6/' "$tmp/a b's.jsonl" >"$tmp/later.jsonl"
PATH=/nonexistent "$benchcnn" plot "$tmp/later.jsonl" --out "$picture" --dry-run >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] && [ ! -s "$tmp/err" ] && [ "$(grep -c 'OUT OF DATE' "$tmp/out")" -eq 2 ] || fail "pictures of other records: $(cat "$tmp/out" "$tmp/err")"
"$benchcnn" plot "$tmp/later.jsonl" --dry-run >"$tmp/out" 2>&1
[ $? -eq 1 ] && [ "$(grep -c MISSING "$tmp/out")" -eq 2 ] && [ ! -e "$tmp/later.svg" ] || fail "--dry-run of no picture: $(cat "$tmp/out")"

# Another network: the published curves do not belong to it.
records mine >"$tmp/mine.jsonl"
"$benchcnn" plot "$tmp/mine.jsonl" --out "$tmp/two.svg" >/dev/null || fail "plot of another network"
[ -s "$tmp/two.svg" ] && [ -s "$tmp/two.png" ] || fail "--out is not followed"
grep -q ConvNetGo "$tmp/two.svg" && fail "published curves beside another network"
records thesis mine >"$tmp/mixed.jsonl"
"$benchcnn" plot "$tmp/mixed.jsonl" >/dev/null 2>"$tmp/err" || fail "plot of mixed networks"
grep -q '4 records' "$tmp/err" || fail "left-out records are not counted: $(cat "$tmp/err")"

# Labels keep their distance and their order, and stay in the picture: nine curves that end in nearly one point.
{
    records mine | head -1
    for n in 1 2 3 4 5 6 7 8 9; do epoch "a$n" 5 4 mine; epoch "a$n" 500 "3.0$n" mine; done
} >"$tmp/crowd.jsonl"
"$benchcnn" plot "$tmp/crowd.jsonl" >/dev/null || fail "plot of nine curves"
tr -d '\n' <"$tmp/crowd.svg" | grep -oE 'translate\([0-9.,]+\)"[^>]*>[^/]*cpu:a[1-9]' |
    sed -E 's/.*\([0-9.]*,([0-9.]*)\).*cpu:a(.)/\2 \1/' | sort -u >"$tmp/places"
awk '$1 != NR || (NR > 1 && above - $2 < 25) || $2 < 90 || $2 > 470 { bad++ } { above = $2 } END { exit NR != 9 || bad }' "$tmp/places" ||
    fail "labels in each other's way: $(cat "$tmp/places")"

# A picture is replaced; records, or whatever else stands there, are not.
"$benchcnn" plot "$tmp/mine.jsonl" --out "$tmp/two.svg" >/dev/null 2>"$tmp/err" || fail "a picture is not replaced: $(cat "$tmp/err")"
for ending in svg png; do
    records mine >"$tmp/named.$ending"
    cp "$tmp/named.$ending" "$tmp/before"
    refused "named.$ending is there, and is no | picture" plot "$tmp/named.$ending"
    cmp -s "$tmp/named.$ending" "$tmp/before" || fail "records were spoiled by their picture"
    rm "$tmp/named.$ending"
done

# The heading names what did the work: the GPU where all ran on one, whatever its host; beside a CPU, the labels do.
{
    echo '{"kind":"env","cpu":"its host","cores":2,"implementation":{"gpu":"Some GPU"}}'
    epoch find 5 0.5 mine; epoch find 50 0.25 mine
} >"$tmp/gpu.jsonl"
"$benchcnn" plot "$tmp/gpu.jsonl" >/dev/null || fail "plot of a GPU's epochs"
grep -q 'Some GPU, f32' "$tmp/gpu.svg" || fail "the heading lacks the GPU"
grep -q 'its host' "$tmp/gpu.svg" && fail "the heading names the GPU's host"
"$benchcnn" plot "$tmp/mine.jsonl" "$tmp/gpu.jsonl" --out "$tmp/both" >/dev/null || fail "plot of a CPU's and a GPU's epochs"
holds "the labels" "$tmp/both.svg" 'cpu:direct|It.*CPU.*: .* s at|cpu:find|Some GPU: 0.25 s at 50' -E

# Marked figures are hollow, and the picture says what the marks are; without marks it says nothing of them.
grep -q hollow "$tmp/two.svg" && fail "hollow points without marks"
sed '/"batch":5,/s/}$/,"marks":"disturbed"}/' "$tmp/mine.jsonl" >"$tmp/marked.jsonl"
"$benchcnn" plot "$tmp/marked.jsonl" >/dev/null || fail "plot of marked epochs"
grep -q 'hollow points: disturbed' "$tmp/marked.svg" || fail "the marks are not explained"
white() { tr -d '\n' <"$1" | grep -oiE "<use[^>]*(white|#ffffff|rgb\(255, *255, *255\))" | wc -l; }
[ "$(white "$tmp/marked.svg")" -eq $(($(white "$tmp/two.svg") + 2)) ] || fail "$(white "$tmp/marked.svg") hollow points, $(white "$tmp/two.svg") without marks"

# What diverged is left out, and said.
{ cat "$tmp/mine.jsonl"; epoch direct 50 null mine | sed 's/}$/,"diverged":true}/'; } >"$tmp/wild.jsonl"
"$benchcnn" plot "$tmp/wild.jsonl" >/dev/null 2>"$tmp/err" || fail "plot beside a diverged training"
grep -q '1 epoch is of trainings\|1 epoch.*diverged' "$tmp/err" || fail "a diverged point is not said: $(cat "$tmp/err")"

# ---- Learning curves: a line a run, over epochs and over the seconds of training.
curve() { # curve ALGORITHM SEED EPOCHS SECONDS LOSS
    for e in $(seq "$3"); do
        epoch "$1" 50 "$4" mine | sed "s/\"seed\":1/\"seed\":$2/; s/\"epoch\":1,/\"epoch\":$e,\"epochs\":$3,\"train_s\":$4,\"train_loss\":$5,\"test_loss\":$5,\"test_accuracy\":0.9$e,/"
    done
}
{ records mine | head -1; curve direct 1 3 2 0.5; curve fused 1 3 1.5 0.25; curve fused 2 2 1.25 0.125; } >"$tmp/learn.jsonl"
"$benchcnn" plot curves "$tmp/learn.jsonl" >"$tmp/out" 2>"$tmp/err" || fail "plot curves: $(cat "$tmp/err")"
[ -s "$tmp/err" ] && fail "plot curves complains: $(cat "$tmp/err")"
[ "$(head -c 8 "$tmp/learn.png" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] || fail "the PNG of learning curves is none"
holds "learning curves" "$tmp/learn.svg" 'Learning curves|network mine, 60000 images|cpu:direct|cpu:fused|93.00 % after 3 epochs, 6 s|93.00 % after 3 epochs, 4.5 s|92.00 % after 2 epochs, 2.5 s|seed 2|seconds of training|accuracy'
# Of each run six lines in its colour: loss of test and training, and accuracy, over either axis.
lines() { grep -E "<path stroke='rgb\(" "$1" | grep -vcE 'rgb\((110|221), *(110|221), *(110|221)\)'; }
[ "$(lines "$tmp/learn.svg")" -eq 18 ] || fail "three runs are $(lines "$tmp/learn.svg") lines, not 18"
{ cat "$tmp/learn.jsonl"; curve direct 2 3 2 0.5; } >"$tmp/more.jsonl"
"$benchcnn" plot curves "$tmp/more.jsonl" --out "$tmp/more" >/dev/null 2>&1 || fail "plot of four runs"
[ "$(lines "$tmp/more.svg")" -eq 24 ] || fail "four runs are $(lines "$tmp/more.svg") lines, not 24"
# Many runs, and one of a single epoch, are drawn, too.
{ records mine | head -1; for seed in $(seq 30); do curve direct "$seed" 2 1 0.5; done; } >"$tmp/many.jsonl"
"$benchcnn" plot curves "$tmp/many.jsonl" >/dev/null 2>"$tmp/err" || fail "plot of thirty runs: $(cat "$tmp/err")"
{ records mine | head -1; curve direct 1 1 1 0.5; } >"$tmp/one.jsonl"
"$benchcnn" plot curves "$tmp/one.jsonl" >/dev/null 2>"$tmp/err" && [ ! -s "$tmp/err" ] || fail "plot of one epoch: $(cat "$tmp/err")"
{ cat "$tmp/one.jsonl"; epoch direct 60 null mine | sed 's/}$/,"diverged":true}/'; } >"$tmp/wild.jsonl"
"$benchcnn" plot curves "$tmp/wild.jsonl" >/dev/null 2>"$tmp/err" || fail "curves beside a diverged training"
holds "diverged curves" "$tmp/err" '1 epoch is left out: the training diverged'
refused 'plot curves needs record files' plot curves

# ---- Speedup over threads or workers, of the fastest epochs: 4 s, 2 s and 1 s of one; 3 s and 2 s of the other.
over() { # over ALGORITHM NET WORKERS THREADS SECONDS
    epoch "$1" 50 "$5" "$2" | sed "s/\"seed\":1/\"seed\":1,\"workers\":$3/; s/\"threads\":[0-9]*/\"threads\":$4/; s/\"batch\":50/\"batch\":$((50 * ($3 > 0 ? $3 : 1)))/; s/\"epoch\":1,/\"epoch\":1,\"train_s\":$5,/"
}
{ records mine | head -1; over direct mine 0 1 4; over direct mine 0 1 9; over direct mine 0 2 2; over direct mine 0 4 1; over fused mine 0 1 3; over fused mine 0 2 2; over naive mine 0 2 1; } >"$tmp/threads.jsonl"
"$benchcnn" plot workers "$tmp/threads.jsonl" >/dev/null 2>"$tmp/err" || fail "plot workers: $(cat "$tmp/err")"
holds "a curve without one thread" "$tmp/err" '1 curve is left out'
holds "speedup over threads" "$tmp/threads.svg" 'Speedup over threads|cpu:direct|cpu:fused|network mine, 60000 images'
grep -q 'Karv' "$tmp/threads.svg" && fail "published speedups beside another network"
{ records karv_mlp | head -1; for n in 1 2 4; do over exemplar karv_mlp $n 2 $((8 / n)); done; } >"$tmp/workers.jsonl"
"$benchcnn" plot workers "$tmp/workers.jsonl" >/dev/null 2>"$tmp/err" && [ ! -s "$tmp/err" ] || fail "plot workers: $(cat "$tmp/err")"
holds "speedup over workers" "$tmp/workers.svg" 'Speedup over workers|cpu:exemplar|worker-batch 50|Karv, published|Banana Pi M3, 8 cores'
refused 'no speedup to draw' plot workers "$tmp/mine.jsonl" --out "$tmp/none"
refused 'plot workers needs record files' plot workers
refused "did you mean 'curves'" plot curve

# ---- Times of single operations as bars, each in a colour of its own, and once more with their plans.
tests=$((tests + 1))
bar() { # bar ALGORITHM PROBLEM DIR SECONDS
    printf '{"kind":"conv","impl":"cpu","algorithm":"%s","knobs":{},"machine":"Mine","op":"conv","problem":"%s","dir":"%s","dtype":"f32","math":"f32","layout":"nchw","cache":"hot","median_s":%s,"plan_s":1e-3}\n' "$@"
}
for i in 1 2 3 4 5 6 7 8 9; do for p in mb1 mb4; do bar "v$i" "${p}ic4ih32oc4oh32kh3ph1" FWD "${i}e-5"; bar "v$i" "${p}ic4ih32oc4oh32kh3ph1" BWD_D "${i}e-4"; done; done >"$tmp/bars.jsonl"
"$benchcnn" plot bars "$tmp/bars.jsonl" --dir FWD >"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/err" ] || fail "plot bars: $(cat "$tmp/err")"
holds "bars" "$tmp/bars.svg" 'Times of single operations|Mine, f32, nchw, caches hot|cpu:v1|cpu:v9|mb4ic4ih32oc4oh32kh3ph1 FWD|10 µs|90 µs|medians'
holds "bars of plans" "$tmp/bars_plans.svg" 'in the loop, and out of it|10 µs, 1.01 ms|90 µs, 1.09 ms'
grep -q 'BWD_D\|as published' "$tmp/bars.svg" && fail "another direction is drawn, or something published beside problems that are not the report's"
[ -s "$tmp/bars_plans.png" ] || fail "no PNG of plans"
# A marker of the legend for each algorithm, none of one colour.
[ "$(grep -o "fill *= *'rgb([^']*)'" "$tmp/bars.svg" | sort -u | grep -vcE 'rgb\( *(34|110|221|255), *(34|110|221|255), *(34|110|221|255)\)')" -ge 9 ] || fail "nine algorithms share colours"
"$benchcnn" plot bars "$tmp/bars.jsonl" --impl 'cpu:v[1-3]' --out "$tmp/few" >/dev/null 2>"$tmp/err" && ! grep -q 'cpu:v4' "$tmp/few.svg" || fail "--impl is not heeded: $(cat "$tmp/err")"
refused 'no timed operation' plot bars "$tmp/mine.jsonl" --out "$tmp/none"
refused '--dir goes with plot bars' plot "$tmp/mine.jsonl" --dir FWD
refused 'plot bars needs record files' plot bars

# ---- Shares of rounding bounds: a row an algorithm and type, and what failed.
tests=$((tests + 1))
checked() { # checked ALGORITHM CHECK DIR STATE SHARE MORE
    printf '{"kind":"verify","impl":"cpu","algorithm":"%s","knobs":{},"op":"conv","problem":"mb1ic4ih8oc4kh3","dir":"%s","dtype":"f32","math":"f32","layout":"nchw","check":"%s","state":"%s","budget_used":%s%s}\n' "$1" "$3" "$2" "$4" "$5" "${6-}"
}
{
    for share in 0.1 0.2 0.3; do checked direct bound FWD PASSED $share; checked direct bound BWD_W PASSED 0.0$((RANDOM % 9 + 1)); done
    checked direct precision FWD PASSED 0.5 ',"bits_kept":24,"taps":36'
    checked naive bound FWD PASSED 0.4 ',"bits_kept":19,"taps":576'
    checked naive bound BWD_D FAILED 7
    checked naive bound BWD_W FAILED null
    checked exact bound FWD PASSED 0
    checked direct memory FWD PASSED 0.99
} >"$tmp/checked.jsonl"
"$benchcnn" plot "$tmp/checked.jsonl" --out "$tmp/errors" >"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/err" ] || fail "plot errors: $(cat "$tmp/err")"
holds "shares" "$tmp/errors.svg" 'How much of what rounding may leave is used|cpu:direct|cpu:naive|6 cases, at most 30 %; 24 bits|2 of 3 FAILED; 19 of 24 bits, in sums of 576|nothing is rounded|f32 nchw'
for colour in '0, *114, *178' '230, *159, *0' '0, *158, *115' '176, *0, *32'; do # FWD, BWD_D, BWD_W, FAILED
    grep -qE "rgb\( *$colour\)" "$tmp/errors.svg" || fail "no $colour in the picture of errors"
done
"$benchcnn" plot errors "$tmp/checked.jsonl" --impl cpu:direct --out "$tmp/one" >/dev/null 2>"$tmp/err" && ! grep -q 'cpu:naive' "$tmp/one.svg" || fail "--impl is not heeded: $(cat "$tmp/err")"
# Problems solved: who is right where, and how fast; a wrong one is not right, however fast.
answer() { # answer ALGORITHM PROBLEM MEDIAN [MORE]
    printf '{"kind":"conv","impl":"cpu","algorithm":"%s","knobs":{},"threads":1,"machine":"M","op":"conv","problem":"%s","dir":"FWD","dtype":"f32","math":"f32","layout":"nchw","median_s":%s,"low_s":%s,"high_s":%s%s}\n' "$1" "$2" "$3" "$3" "$3" "${4-,\"state\":\"PASSED\",\"verified\":true}"
}
{
    printf '{"kind":"env","date":"2026-11-21T18:56:23Z"}\n'
    answer direct mb1 1 && answer direct mb2 4 && answer direct mb4 null ',"state":"UNSUPPORTED","verified":false'
    answer naive mb1 3 && answer naive mb2 1 && answer naive mb4 0.5 ',"state":"FAILED","verified":false'
    answer im2col mb1 2 && answer im2col mb2 2 && answer im2col mb4 2
} >"$tmp/answers.jsonl"
"$benchcnn" plot solved "$tmp/answers.jsonl" --out "$tmp/solved" >"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/err" ] || fail "plot solved: $(cat "$tmp/err")"
holds "what is solved" "$tmp/solved.svg" '3 problems on M, 2026-11-21|cpu:im2col|right 3; fastest 1, within 1.1 times 33 %|cpu:direct|right 2, refused 1; fastest 1|cpu:naive|right 2, WRONG 1; fastest 1|times as long as the fastest, at most'
"$benchcnn" plot solved "$tmp/answers.jsonl" --baseline cpu:im2col --out "$tmp/solved" >"$tmp/out" 2>"$tmp/err" || fail "plot solved over a baseline: $(cat "$tmp/err")"
holds "over a baseline" "$tmp/solved.svg" 'over cpu:im2col|right 2, refused 1; faster 33 %, twice 33 %, mean 1 times|right 2, WRONG 1; faster 33 %, twice 33 %, mean 1.15 times|times as fast as the baseline, at least'
"$benchcnn" table "$tmp/answers.jsonl" --kind solved --baseline cpu:im2col --format csv | tr -d '\r' | sed 's/^[^,]*,//' >"$tmp/out"
grep -qE '^direct,.*,3,2,0,1,0,' "$tmp/out" && grep -qE '^naive,.*,3,2,1,0,0,' "$tmp/out" && [ "$(wc -l <"$tmp/out")" -eq 3 ] || fail "table of what is solved: $(cat "$tmp/out")"
"$benchcnn" table "$tmp/answers.jsonl" --kind solved --impl cpu:naive --baseline cpu:im2col --by batch,dir >"$tmp/out" 2>"$tmp/err" || fail "--by: $(cat "$tmp/err")"
[ "$(awk '$1 == "cpu" {print $5, $6, $7, $8, $(NF - 5), $NF}' "$tmp/out" | tr '\n' ';')" = '1 FWD 1 1 0.6667 FWD;2 FWD 1 1 2 FWD;4 FWD 1 0 0.0 %;all all 3 2 1.155 FWD;' ] ||
    fail "groups of what is solved: $(cat "$tmp/out")"
refused "unknown field 'dirr'; did you mean 'dir'" table "$tmp/answers.jsonl" --kind solved --by dirr
refused "unknown field 'threads'; known are: op, problem" table "$tmp/answers.jsonl" --kind solved --by threads # of who answers, not of what
refused '--by goes with --kind solved' table "$tmp/answers.jsonl" --by dir
answer naive mb8 1 >>"$tmp/answers.jsonl"
"$benchcnn" plot solved "$tmp/answers.jsonl" --baseline cpu:im2col --out "$tmp/solved" 2>&1 | grep -q '1 problem left out: the baseline cpu:im2col has not timed it' || fail "a problem without a baseline is not said"
for i in $(seq 20); do answer a$i mb1 $i; done >"$tmp/many.jsonl"
refused '20 curves are more than the 16|--impl' plot solved "$tmp/many.jsonl" --impl 'cpu:*' --out "$tmp/none"
"$benchcnn" plot solved "$tmp/many.jsonl" --out "$tmp/solved" >"$tmp/out" 2>&1 || fail "plot solved of many algorithms: $(cat "$tmp/out")"
holds "of many algorithms it" "$tmp/out" '20 algorithms are too many for a picture: each implementation at its fastest'
holds "a name's fastest" "$tmp/solved.svg" '>cpu<|right 1; fastest 1'
refused 'of the baseline cpu:none' plot solved "$tmp/many.jsonl" --baseline cpu:none --out "$tmp/none"
refused 'no timed operation to count' plot solved "$tmp/mine.jsonl" --out "$tmp/none"
refused '--baseline goes with plot speedup and plot solved' plot bars "$tmp/many.jsonl" --baseline cpu

refused 'no rounding errors' plot errors "$tmp/mine.jsonl" --out "$tmp/none"
refused 'plot errors needs record files' plot errors

refused '/nonexistent/x' plot "$tmp/mine.jsonl" --out /nonexistent/x
# A disk that is full, or a limit of the files' size: gnuplot says nothing of either.
for kilobytes in 4 24; do
    rm -f "$tmp"/cut.*
    (trap '' XFSZ; ulimit -f $kilobytes; exec "$benchcnn" plot "$tmp/mine.jsonl" --out "$tmp/cut") >"$tmp/out" 2>"$tmp/err"
    [ $? -eq 2 ] || fail "a picture that was cut at $kilobytes KB is no error: $(cat "$tmp/err")"
    grep -q 'could not write .*cut.* whole' "$tmp/err" || fail "a cut picture is not told: $(cat "$tmp/err")"
    [ ! -e "$tmp/cut.png" ] || fail "a cut picture is left"
    ls "$tmp"/cut.part.* >/dev/null 2>&1 && fail "a part of a picture is left"
done
finish
