#!/usr/bin/env bash
# test_warning.sh BENCHCNN: a variable that tunes a library in the processor's place is said once by what times, is in every
# record of a figure, and parts these figures from others; one that decides over nothing is not mentioned.
set -u
benchcnn=$(realpath "$1")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE OPENBLAS_BLOCK_FACTOR
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 CUDA_VISIBLE_DEVICES= # of no consequence
problem=(--impl cpu:direct,cpu:im2col --problem mb4ic3ih9oc5kh3 --dir FWD --min-time 0.002 --max-time 0.01 --warm-up 0 --quiet)
job=(--impl cpu:direct,cpu:im2col --net thesis --data synthetic --images 40,20 --batch 20 --quiet)
said() { grep -c 'warning: OPENBLAS_CORETYPE=Prescott is set' "$tmp/log"; }

check() { # KIND COMMAND...: records of that kind are figures
    local kind=$1
    shift
    "$benchcnn" "$@" --out "$tmp/plain" >"$tmp/log" 2>&1 || fail "$*: $(cat "$tmp/log")"
    grep -q warning "$tmp/log" "$tmp/plain" && fail "$1: a warning of nothing: $(grep -h warning "$tmp/log" "$tmp/plain" | head -1)"
    OPENBLAS_CORETYPE=Prescott "$benchcnn" "$@" --out "$tmp/warned" >"$tmp/log" 2>&1 || fail "$*: $(cat "$tmp/log")"
    [ "$(said)" -eq 1 ] || fail "$1: not said once, but $(said) times: $(cat "$tmp/log")"
    grep -q '"kind":"env".*"warning.OPENBLAS_CORETYPE":"OPENBLAS_CORETYPE=Prescott' "$tmp/warned" || fail "$1: the environment does not say so"
    [ "$(grep -c "\"kind\":\"$kind\"" "$tmp/warned")" -ge 2 ] || fail "$1: no figures"
    grep "\"kind\":\"$kind\"" "$tmp/warned" | grep -v '"warnings":{"OPENBLAS_CORETYPE":"' && fail "$1: a figure that does not say so"
    for files in "$tmp/plain $tmp/warned" "$tmp/warned $tmp/plain"; do # figures of both are no equals
        # shellcheck disable=SC2086
        "$benchcnn" compare $files >"$tmp/log" 2>&1
        grep -q 'environments differ: cpu.warning.OPENBLAS_CORETYPE was ' "$tmp/log" || fail "$1: compare does not tell: $(cat "$tmp/log")"
    done
    rm "$tmp/plain" "$tmp/warned"
}
check conv bench --peaks none "${problem[@]}"
check sweep sweep threads --peaks none --threads 2 "${problem[@]}"
check epoch sweep batch "${job[@]}"
check epoch train "${job[@]}" --epochs 2

# A sweep that was begun without it does not go on with it.
sweep=("$benchcnn" sweep algorithm --peaks none "${problem[@]}" --out "$tmp/sweep.jsonl")
"${sweep[@]}" >"$tmp/log" 2>&1
OPENBLAS_CORETYPE=Prescott "${sweep[@]}" >"$tmp/log" 2>&1
grep -q '^2 points run .*2 of them again' "$tmp/log" || fail "points that were measured without the variable stand for those with it: $(cat "$tmp/log")"
# Empty, it is as if it were not set. Yet OpenBLAS 0.3.21 may then take another core, and those are other figures.
core() { grep -o '"openblas_core":"[^"]*"' "$1" | tail -1; }
OPENBLAS_CORETYPE= "$benchcnn" bench --peaks none "${problem[@]}" --out "$tmp/empty" >"$tmp/log" 2>&1 || fail "$(cat "$tmp/log")"
"$benchcnn" bench --peaks none "${problem[@]}" --out "$tmp/plain" >"$tmp/log" 2>&1 || fail "$(cat "$tmp/log")"
grep -q warning "$tmp/empty" && fail "an empty variable is warned of: $(grep -m1 warning "$tmp/empty")"
expected=0
[ "$(core "$tmp/empty")" = "$(core "$tmp/plain")" ] || expected=2
OPENBLAS_CORETYPE= "${sweep[@]}" >"$tmp/log" 2>&1
grep -q "^$expected points run" "$tmp/log" || fail "an empty variable counts: not $expected points run: $(cat "$tmp/log")"

# A variable that binds all threads to one core, where an OpenMP library is loaded with the program.
if ldd "$benchcnn" | grep -qE 'lib(g|i|)omp' && [ "$(nproc)" -gt 1 ]; then
    for bind in close false ''; do
        OMP_PROC_BIND=$bind "$benchcnn" bench --peaks none "${problem[@]}" --out "$tmp/bound" >"$tmp/log" 2>&1 || fail "$(cat "$tmp/log")"
        expected=0
        [ "$bind" != close ] || expected=1
        [ "$(grep -c 'warning: OMP_PROC_BIND=close is set, and all threads share 1 of [0-9]* cores: unset it' "$tmp/log")" -eq $expected ] ||
            fail "OMP_PROC_BIND=$bind: not said $expected times: $(cat "$tmp/log")"
        rm "$tmp/bound"
    done
fi
echo "warnings: all held"
