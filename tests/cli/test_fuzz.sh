#!/usr/bin/env bash
# --fuzz on a broken implementation: what is found is shrunk, and the printed command alone repeats it.
set -uo pipefail
broken=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OPENBLAS_NUM_THREADS=1 # the sanitizers like no threads before a fork
failures=0

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# expect STATUS COMMAND...: output in $folder/out
expect() {
    local want=$1 got
    shift
    "$@" >"$folder/out" 2>&1
    got=$?
    [ $got -eq "$want" ] || { fail "$* ended with $got, not $want" && tail -5 "$folder/out"; }
}

# The command that was printed, with this program in its place.
repeat_command() { sed -n "s|^    repeat with: $broken ||p" "$folder/out" | head -1; }

# A wrong result: the three sizes that it takes, everything else at its least.
expect 1 "$broken" verify --impl broken:direct --op conv --dir FWD --fuzz 300 --seed 1 --quiet --out "$folder/records"
command=$(repeat_command)
want=' --problem mb1ic3ih1iw1oc1oh1ow1kh1kw1sw2ph0pw0dh1 --dtype f32 --layout nchw --threads 1 --seed '
[[ $command == *"$want"* ]] || fail "'$command' is not the smallest"
grep -q '"repro":"benchcnn verify' "$folder/records" || fail "no record of the failure"
grep -q '"kind":"fuzz"' "$folder/records" || fail "no record of the counts"
expect 1 bash -c "'$broken' $command"
expect 0 bash -c "'$broken' ${command/broken:/cpu:}"

# --quiet shows what failed alone; its line names the checks that failed first, and no share of a bound that is not.
expect 1 "$broken" verify --impl broken:direct --op conv --dir FWD --quiet
head -1 "$folder/out" | grep -q '^FAILED .* | failed: exact bound | passed: .*beyond any bound' || fail "the line of a failure: $(head -1 "$folder/out")"
grep -qE '^PASSED|inf %|-nan' "$folder/out" && fail "--quiet shows what passed, or what is no number"

# --fail-fast: the first failure is the last case that is run; the others are counted; without a failure all are run.
number() { sed -n "s/^$1/\\1/p" "$folder/out"; } # of the last lines: PATTERN with one group
all_of=(--op conv --dir FWD --layout nchw --seed 1 --quiet)
expect 1 "$broken" verify --impl broken:direct "${all_of[@]}"
all=$(number '\([0-9]*\) cases: .*')
expect 1 "$broken" verify --impl broken:direct "${all_of[@]}" --fail-fast --out "$folder/fast"
ran=$(number '\([0-9]*\) cases: 1 FAILED .*') left=$(number '--fail-fast: \([0-9]*\) cases behind the first failure were not run')
[ $((${ran:-0} + ${left:-0})) -eq "$all" ] && [ "${left:-0}" -gt 0 ] || fail "$all cases, with --fail-fast ${ran:-none} and ${left:-none} left"
last=$(grep '"kind":"verify"' "$folder/fast" | tail -1 | grep -o '"problem":"[^"]*"')
grep -F "$last" "$folder/fast" | grep '"state":"FAILED"' >/dev/null || fail "the last case is not the one that failed: $last"
expect 0 "$broken" verify --impl cpu:direct "${all_of[@]}" --fail-fast
[ "$(number '\([0-9]*\) cases: .*')" -eq "$all" ] || fail "nothing fails, and --fail-fast leaves something out"
expect 1 "$broken" verify --impl broken --op pool --dir FWD --seed 1 --quiet --isolate --fail-fast # it crashes, in a process of its own
[ "$(number '[0-9]* cases: \([0-9]*\) FAILED .*')" -eq 1 ] || fail "--isolate --fail-fast: $(tail -3 "$folder/out")"
expect 1 "$broken" verify --impl broken:direct --op conv --dir FWD --fuzz 3000 --like dh1sw2 --seed 1 --jobs 1 --quiet --fail-fast
[ "$(number '[0-9]* of 3000 cases: \([0-9]*\) FAILED .*')" = 1 ] || fail "--fuzz --fail-fast: $(tail -3 "$folder/out")"

# A crash ends its case only.
expect 1 "$broken" verify --impl broken --op pool --dir FWD --fuzz 300 --seed 1 --quiet
grep -q 'signal 6' "$folder/out" || fail "the crash is not named"
grep -q '^300 of 300 cases' "$folder/out" || fail "the run ended with the crash"
command=$(repeat_command)
# Two images and a window of three columns; a global average's window is the image. Which of the two kinds comes first
# depends on the worker that is done first.
[[ $command == *'mb2ic1'*'kw3'* || $command == *'global_avg:mb2ic1'*'iw3'* ]] || fail "'$command' is not the smallest crash"
{ bash -c "'$broken' $command"; } >/dev/null 2>&1
[ $? -eq 134 ] || fail "'$command' does not crash"

# The same cases for any number of workers.
many=400
[ -z "${TEST_SANITIZED:-}" ] || many=100
for jobs in 1 3; do
    "$broken" verify --impl cpu --fuzz $many --seed 7 --jobs $jobs --quiet >"$folder/jobs$jobs" 2>&1 || fail "--jobs $jobs"
    sed -i 's/, [0-9.]* s)$/)/' "$folder/jobs$jobs"
    sort -o "$folder/jobs$jobs" "$folder/jobs$jobs"
done
cmp -s "$folder/jobs1" "$folder/jobs3" || fail "one and three workers do not agree"

# MISTRUSTED is no failure of random cases; of each algorithm the first case is shown, whichever worker came to it.
uniform=(--impl cpu --op pool --dir BWD_D --like mb1ic1 --fuzz 300 --seed 1 --quiet)
for jobs in 1 3; do
    expect 0 "$broken" verify "${uniform[@]}" --jobs $jobs --out "$folder/uniform$jobs.jsonl"
    grep -A2 '^MISTRUSTED' "$folder/out" | sed "s| --jobs [0-9]*||" >"$folder/uniform$jobs"
done
grep -q '^  case [0-9]*, cpu:default pool BWD_D: .*: dx: all expected results are equal$' "$folder/uniform1" || fail "no MISTRUSTED case: $(cat "$folder/uniform1")"
cmp -s "$folder/uniform1" "$folder/uniform3" || fail "one and three workers show different MISTRUSTED cases"
command=$(repeat_command)
grep -qF "\"mistrusted_repro\":\"benchcnn $command\"" "$folder/uniform1.jsonl" || fail "no record of the MISTRUSTED case"
expect 0 "$broken" check "$folder/uniform1.jsonl"
expect 1 bash -c "'$broken' $command"
grep -q '^MISTRUSTED .* | mistrusted: .* | passed: ' "$folder/out" || fail "'$command' is not MISTRUSTED: $(head -1 "$folder/out")"

# What is not supported is not passed.
expect 3 "$broken" verify --impl cpu --op conv --math tf32 --dtype f32 --fuzz 10 --quiet
grep -q '10 UNSUPPORTED' "$folder/out" || fail "unsupported cases are not counted"

# Stopped: by time, by Ctrl-C; what was found stands there.
expect 0 "$broken" verify --impl cpu --fuzz 100000000,0.5s --quiet
expect 0 "$broken" verify --impl cpu --fuzz 0.5s --quiet
grep -q '^[0-9]* cases: 0 FAILED [1-9]' "$folder/out" || fail "the counts of a run without a number: $(tail -1 "$folder/out")"
"$broken" verify --impl cpu --fuzz 100000000 --quiet --out "$folder/stopped" >"$folder/out" 2>&1 &
pid=$!
sleep 1
kill -INT $pid
wait $pid
[ $? -eq 130 ] || fail "an interrupt does not end with 130"
grep -q 'of 100000000 cases: 0 FAILED' "$folder/out" || fail "an interrupt loses the counts"
grep -q '"kind":"fuzz"' "$folder/stopped" && fail "counts of a run that was stopped are recorded as if they were all"

# Bad input.
for amount in 0 x 10x 5,x 0s 1.5; do expect 2 "$broken" verify --fuzz $amount; done
expect 2 "$broken" verify --fuzz 10 --problem mb2ic3ih4oc5kh1

[ $failures -eq 0 ] && echo "all held"
exit $((failures > 0))
