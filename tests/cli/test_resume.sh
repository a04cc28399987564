#!/usr/bin/env bash
# test_resume.sh BENCHCNN: verify and bench that are interrupted or killed go on with the same command: no finished record
# is lost, none is made twice, and what an earlier run found still counts. What was finished is another run.
set -u
benchcnn=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
of_kind() { grep "^{\"kind\":\"$2\",.*}\$" "$1" 2>/dev/null; }
seeds() { of_kind "$1" "$2" | grep -oE -- '--seed [0-9]+' | sort -u | wc -l; } # how many
count() { of_kind "$1" "$2" | wc -l; }
# What tells the records of a kind apart, sorted.
keys() { of_kind "$1" "$2" | grep -oE '"(impl|algorithm|op|problem|dir|dtype|layout|check)":"([^"\\]|\\.)*"' | paste -sd' ' | sed 's/"impl"/\n&/g' | sed 's/ *$//' | sort; }

stop() { # SIGNAL FILE KIND COUNT COMMAND...: the command is stopped when the file holds so many records of the kind
    local signal=$1 file=$2 kind=$3 enough=$4 pid status
    shift 4
    "$@" >/dev/null 2>&1 &
    pid=$!
    for _ in $(seq 3000); do
        [ "$(count "$file" "$kind")" -ge "$enough" ] && break
        sleep 0.02
    done
    kill -s "$signal" $pid 2>/dev/null
    wait $pid
    status=$?
    [ "$signal" = KILL ] || [ $status -eq 130 ] || fail "an interrupted $2 ended with $status, not 130"
    [ "$(count "$file" end)" -eq 0 ] || fail "SIG$signal came too late to test anything"
}

# Verify: three times stopped, half a record left behind, and then to the end: the records of one that never was.
ic=16 oc=16
[ -z "${TEST_SANITIZED:-}" ] || ic=8 oc=4 # as slow
printf "mb%dic8ih16oc${oc}kh3ph1\\n" 2 3 4 5 6 7 8 9 10 11 12 13 >"$tmp/several" # 72 cases: more than are waited for
verify=("$benchcnn" verify --impl cpu:direct,cpu:im2col --op conv --problems "$tmp/several" --check exact,bound --quiet)
"${verify[@]}" --out "$tmp/whole.jsonl" >"$tmp/log" 2>&1 || fail "verify: $(tail -3 "$tmp/log")"
for isolate in "" --isolate; do
    out=$tmp/verify$isolate.jsonl
    command=("${verify[@]}" $isolate --out "$out")
    stop KILL "$out" verify 3 "${command[@]}"
    printf '{"kind":"verify","half a rec' >>"$out"
    [ -n "$isolate" ] || stop INT "$out" verify 40 "${command[@]}"
    [ -n "$isolate" ] || stop KILL "$out" case 20 "${command[@]}"
    sleep 0.2 # a killed parent's child
    before=$(count "$out" case)
    "${command[@]}" >"$tmp/log" 2>&1 || fail "verify $isolate did not go on: $(tail -3 "$tmp/log")"
    grep -q "^$before cases were finished before" "$tmp/log" || fail "verify $isolate did not go on behind case $before: $(tail -3 "$tmp/log")"
    [ "$(keys "$out" verify)" = "$(keys "$tmp/whole.jsonl" verify)" ] || fail "stopped and resumed, verify $isolate has other records"
    [ "$(count "$out" case)" -eq "$(count "$tmp/whole.jsonl" case)" ] || fail "stopped and resumed, verify $isolate has other cases"
    [ "$(grep ' cases: ' "$tmp/log")" ] || fail "no summary"
    [ "$(seeds "$out" verify)" -eq 1 ] || fail "stopped and resumed, verify $isolate has data of $(seeds "$out" verify) seeds"
done
cases=$(grep -o '^[0-9]* cases: .*PASSED' "$tmp/log")
"${verify[@]}" >"$tmp/log" 2>&1
grep -q "^$cases" "$tmp/log" || fail "what was finished before is not counted: $cases"
"${command[@]}" >/dev/null 2>&1
[ "$(count "$out" verify)" -eq $((2 * $(count "$tmp/whole.jsonl" verify))) ] || fail "a finished verify is not run anew"
[ "$(seeds "$out" verify)" -eq 2 ] || fail "a finished verify is run anew with the same data"

# A word that is no descriptor is refused once, and still ends with status 2.
printf 'mb2ic4ih8oc4kh3\nmb2icxih8\n%s\n' "$(printf "mb%dic${ic}ih16oc${oc}kh3ph1\\n" 2 3 4 5 6 7 8 9)" >"$tmp/problems"
command=("$benchcnn" verify --impl cpu:naive --problems "$tmp/problems" --quiet --out "$tmp/words.jsonl")
stop KILL "$tmp/words.jsonl" case 6 "${command[@]}"
"${command[@]}" >/dev/null 2>&1
[ $? -eq 2 ] || fail "a refused word is forgotten when verify goes on"
[ "$(of_kind "$tmp/words.jsonl" verify | grep -c REFUSED)" -eq 1 ] || fail "a word is refused more than once"
# Bench: stopped in the first of six passes and again in a later one. Each algorithm is in each pass, once.
command=("$benchcnn" bench --impl cpu:direct,cpu:im2col --problem mb2ic4ih8oc4kh3 --dir FWD --repeat 6 --quiet
    --peaks none --min-time 0.02 --max-time 0.03 --warm-up 0 --out "$tmp/bench.jsonl")
stop KILL "$tmp/bench.jsonl" conv 3 "${command[@]}"
stop INT "$tmp/bench.jsonl" conv 7 "${command[@]}"
before=$(count "$tmp/bench.jsonl" conv)
"${command[@]}" >"$tmp/log" 2>&1 || fail "bench did not go on: $(tail -3 "$tmp/log")"
grep -q "^12 timed and verified, 0 wrong.*; $before of these already in" "$tmp/log" || fail "not 12 figures, $before of them before: $(tail -1 "$tmp/log")"
[ "$(keys "$tmp/bench.jsonl" conv | grep . | uniq -c | grep -c '^ *6 ')" -eq 2 ] || fail "not each figure six times"
[ "$(count "$tmp/bench.jsonl" conv)" -eq 12 ] || fail "$(count "$tmp/bench.jsonl" conv) figures, not 12"
"${command[@]}" >/dev/null 2>&1
[ "$(count "$tmp/bench.jsonl" conv)" -eq 24 ] || fail "a finished bench is not run anew"

# Another command, in between or with the same file, is another run; so is one whose options differ.
command=("$benchcnn" bench --impl cpu:direct --problem mb2ic4ih8oc4kh3 --quiet --peaks none --min-time 0.05 --max-time 0.05 --out "$tmp/two.jsonl")
stop KILL "$tmp/two.jsonl" conv 1 "${command[@]}"
kept=$(count "$tmp/two.jsonl" conv)
"${command[@]}" --seed 2 >/dev/null 2>&1
[ "$(count "$tmp/two.jsonl" conv)" -eq $((kept + 3)) ] || fail "another command took over what was left"
"${command[@]}" >/dev/null 2>&1
[ "$(count "$tmp/two.jsonl" conv)" -eq 6 ] || fail "what was left was lost behind another command"

# The same command of another program is another run, though it may be of the same commit: a kernel may have changed.
cp "$benchcnn" "$tmp/program"
command=("$tmp/program" verify --impl cpu:naive --op conv --dir FWD --problem mb2ic4ih8oc4kh3 --quiet --out "$tmp/built.jsonl")
cut_off() { "${command[@]}" >"$tmp/log" 2>&1 || fail "a copy does not run: $(tail -3 "$tmp/log")"; sed -i '/"kind":"end"/d' "$tmp/built.jsonl"; }
cut_off
once=$(count "$tmp/built.jsonl" case)
cut_off
[ "$once" -gt 0 ] && [ "$(count "$tmp/built.jsonl" case)" -eq "$once" ] || fail "a copy's verify did not go on"
{ cat "$benchcnn"; printf 'rebuilt'; } >"$tmp/next" && chmod +x "$tmp/next" && mv "$tmp/next" "$tmp/program" # as a linker does
cut_off
[ "$(count "$tmp/built.jsonl" case)" -eq $((2 * once)) ] || fail "another program's cases were kept"
echo "resuming: all held"
