#!/usr/bin/env bash
# test_floor.sh BENCHCNN: `plot floor`: of each layer and direction the floor by the ceilings of its machine and threads, over
# the median of its time; what `train --profile` records is enough for it.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/cli.sh"

# A gnuplot that keeps what it is given, and draws nothing.
mkdir "$tmp/bin"
cat >"$tmp/bin/gnuplot" <<'SCRIPT'
#!/usr/bin/env bash
cat >"$KEPT"
sed -n "s/^out='\(.*\)'$/\1/p" "$KEPT" | while read -r out; do
    case $out in *.svg) echo '<?xml?></svg>' ;; *) printf '\x89PNG....IEND\xae\x42\x60\x82' ;; esac >"$out"
done
SCRIPT
chmod +x "$tmp/bin/gnuplot"
plot() { tests=$((tests + 1)); KEPT=$tmp/kept PATH=$tmp/bin:$PATH "$benchcnn" plot "$@" --out "$tmp/picture" >"$tmp/out" 2>"$tmp/err" || fail "plot $*: $(cat "$tmp/err")"; }

env() { echo '{"kind":"env","date":"2026-11-2'"$2"'T10:00:00Z","cpu":"'"$1"'","cores":2,"impl":"cpu","threads":2}'; }
peak() { # MACHINE THREADS WHAT UNIT VALUE HOLDS [MARKS]
    printf '{"kind":"peak","impl":"cpu","machine":"%s","threads":%s,"what":"%s","variant":"%s","dtype":"f32","math":"f32","unit":"%s","value":%s,"median":%s,"samples":9,"holds_bytes":%s,"marks":"%s"}\n' \
        "$1" "$2" "$3" "$([ "$6" = 0 ] || echo L3)" "$4" "$5" "$5" "$6" "${7:-}"
}
{
    env C 1
    peak C 2 fma flop/s 1e12 0
    peak C 2 read byte/s 1e10 0 noisy
    peak C 2 read byte/s 1e11 1000000
    peak C 1 fma flop/s 9e15 0
    peak D 2 fma flop/s 9e15 0
    peak C 1 read byte/s 9e15 0
} >"$tmp/peaks.jsonl"
about() { # KIND ALGORITHM BATCH
    printf '{"kind":"%s","impl":"cpu","algorithm":"%s","threads":2,"knobs":{},"net":"mine","net_params":5,"net_crc":"0","data":"mnist","batch":%s,"dtype":"f32","layout":"nchw","math":"f32","optimizer":"adam","seed":1,"train_images":100,"test_images":10,"epoch":1,' "$@"
}
phase() { # ALGORITHM BATCH LAYER PASS PHASE SECONDS CALLS FLOPS BYTES [MORE]
    about profile "$1" "$2"
    printf '"layer":"%s","pass":"%s","phase":"%s","seconds":%s,"share":%s,"times":%s,"flops":%s,"bytes":%s%s}\n' "$3" "$4" "$5" "$6" "$6" "$7" "$8" "$9" "${10:-}"
}
epoch() { # ALGORITHM BATCH SECONDS of conv1's second phase
    phase "$1" "$2" images "" gather 0.1 10 0 0
    phase "$1" "$2" conv1 FWD pack 0.1 10 1e11 1e6 # 0.01 s a call by arithmetic
    phase "$1" "$2" conv1 FWD direct "$3" 10 0 0
    phase "$1" "$2" conv1 test direct 9 10 1e11 1e6
    phase "$1" "$2" act1 FWD act 1e-3 10 1000 1e7 # fits the cache: 1e-5 s a call
    phase "$1" "$2" act2 FWD act 4e-3 10 1000 2e7 # does not: 2e-4 s a call
    phase "$1" "$2" conv2 BWD_D winograd 0.2 10 4e11 1e6 ',"products_saved":4' # 0.01 s a call
    phase "$1" "$2" conv2 FWD winograd 0.4 10 4e11 1e6 ',"products_saved":4'
    phase "$1" "$2" update "" optimizer 0.1 10 1000 1000
    about profiled_epoch "$1" "$2"
    printf '"seconds":1,"train_loss":1,"test_loss":1,"test_accuracy":0.5,"unprofiled_s":null}\n'
}
{ env C 2; epoch direct 50 0.7; epoch direct 50 0.3; epoch direct 50 0.1; } >"$tmp/one.jsonl"

plot floor "$tmp/one.jsonl" "$tmp/peaks.jsonl"
[ ! -s "$tmp/err" ] || fail "complains: $(cat "$tmp/err")"
bars() { sed -n '/^\$bars/,/^EOD/p' "$tmp/kept" | grep '^[0-9]'; }
rows() { sed -n "s/^row[0-9]*='\(.*\)'$/\1/p" "$tmp/kept" | paste -sd, -; }
[ "$(rows)" = "conv1 FWD,act1 FWD,act2 FWD,conv2 FWD,conv2 BWD_D,all of these" ] || fail "the rows: $(rows)"
# Floors 0.1, 1e-4, 2e-3, 0.1 and 0.1 s; times 0.4 (the median of 0.8, 0.4 and 0.2), 1e-3, 4e-3, 0.4 and 0.2 s.
printf '%s\n' '0 25 0 0' '1 10 1 1' '2 50 1 2' '3 25 0 3' '4 50 0 4' '5 30.0597015 0 5' >"$tmp/wanted"
bars | diff "$tmp/wanted" - || fail "other bars"
holds "the words" "$tmp/kept" "25 %  of 400 ms,  40 % of the epoch;  fma f32|50 %  of 4.00 ms,  0.4 % of the epoch;  read *|network mine, batch 50; C, 2 threads, f32, mnist; measured 2026-11-21 to 2026-11-22|name0='cpu:direct'|a ceiling that is in doubt"

# What moves nothing through memory, as a trainer's layers may, has arithmetic alone for a floor.
sed 's/"bytes":[0-9e]*/"bytes":0/' "$tmp/one.jsonl" >"$tmp/none.jsonl"
plot floor "$tmp/none.jsonl" "$tmp/peaks.jsonl"
holds "no bytes" "$tmp/kept" "25 %  of 400 ms,  40 % of the epoch;  fma f32|0.0001 %  of 1.00 ms,  0.1 % of the epoch;  fma f32"
grep -q 'of the epoch;  read' "$tmp/kept" && fail "a floor of bytes that are not moved"

# Several runs stand side by side; another batch or machine is left out, which is said.
{ cat "$tmp/one.jsonl"; epoch im2col 50 0.9; epoch direct 60 0.1; env D 3; epoch direct 50 0.1; } >"$tmp/more.jsonl"
plot floor "$tmp/more.jsonl" "$tmp/peaks.jsonl"
grep -q '10 passes of other networks, batches or machines left out' "$tmp/err" || fail "left out: $(cat "$tmp/err")"
holds "two runs" "$tmp/kept" "name0='cpu:direct'|name1='cpu:im2col'|runs=2|10 %  of 1.00 s"

refused "no layer's time to draw" plot floor "$tmp/peaks.jsonl"
refused "no ceilings of C, 2 threads in these files|benchcnn peaks --threads 2" plot floor "$tmp/one.jsonl"
sed 's/,"bytes":[0-9e]*//' "$tmp/one.jsonl" >"$tmp/old.jsonl"
refused "an older version recorded them" plot floor "$tmp/old.jsonl" "$tmp/peaks.jsonl"
refused 'plot floor needs record files' plot floor

# Without a kind it is drawn where there is nothing else; with epochs it is named.
plot "$tmp/one.jsonl" "$tmp/peaks.jsonl"
holds "without a kind" "$tmp/kept" "all of these"
sed 's/"profile"/"epoch"/' "$tmp/one.jsonl" | grep -m1 '"epoch"' | sed 's/"layer".*/"seconds":2}/' >"$tmp/epoch.jsonl"
plot "$tmp/epoch.jsonl" "$tmp/one.jsonl" "$tmp/peaks.jsonl"
holds "beside epochs" "$tmp/err" "beside this: plot floor"

# What a training records is enough, but for the ceilings.
"$benchcnn" train --net thesis --impl cpu --profile --batch 20 --epochs 1 --images 40 --threads 1 --quiet --out "$tmp/train.jsonl" >"$tmp/out" 2>&1 || fail "train: $(cat "$tmp/out")"
machine=$(sed -n 's/.*"kind":"env".*"cpu":"\([^"]*\)".*/\1/p' "$tmp/train.jsonl" | head -1)
{ peak "$machine" 1 fma flop/s 1e12 0; peak "$machine" 1 read byte/s 1e11 100000000; } >"$tmp/own.jsonl"
plot floor "$tmp/train.jsonl" "$tmp/own.jsonl"
holds "a training" "$tmp/kept" "conv1 FWD|conv1 BWD_W|leaky_relu1 BWD_D|fc1 BWD_W|network thesis, batch 20"
bars | awk '!($2 > 0 && $2 < 1000) { bad++ } END { exit bad || NR < 10 }' || fail "bars of a training: $(bars)"
"$benchcnn" check "$tmp/train.jsonl" >"$tmp/out" 2>&1 || fail "check: $(cat "$tmp/out")"

# And gnuplot takes it.
command -v gnuplot >/dev/null || { finish && exit 77; exit 1; }
"$benchcnn" plot floor "$tmp/more.jsonl" "$tmp/peaks.jsonl" --out "$tmp/drawn" >/dev/null 2>"$tmp/err" || fail "drawn: $(cat "$tmp/err")"
holds "the picture" "$tmp/drawn.svg" 'How near each layer is to its floor|conv2 BWD_D|all of these|cpu:im2col|of the epoch'
finish
