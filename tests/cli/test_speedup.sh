#!/usr/bin/env bash
# test_speedup.sh BENCHCNN: `plot speedup` and `table --kind speedups`: what gnuplot is given is what the table says, for the
# committed records; the caption names both sides; where they break even is marked; what makes no picture is said.
source "$(dirname "$0")/cli.sh"
records=results/h200/speedup.jsonl

# A gnuplot that keeps what it is given, and draws nothing: its settings, a line each, and its blocks of data, a file each.
mkdir "$tmp/bin" "$tmp/kept"
cat >"$tmp/bin/gnuplot" <<'SCRIPT'
#!/usr/bin/env bash
input=$(cat)
kept=$KEPT/$(sed -n "s|^script='.*/\(.*\)\.gp'$|\1|p" <<<"$input" | head -1)
mkdir -p "$kept"
awk -v kept="$kept" '$2 == "<<" { block = kept "/" substr($1, 2); printf "" >block; next } $0 == "EOD" { block = ""; next }
    { print >(block ? block : kept "/settings") }' <<<"$input"
sed -n "s/^out='\(.*\)'$/\1/p" <<<"$input" | while read -r out; do
    case $out in *.svg) echo '<?xml?></svg>' ;; *) printf '\x89PNG....IEND\xae\x42\x60\x82' ;; esac >"$out"
done
SCRIPT
chmod +x "$tmp/bin/gnuplot"
plot() { tests=$((tests + 1)); KEPT=$tmp/kept PATH=$tmp/bin:$PATH "$benchcnn" plot speedup "$@" >"$tmp/out" 2>"$tmp/err" || fail "plot speedup $*: $(cat "$tmp/err")"; }

# ---- Every plotted value is one of the table's, in its order; `column NAME...` of the CSV, for epochs or operations.
plot "$records" --out "$tmp/a"
[ -s "$tmp/err" ] && fail "complains: $(cat "$tmp/err")"
"$benchcnn" table --kind speedups "$records" --format csv >"$tmp/csv" || fail "table"
column() { # WHICH(net|op) NAME...: the texts hold no comma
    awk -F, -v which="$1" -v names="${*:2}" '{ sub(/\r$/, "") }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(names, want, " "); next }
        $at[which] != "" { line = ""; for (i = 1; i <= n; i++) line = line " " ($at[want[i]] == "" ? "nan" : $at[want[i]]); print line }' "$tmp/csv"
}
same() { # WHAT: two streams of numbers, equal within rounding
    paste -d' ' "$tmp/x" "$tmp/y" | awk -v what="$1" '{ n = NF / 2; for (i = 1; i <= n; i++) { a = $i; b = $(i + n)
            if (a == "nan" || b == "nan" ? a != b : (a - b > 1e-7 * b || b - a > 1e-7 * b)) bad++ } }
        END { if (NR < 50 || bad) { print "FAILED: " what ": " NR " lines, " bad + 0 " differ"; exit 1 } }' || failures=$((failures + 1))
}
published=12
column net batch speedup speedup_low speedup_high >"$tmp/x"
grep -v '^$' "$tmp/kept/over_batch/curves" | head -n -$published | cut -d' ' -f1-4 >"$tmp/y"
[ "$(wc -l <"$tmp/x")" -eq "$(wc -l <"$tmp/y")" ] || fail "$(wc -l <"$tmp/y") points of $(wc -l <"$tmp/x")"
same "the points of epochs"
grep -v '^$' "$tmp/kept/over_batch/curves" | tail -n $published | cut -d' ' -f1,2 >"$tmp/x"
awk '!/^#/ { printf "%s %.9g\n", $1, $2 / $3 }' plots/thesis_table_4_2.dat >"$tmp/y"
cmp -s "$tmp/x" "$tmp/y" || fail "the published curve is not the quotient of its times: $(diff "$tmp/x" "$tmp/y")"
column op speedup speedup_low speedup_high speedup_with_transfers >"$tmp/x"
grep -v '^$\|^nan' "$tmp/kept/speedup_problems/bars" | cut -d' ' -f2-4,6 >"$tmp/y"
[ "$(wc -l <"$tmp/x")" -eq "$(wc -l <"$tmp/y")" ] || fail "$(wc -l <"$tmp/y") bars of $(wc -l <"$tmp/x")"
same "the bars of operations"
# Those that bear marks, and no others, are hollow.
awk -F, '{ sub(/\r$/, "") } $NF != "" && NR > 1' "$tmp/csv" | wc -l >"$tmp/x"
{ grep -v '^$' "$tmp/kept/over_batch/curves" | awk '$5 == 1'; awk '$5 == 1' "$tmp/kept/speedup_problems/bars"; } | wc -l >"$tmp/y"
cmp -s "$tmp/x" "$tmp/y" || fail "$(cat "$tmp/y") hollow points, $(cat "$tmp/x") marked speedups"
holds "the heading" "$tmp/kept/over_batch/settings" "NVIDIA H200, f32|over cpu:fused on Intel Xeon, 16 threads|transfers counted|thesis, published"
holds "the bars' heading" "$tmp/kept/speedup_problems/settings" "the fastest of cpu:im2col, cpu:direct, onednn:any on Intel Xeon, 16 threads|cudnn on NVIDIA H200|f32, nchw, caches hot"
holds "a problem's line" "$tmp/kept/speedup_problems/settings" 'awnn_16x16 BWD_W|µs, im2col'

# ---- What is compared with what.
plot "$records" --impl 'cuda_*:*' --baseline cpu:im2col --out "$tmp/b"
holds "an algorithm a curve" "$tmp/kept/over_batch/settings" "name0='cuda_fused:v3'|over cpu:im2col on|cuda_naive:v4"
plot "$records" --baseline cudnn --impl cuda_naive --out "$tmp/c"
grep -q 'thesis, published' "$tmp/kept/over_batch/settings" && fail "a GPU over a GPU beside the thesis's curve"

# ---- Where both are as fast: between 5 (half as fast) and 20 (twice), halfway on logarithmic axes.
epoch() { # IMPL ALGORITHM BATCH SECONDS
    printf '{"kind":"epoch","impl":"%s","algorithm":"%s","threads":2,"net":"mine","batch":%s,"dtype":"f32","layout":"nchw",' "$1" "$2" "$3"
    printf '"math":"f32","train_images":10,"test_images":10,"epoch":1,"seconds":%s}\n' "$4"
}
machines='{"kind":"env","impl":"cpu","cpu":"A CPU"}
{"kind":"env","impl":"gpu","cpu":"A CPU","implementation":{"gpu":"A GPU"}}'
{ echo "$machines"; epoch cpu naive 5 1; epoch cpu naive 20 1; epoch gpu v1 5 2; epoch gpu v1 20 0.5; } >"$tmp/even.jsonl"
plot "$tmp/even.jsonl" --out "$tmp/d"
holds "the break-even mark" "$tmp/kept/over_batch/settings" "evens=1|at0=10"
[ -e "$tmp/d_problems.svg" ] && fail "a picture of nothing"

# ---- What makes no picture; recipes check the words before they run.
grep -v '"gpu"' "$tmp/even.jsonl" >"$tmp/cpu.jsonl"
grep -v '"impl":"cpu","alg' "$tmp/even.jsonl" >"$tmp/gpu.jsonl"
refused "cpu.jsonl:2: |all others are of the baseline" plot speedup "$tmp/cpu.jsonl"
refused "gpu.jsonl:3: |A GPU: there is none of a CPU" plot speedup "$tmp/gpu.jsonl"
refused "gpu.jsonl:3: |of the baseline cpu:direct" table --kind speedups "$tmp/gpu.jsonl" --baseline cpu:direct
refused "what --impl names" plot speedup "$records" --impl nobody
refused "speedup needs record files" plot speedup
refused "did you mean 'speedup'" plot speedups "$records"
refused "goes with plot speedup" plot "$records" --baseline cpu
refused "goes with --kind speedups" table "$records" --baseline cpu
refused "none.jsonl" plot speedup "$tmp/none.jsonl"

# ---- A recipe's lines of a GPU are left out where there is none, with a word, and it holds.
if ! "$benchcnn" verify --impl cuda_naive --op act --quiet >/dev/null 2>&1; then
    printf '%s\n' 'sweep batch --impl cuda_naive:v4 --out "$OUT"' 'data' >"$tmp/recipe"
    "$benchcnn" run "$tmp/recipe" --out "$tmp/run.jsonl" >"$tmp/out" 2>&1 || fail "a recipe fails for want of a GPU: $(cat "$tmp/out")"
    holds "a left-out line" "$tmp/out" "left out: "
fi

# ---- The real gnuplot. Without its own time, it is quick: of processor time, as other tests run beside this one.
TIMEFORMAT='%U %S'
{ time plot "$records" --out "$tmp/quick"; } 2>"$tmp/time"
awk -v limit="${SPEEDUP_SECONDS:-1}" '{ print "made in " $1 + $2 " s"; exit !($1 + $2 < limit) }' "$tmp/time" || fail "$(cat "$tmp/time") s are too long" # a sanitized program may take longer
command -v gnuplot >/dev/null || { echo "SKIPPED: gnuplot is not installed"; finish && exit 77; exit 1; }
"$benchcnn" plot speedup "$records" --out "$tmp/real" >/dev/null 2>"$tmp/err" || fail "plot: $(cat "$tmp/err")"
holds "the picture" "$tmp/real.svg" "break even|50 ×|5,000|cuda_naive"
holds "the bars" "$tmp/real_problems.svg" "awnn_1x1 BWD_D|times as fast as the baseline"
# A second curve breaks even close to the first, at 11: its mark stands without a text, which would run into the other's.
{ cat "$tmp/even.jsonl"; epoch gpu2 v1 5 2; epoch gpu2 v1 20 0.59; } >"$tmp/evens.jsonl"
sed -i 's/^{"kind":"env","impl":"gpu".*/&\n&/; s/\n{"kind":"env","impl":"gpu"/\n{"kind":"env","impl":"gpu2"/' "$tmp/evens.jsonl"
"$benchcnn" plot speedup "$tmp/evens.jsonl" --out "$tmp/evens" >/dev/null 2>"$tmp/err" || fail "plot: $(cat "$tmp/err")"
holds "where they break even" "$tmp/evens.svg" "<text>at 10</text>|gpu2"
[ "$(grep -o '<text>at [0-9]*</text>' "$tmp/evens.svg" | sort -u | wc -l)" -eq 1 ] || fail "texts that run into each other at the line of 1"
finish
