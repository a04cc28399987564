#!/usr/bin/env bash
# test_verify.sh BENCHCNN: what `benchcnn verify` reports of precision, determinism and huge problems; its records.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"

# says STATUS WORDS OPTION...: the exit status, and each of WORDS (separated by '|') on standard output.
says() {
    local wanted=$1 words=$2 status
    shift 2
    tests=$((tests + 1))
    "$benchcnn" verify "$@" >"$tmp/said" 2>"$tmp/err"
    status=$?
    [ $status -eq "$wanted" ] || fail "'verify $*' ended with $status, not $wanted: $(head -c 300 "$tmp/err")"
    holds "'verify $*'" "$tmp/said" "$words" -E
}

problem=(--problem mb3ic5ih9oc6kh3ph1)
says 0 'precision f32: cpu:direct cpu:im2col cpu:naive' --impl cpu:direct,cpu:im2col,cpu:naive "${problem[@]}" --seed 1
says 0 'precision f64: cpu:direct$|precision f32: cpu:direct$' --impl cpu:direct --dtype f32,f64 "${problem[@]}"

# The determinism table: impl_cpu promises the same bits; BWD_W has no single image.
says 0 'runs +threads +position +contexts|cpu:direct +conv +FWD +f32 nchw +yes +yes +yes +yes|cpu:im2col +conv +FWD +f32 nchw +yes +yes|BWD_W f32 nchw +yes +yes +- +yes' \
    --impl cpu --check all,determinism "${problem[@]}" --out "$tmp/records.jsonl"
grep -q '"check":"determinism".*"same_runs":true,"same_threads":true,"same_position":true,"same_contexts":true,"digest":"[0-9a-f]\{16\}"' \
    "$tmp/records.jsonl" || fail "the records lack the bits"
says 0 'determinism . [0-9]' --impl cpu:direct "${problem[@]}"
grep -q contexts "$tmp/said" && fail "a table that was not asked for"

# Above --reference-flops there is no reference, and the line says what took its place.
says 0 'exact: by random projection, a wrong element missed with a probability below 2e-18; bound: [0-9]+ sampled' \
    --impl cpu "${problem[@]}" --reference-flops 1000
says 0 ' 0 FAILED [0-9]+ PASSED .seed' --impl cpu:direct --dir FWD --reference-flops 1
"$benchcnn" verify --impl cpu "${problem[@]}" --reference-flops 0.5 >"$tmp/said" 2>&1
[ $? -eq 2 ] && grep -q -- '--reference-flops is 0.5' "$tmp/said" ||
    fail "--reference-flops 0.5: $(cat "$tmp/said")"

# A direction along which a tiny weight grows: its difference rounds as the larger number does.
says 0 '1 PASSED' --impl cpu:naive --op conv --dir BWD_W --problem mb1ic1ih1oc1kh1 --dtype bf16 --no-bias --seed 1551395711

# --dump: the folder is made, and must be one; nothing failed, so nothing is in it.
says 0 'PASSED' --impl cpu:direct "${problem[@]}" --dump "$tmp/dump"
[ -d "$tmp/dump" ] && [ -z "$(ls "$tmp/dump")" ] || fail "--dump of nothing"
"$benchcnn" verify --impl cpu "${problem[@]}" --dump "$tmp/said" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q 'cannot be made' "$tmp/err" || fail "--dump FILE: $(cat "$tmp/err")"

# --quiet: what holds, and what cannot be asked, is counted alone; why, once for each reason.
"$benchcnn" verify --quiet --impl cpu --math tf32 "${problem[@]}" >"$tmp/said" 2>&1
cases=$(sed -n 's/^ *\([0-9]*\) UNSUPPORTED: math tf32: impl cpu computes in the dtype itself$/\1/p;1q' "$tmp/said")
[ "${cases:-0}" -ge 15 ] && grep -q "^$cases cases: 0 FAILED 0 PASSED $cases UNSUPPORTED" "$tmp/said" ||
    fail "reasons are not counted: $(cat "$tmp/said")"
"$benchcnn" verify --quiet --impl cpu "${problem[@]}" --set '*.workspace_limit=0' >"$tmp/said" 2>&1
grep -Eq '^ +[0-9]+ UNSUPPORTED, such as: [0-9]+ bytes of workspace are needed, and the knob workspace_limit allows 0$' "$tmp/said" &&
    grep -Eq ' 0 FAILED [1-9][0-9]* PASSED' "$tmp/said" || fail "reasons that differ in their numbers: $(cat "$tmp/said")"
"$benchcnn" verify --quiet --impl cpu "${problem[@]}" >"$tmp/said" 2>&1
grep -q '^PASSED' "$tmp/said" && fail "--quiet shows what passed: $(cat "$tmp/said")"

# Nearly all of a kernel in the padding: what would take minutes is refused with the numbers, and its other directions are done.
"$benchcnn" verify --impl cpu:depthwise,cpu:naive --op conv --problem mb1ic1ih1iw65535oc1oh1ow1kh1kw65535 --check bound --seed 1 --quiet >"$tmp/said" 2>&1
grep -q 'UNSUPPORTED: 6.55e+04 products of a tap and a pixel are asked for, and cpu:depthwise would compute 4.29e+09' "$tmp/said" &&
    grep -q '^6 cases: 0 FAILED 5 PASSED 1 UNSUPPORTED' "$tmp/said" || fail "a kernel in the padding: $(cat "$tmp/said")"

# Data are drawn anew in every run, lest a kernel know the answers; --seed gives the same again, to the last digit.
drawn() { # NAME OPTION...: the seed that is shown; the records are in NAME
    local out=$tmp/$1.jsonl
    shift
    tests=$((tests + 1))
    "$benchcnn" verify --quiet --impl cpu:direct "$@" --out "$out" >"$tmp/said" 2>&1 || fail "verify $*: $(cat "$tmp/said")"
    sed -nE 's/.* cases: .*\(seed ([0-9]+).*/\1/p' "$tmp/said"
}
used() { grep -oE '"budget_used":[^,]*' "$tmp/$1.jsonl"; }
one=$(drawn one "${problem[@]}") other=$(drawn other "${problem[@]}")
[ -n "$one" ] && [ "$one" != "$other" ] || fail "two runs have the same data: seeds '$one' and '$other'"
[ "$(used one)" != "$(used other)" ] || fail "two seeds give the same data"
grep -q "\"seed\":$one[,}]" "$tmp/one.jsonl" && grep -q -- "--seed $one" "$tmp/one.jsonl" || fail "the record does not say its seed $one"
[ "$(drawn again "${problem[@]}" --seed "$one")" = "$one" ] && [ "$(used one)" = "$(used again)" ] || fail "--seed $one gives other data"
[ "$(drawn fuzz --fuzz 3)" != "$(drawn fuzz_again --fuzz 3)" ] || fail "--fuzz draws the same cases in every run"

# A network at several batches, and what repeats each: with all that says how its steps are made.
tests=$((tests + 1))
"$benchcnn" verify --impl cpu:gemm --net karv_mlp --batch 2,5 --fuse --seed 1 --threads 1 --out "$tmp/net.jsonl" >"$tmp/said" 2>&1 || fail "two batches: $(cat "$tmp/said")"
for batch in 2 5; do
    grep -q "^PASSED .* net karv_mlp batch $batch f32 " "$tmp/said" || fail "no row of batch $batch: $(cat "$tmp/said")"
    grep "\"batch\":$batch," "$tmp/net.jsonl" | grep -q -- "--net karv_mlp .* --batch $batch --fuse " || fail "a record of batch $batch does not say how to repeat it: $(tail -3 "$tmp/net.jsonl")"
done
"$benchcnn" check "$tmp/net.jsonl" >"$tmp/said" || fail "$(cat "$tmp/said")"
"$benchcnn" verify --impl cpu --batch 2 >"$tmp/said" 2>&1
[ $? -eq 2 ] && grep -q -- '--batch goes with --net' "$tmp/said" || fail "--batch without --net: $(cat "$tmp/said")"

# On a terminal the bar makes room for each row: what stands before "CR, erase" is gone, and no other line has both.
if command -v script >/dev/null; then
    tests=$((tests + 1))
    shown=cpu types=f32,f64
    [ -z "${TEST_SANITIZED:-}" ] || shown=cpu:direct types=f32 # as slow as all of them without
    printf -v quoted ' %q' "$benchcnn" verify --impl $shown --op conv --dir FWD --dtype $types
    TERM=xterm script -qec "stty cols 200; $quoted" /dev/null </dev/null >"$tmp/said"
    sed 's/.*\r\x1b\[K//' "$tmp/said" >"$tmp/shown"
    grep -q '[0-9] left ' "$tmp/said" && grep -q '^PASSED' "$tmp/shown" || fail "no bar, or no row: $(head -3 "$tmp/said")"
    grep 'left.*PASSED' "$tmp/shown" >"$tmp/both" && fail "a row stands behind the bar: $(head -2 "$tmp/both")"
fi

finish
