#!/usr/bin/env bash
# test_alarms.sh BENCHCNN CC CXX: bench/false_alarms.sh with few processes: what it counts, on the CPU and, in a build that
# emulates CUDA, with the planted kernels of a GPU; it ends in time, and goes on where it was stopped. Verdicts are of no
# concern: here other work goes on, and emulated times mean nothing.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
command -v jq >/dev/null || { echo "SKIPPED: jq is not installed"; exit 77; }
export BENCHCNN=$benchcnn CC=$2 PROCESSES=2
problem=(--problem mb1ic2ih6oc4kh3ph1 --threads 1 --warm-up 0 --min-time 0.001 --max-time 0.01)
alarms() { # FOLDER OPTIONS...
    tests=$((tests + 1))
    bench/false_alarms.sh "$tmp/$1" "${problem[@]}" "${@:2}" >"$tmp/out" 2>&1 || fail "false_alarms.sh $* ended with $?: $(tail -q -n 3 "$tmp/out" "$tmp/$1/log")"
}
says() { grep -qE -- "$1" "$tmp/out" || fail "nothing like '$1': $(cat "$tmp/out")"; }
rounds() { grep -c "\"round\":$2,\"arm\"" "$1"; }
figures() { grep '"arm":' "$@"; }

# counted FOLDER OPTIONS...: two trials of four candidates and A', stopped in the first.
counted() {
    local folder=$tmp/$1
    ALARM_SECONDS=0 TRIALS=2 alarms "$@"
    says '^0 trials of 2 rounds run'
    says '^0 of 2 trials are there: the same command goes on'
    TRIALS=1 alarms "$@"
    says '^1 trials of 2 rounds run'
    says '^margin 0%, 2 rounds  plus5: of 1 SLOWER '
    [ "$(figures "$folder/1.jsonl" | wc -l)" -eq 10 ] || fail "$1: a trial has not ten figures: $(figures "$folder/1.jsonl")"
    figures "$folder/1.jsonl" | grep -v '"verified":true' && fail "$1: a figure was not verified"
    figures "$folder/1.jsonl" | grep '"round":1,' >"$tmp/before"
    grep -vE '"kind":"end"|"round":2|"number":1' "$folder/1.jsonl" >"$tmp/stopped"
    cp "$tmp/stopped" "$folder/1.jsonl"
    TRIALS=2 alarms "$@"
    says '^2 trials of 2 rounds run'
    figures "$folder/1.jsonl" | grep '"round":1,' | cmp - "$tmp/before" || fail "$1: a round that was there was run again"
    [ "$(rounds "$folder/1.jsonl" 2)" -eq 5 ] || fail "$1: a trial that was stopped does not go on"
    for candidate in same plus2 plus5; do says "^margin 1%, 2 rounds  $candidate: of 2 SLOWER [0-2], FASTER [0-2], SAME [0-2], CANNOT TELL [0-2]; middle of the ratios [0-9.]+$"; done
    says '^margin 1%, 4 rounds  plus5: of 1 SLOWER '
    says '^margin 1%, 2 rounds  A/A: of 2 in [0-2] the baseline differs from itself$'
    grep -v '^[0-9]* trials of' "$tmp/out" >"$tmp/table"
    ALARM_SECONDS=0 TRIALS=2 alarms "$@"
    says '^0 trials of 2 rounds run'
    grep -v '^[0-9]* trials of' "$tmp/out" | cmp - "$tmp/table" || fail "$1: the same trials are counted otherwise"
}
counted cpu --together

if "$benchcnn" list | grep -q '(emulated'; then # three times more work takes longer, whatever else goes on
    "${3:?}" -std=c++17 -O1 -x c++ -shared -fPIC -fvisibility=hidden -DBENCHCNN_CUDA_EMULATED -DEMULATED_CLOCK=CLOCK_MONOTONIC -D_GNU_SOURCE \
        -I. -Iharness -Itests/cheats -o "$tmp/planted.so" tests/cli/planted.cu harness/cuda/emulated/{block,fault,fiber,runtime,stream}.cpp -pthread ||
        fail "planted.cu is not compiled"
    export PLANTED=$tmp/planted.so
    counted gpu --together
    plugin=(--plugin "$tmp/planted.so" --dir FWD --quiet)
    "$benchcnn" verify "${plugin[@]}" --impl 'planted:*' --op conv --problem mb2ic2ih5oc3kh3ph1 --problem mb1g2ic4ih6oc4kh3sh2dh1 >"$tmp/out" 2>&1 ||
        fail "planted.cu is wrong: $(tail -5 "$tmp/out")"
    says ' 0 FAILED 10 PASSED'
    "$benchcnn" bench "${plugin[@]}" --impl planted:plain,planted:plus300 "${problem[@]}" --processes 3 --together --out "$tmp/slow.jsonl" >"$tmp/out" 2>&1 || fail "bench: $(cat "$tmp/out")"
    least() { figures "$tmp/slow.jsonl" | grep "\"algorithm\":\"$1\"" | sed 's/.*"min_s":\([^,]*\),.*/\1/' | sort -g | head -1; }
    awk "BEGIN { exit !($(least plus300) > 2 * $(least plain)) }" || fail "three times more work takes $(least plus300) s, none $(least plain) s"
fi
finish
