#!/usr/bin/env bash
# test_roofline.sh BENCHCNN: ceilings and figures go into records and from there into a picture; what is missing is said.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/cli.sh"
short=(--min-time 0.001 --max-time 0.02 --warm-up 0 --quiet)

# peaks: each thread count once, every value positive; a file of them serves bench.
"$benchcnn" peaks --impl cpu --threads 2 --min-time 0.001 --out "$tmp/peaks.jsonl" >"$tmp/out" || fail "peaks"
for what in 'fma' 'read' 'copy' 'triad' 'gemm openblas f64'; do
    grep -qE "^  $what" "$tmp/out" || fail "peaks does not show $what: $(cat "$tmp/out")"
done
for threads in 1 2; do
    grep -q "\"kind\":\"peak\",\"what\":\"copy\".*\"threads\":$threads}" "$tmp/peaks.jsonl" || fail "no copy, $threads threads"
done
"$benchcnn" bench --impl cpu:direct --threads 2 --problem 'mb2ic4ih8oc4kh3ph1n"small"' --dir FWD "${short[@]}" --samples \
    --peaks "$tmp/peaks.jsonl" --out "$tmp/bench.jsonl" >"$tmp/out" || fail "bench: $(cat "$tmp/out")"
holds "the record" "$tmp/bench.jsonl" \
    '"floor_s":|"floor_by":|"share":|"plan_s":|"setup_s":|"first_s":|"warm_up_s":|"clock_s":|"samples_s":|"dependence":|"marks":|"machine":'
grep -q "\"peaks_from\":\"$tmp/peaks.jsonl\"" "$tmp/bench.jsonl" || fail "where the ceilings are from is not said"
grep -qE '% of (fma|gemm|read|copy|triad)' "$tmp/out" || fail "the share is not shown: $(cat "$tmp/out")"

# What a ceiling forbids is no figure; one that bears a mark of its own casts doubt on the share: in the figure's marks.
bench() { "$benchcnn" bench --impl cpu:direct --threads 2 --problem mb2ic4ih8oc4kh3ph1 --dir FWD "${short[@]}" "$@" >"$tmp/out"; }
marks() { grep '"kind":"conv"' "$1" | grep -o '"marks":"[^"]*"'; }
sed 's/"value":[0-9.e+]*,"unit":"flop/"value":1000,"unit":"flop/; s/"marks":"[^"]*"/"marks":""/' "$tmp/peaks.jsonl" >"$tmp/low.jsonl"
bench --peaks "$tmp/low.jsonl" --out "$tmp/low_bench.jsonl"
grep -q 'FAILED: it takes .* allows no less than' "$tmp/out" && ! grep -q median_s "$tmp/low_bench.jsonl" || fail "a figure that cannot be is given: $(cat "$tmp/out")"
sed 's/"value":[0-9.e+]*,"unit":"flop/"value":1e15,"unit":"flop/; s/"marks":"[^"]*"/"marks":""/' "$tmp/peaks.jsonl" >"$tmp/high.jsonl"
sed -i 's/"value":[0-9.e+]*,"unit":"byte/"value":1e15,"unit":"byte/' "$tmp/high.jsonl"
bench --peaks "$tmp/high.jsonl" --out "$tmp/high_bench.jsonl"
marks "$tmp/high_bench.jsonl" | grep -q ceiling && fail "a share below 100 % is marked"
sed -i 's/"marks":""/"marks":"disturbed"/' "$tmp/high.jsonl"
bench --peaks "$tmp/high.jsonl" --out "$tmp/doubt_bench.jsonl"
marks "$tmp/doubt_bench.jsonl" | grep -q ceiling || fail "a share of a marked ceiling is not marked"

# Ceilings of another number of threads are none; bench measures its own, and records them.
"$benchcnn" bench --impl cpu:direct --threads 1 --problem mb2ic4ih8oc4kh3ph1 --dir FWD "${short[@]}" \
    --peaks "$tmp/peaks.jsonl" >/dev/null 2>"$tmp/err" || fail "bench with 1 thread"
sed -i '/"threads":1}/d' "$tmp/peaks.jsonl"
"$benchcnn" bench --impl cpu:direct --threads 1 --problem mb2ic4ih8oc4kh3ph1 --dir FWD "${short[@]}" \
    --peaks "$tmp/peaks.jsonl" --out "$tmp/none.jsonl" >/dev/null 2>"$tmp/err" || fail "bench without ceilings"
grep -q 'no floors for cpu.*1 thread$' "$tmp/err" || fail "missing ceilings are not said: $(cat "$tmp/err")"
grep -q floor_s "$tmp/none.jsonl" && fail "a floor from another number of threads"
"$benchcnn" bench --impl cpu:direct --problem mb2ic4ih8oc4kh3ph1 --dir FWD "${short[@]}" --peaks none \
    --out "$tmp/none2.jsonl" >/dev/null || fail "bench --peaks none"
grep -q '"kind":"peak"' "$tmp/none2.jsonl" && fail "--peaks none measures all the same"
"$benchcnn" bench --impl cpu:direct --net thesis --batch 2 --cache network --dir BWD "${short[@]}" --peaks none \
    --out "$tmp/net.jsonl" >"$tmp/out" || fail "bench --cache network: $(cat "$tmp/out")"
[ "$(grep -c '"cache":"network"' "$tmp/net.jsonl")" -eq 6 ] || fail "three layers, two directions: $(cat "$tmp/out")"

# Interrupted: what was measured is recorded.
"$benchcnn" peaks --impl cpu --min-time 0.2 --out "$tmp/cut.jsonl" >/dev/null 2>"$tmp/err" &
pid=$!
for _ in $(seq 200); do grep -qs '"kind":"peak"' "$tmp/cut.jsonl" && break; sleep 0.1; done
kill -INT $pid
wait $pid
[ $? -eq 130 ] || fail "an interrupt did not end peaks with 130: $(cat "$tmp/err")"
grep -q '"kind":"peak"' "$tmp/cut.jsonl" || fail "an interrupt lost what was measured"

# The picture.
refused 'plot roofline FILE' plot roofline
refused 'no figures' plot roofline "$tmp/peaks.jsonl"
refused 'benchcnn peaks --threads 2' plot roofline "$tmp/bench.jsonl"

# A name may begin and end with a quote, which gnuplot reads in its own way.
sed "s/small/'its small'/g" "$tmp/bench.jsonl" >"$tmp/quoted.jsonl"

# A GPU's figures stand under its ceilings, whatever the number of the host's threads was.
as_gpu() { sed -e 's/"machine":"[^"]*"/"machine":"Some GPU"/' -e 's/"implementation":{/&"gpu":"Some GPU",/' "$@"; }
refused 'no ceilings of Some GPU in these' plot roofline <(as_gpu "$tmp/none.jsonl") "$tmp/peaks.jsonl"
as_gpu "$tmp/bench.jsonl" "$tmp/none.jsonl" >"$tmp/gpu.jsonl"
as_gpu "$tmp/peaks.jsonl" | sed 's/"threads":2}/"threads":16}/' >"$tmp/gpu_peaks.jsonl"

command -v gnuplot >/dev/null || { echo "SKIPPED: gnuplot is not installed"; finish && exit 77; exit 1; }
mkdir "$tmp/tmp"
TMPDIR=$tmp/tmp "$benchcnn" plot roofline "$tmp/bench.jsonl" "$tmp/peaks.jsonl" "$tmp/none.jsonl" --out "$tmp/roof" \
    >/dev/null 2>"$tmp/err" || fail "plot roofline: $(cat "$tmp/err")"
[ -z "$(ls "$tmp/tmp")" ] || fail "temporary files are left"
[ "$(head -c 8 "$tmp/roof.png" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] || fail "the PNG is none"
holds "the SVG" "$tmp/roof.svg" 'cpu:direct|small|2 threads|gemm openblas f32|GFLOP/s|BWD_W'
grep -q '1 figure of others' "$tmp/err" || fail "left-out figures are not counted: $(cat "$tmp/err")"
"$benchcnn" plot roofline "$tmp/quoted.jsonl" "$tmp/peaks.jsonl" --out "$tmp/quoted" >/dev/null 2>"$tmp/err" || fail "plot of a quoted name: $(cat "$tmp/err")"
sed "s/&#39;/'/g" "$tmp/quoted.svg" >"$tmp/shown" && holds "the SVG of a quoted name" "$tmp/shown" "'its small'"
"$benchcnn" plot roofline "$tmp/gpu.jsonl" "$tmp/gpu_peaks.jsonl" --out "$tmp/gpu" >/dev/null 2>"$tmp/err" ||
    fail "plot roofline of a GPU: $(cat "$tmp/err")"
grep -q 'left out' "$tmp/err" && fail "figures of a GPU are left out: $(cat "$tmp/err")"
grep -qF 'Some GPU' "$tmp/gpu.svg" || fail "the SVG does not name the GPU"
grep -qF ' thread' "$tmp/gpu.svg" && fail "the SVG of a GPU tells of threads"
# A bandwidth whose label no peak would leave room for stands on the right, not rotated; one that is struck through, moves.
grep '"what":"copy".*"threads":2' "$tmp/peaks.jsonl" | sed 's/"what":"copy","variant":"[^"]*","value":[^,]*/"what":"read","variant":"L9","value":1e15/; s/"holds_bytes":[0-9]*/"holds_bytes":1000/' >"$tmp/fast.jsonl"
"$benchcnn" plot roofline "$tmp/bench.jsonl" "$tmp/peaks.jsonl" "$tmp/fast.jsonl" --out "$tmp/fast" >/dev/null 2>"$tmp/err" || fail "plot of a fast cache: $(cat "$tmp/err")"
tr -d '\n' <"$tmp/fast.svg" | grep -qE '<g transform="translate\([0-9.]+,[0-9.]+\)"[^>]*>[^/]*read L9' || fail "a bandwidth without room for its label is not named on the right"
# A roof whose ends are both outside, the right one by a digit, is drawn from edge to edge.
sed 's/"flops":[0-9.e+]*/"flops":12812800/; s/"bytes":[0-9.e+]*/"bytes":206480/' "$tmp/bench.jsonl" >"$tmp/far.jsonl"
"$benchcnn" plot roofline "$tmp/far.jsonl" "$tmp/peaks.jsonl" "$tmp/fast.jsonl" --out "$tmp/far" >/dev/null 2>"$tmp/err" || fail "plot of a far point: $(cat "$tmp/err")"
tr -d '\n' <"$tmp/far.svg" | grep -qE "<path stroke='rgb\( 34,  34,  34\)' +d='M[0-9.]+,([0-9.]+) L[0-9.]+,\1 " || fail "a roof from edge to edge is not drawn"
finish
