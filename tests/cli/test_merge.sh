#!/usr/bin/env bash
# test_merge.sh BENCHCNN: merge gathers the records of shards: each once, environments apart; what differs, is missing or
# torn is named.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"

merges() { # STATUS WORDS FILE...: into $tmp/all.jsonl, anew; what it says stands in $tmp/out
    local wanted=$1 words=$2 status
    shift 2
    tests=$((tests + 1))
    rm -f "$tmp/all.jsonl"
    "$benchcnn" merge "$@" --out "$tmp/all.jsonl" >"$tmp/out" 2>&1
    status=$?
    [ $status -eq "$wanted" ] || fail "merge $* ended with $status, not $wanted: $(cat "$tmp/out")"
    holds "merge $*" "$tmp/out" "$words"
}
says_not() { grep -qE -- "$1" "$tmp/out" && fail "'$1' is said: $(cat "$tmp/out")"; }

command=(verify --impl cpu:naive,cpu:direct --problem mb2ic4ih8oc4kh3 --problem mb1ic3ih7oc5kh3sh2ph1 --check exact --seed 5 --quiet)
for i in 1 2 3; do
    "$benchcnn" "${command[@]}" --shard $i/3 --out "$tmp/s$i.jsonl" >/dev/null 2>"$tmp/err" || fail "shard $i: $(cat "$tmp/err")"
done
"$benchcnn" "${command[@]}" --out "$tmp/one.jsonl" >"$tmp/one.log" 2>&1 || fail "one run: $(cat "$tmp/one.log")"

# All shards: every line as it was, once; the tallies of one run.
merges 0 '3 of 3 shards, 12 cases: 12 PASSED|0 exact duplicates dropped|environment 1: ' "$tmp"/s[123].jsonl
grep -q '^12 cases: 0 FAILED 12 PASSED' "$tmp/one.log" || fail "one run: $(cat "$tmp/one.log")"
says_not 'environment 2|MISSING|UNFINISHED|DIFFERS|differ'
diff <(sort "$tmp"/s[123].jsonl) <(sort "$tmp/all.jsonl") >"$tmp/diff" || fail "merged lines differ: $(head -3 "$tmp/diff")"
"$benchcnn" table "$tmp/all.jsonl" --format csv >"$tmp/csv" 2>/dev/null || fail "what was merged makes no table"
[ "$(grep -c exact "$tmp/csv")" -eq 12 ] || fail "the table of what was merged: $(head -3 "$tmp/csv")"
cp "$tmp/all.jsonl" "$tmp/merged.jsonl"

# The same lines again, in another file or in the same: dropped and counted.
lines=$(wc -l <"$tmp/s2.jsonl")
merges 0 "3 of 3 shards, 12 cases: 12 PASSED|$lines exact duplicates dropped" "$tmp"/s[123].jsonl "$tmp/s2.jsonl"
cmp -s "$tmp/all.jsonl" "$tmp/merged.jsonl" || fail "duplicates changed what is merged"
merges 0 "$(wc -l <"$tmp/merged.jsonl") exact duplicates" "$tmp/merged.jsonl" "$tmp"/s[123].jsonl
cmp -s "$tmp/all.jsonl" "$tmp/merged.jsonl" || fail "what was merged does not merge"

# Missing and unfinished shards, and commands; a torn line with its file and number.
merges 1 "MISSING     2/3 of benchcnn verify|2 of 3 shards|1 command is incomplete" "$tmp"/s[13].jsonl
merges 1 "MISSING     1/3 3/3 of benchcnn verify" "$tmp/s2.jsonl"
sed '$d' "$tmp/s3.jsonl" >"$tmp/torn.jsonl"
printf '{"kind":"verify","impl":"cp' >>"$tmp/torn.jsonl"
merges 1 "UNFINISHED  3/3 of benchcnn verify|torn.jsonl:$(wc -l <"$tmp/s3.jsonl"): no record|3 of 3 shards, 12 cases" "$tmp"/s[12].jsonl "$tmp/torn.jsonl"
says_not MISSING
merges 0 "torn.jsonl:" "$tmp"/s[123].jsonl "$tmp/torn.jsonl" # the whole of it is there, too
sed '$d' "$tmp/one.jsonl" >"$tmp/cut.jsonl"
merges 1 "UNFINISHED  benchcnn verify" "$tmp/cut.jsonl"

# The same case in the same environment with another verdict; in another environment it is another matter.
sed 's/"state":"PASSED"/"state":"FAILED"/' "$tmp/s1.jsonl" | grep '"kind":"\(env\|verify\)"' | head -2 >"$tmp/other.jsonl"
merges 1 "DIFFERS     kind=verify impl=cpu algorithm=|check=exact: PASSED in $tmp/s1.jsonl:|, FAILED in $tmp/other.jsonl:2|; 1 differ" "$tmp"/s[123].jsonl "$tmp/other.jsonl"
sed 's/"cpu":"[^"]*"/"cpu":"Another 1"/' "$tmp/other.jsonl" >"$tmp/elsewhere.jsonl"
merges 0 "environment 2: |Another 1|: 2 records" "$tmp"/s[123].jsonl "$tmp/elsewhere.jsonl"
says_not DIFFERS
# The same shard on two hosts: both are kept, its cases count once.
sed 's/"host":"[^"]*"/"host":"elsewhere"/' "$tmp/s1.jsonl" >"$tmp/s1b.jsonl"
merges 0 "environment 2: elsewhere: |3 of 3 shards, 12 cases: 12 PASSED|0 exact duplicates" "$tmp"/s[123].jsonl "$tmp/s1b.jsonl"
[ "$(wc -l <"$tmp/all.jsonl")" -eq "$(cat "$tmp"/s[123].jsonl "$tmp/s1b.jsonl" | wc -l)" ] || fail "records of another host are dropped"

# Random cases: their tallies are those of one run. A shard may write elsewhere, with other workers, in other words.
random=(verify --impl cpu --fuzz 60 --seed 9)
"$benchcnn" "${random[@]}" --quiet --out "$tmp/r.jsonl" >"$tmp/one.log" 2>&1 || fail "random cases: $(cat "$tmp/one.log")"
"$benchcnn" "${random[@]}" --shard 1/2 --jobs 1 --out "$tmp/r 1.jsonl" >/dev/null 2>&1
"$benchcnn" "${random[@]}" --quiet "--out=$tmp/r'2.jsonl" --shard=2/2 >/dev/null 2>&1
merges 0 "benchcnn verify --impl cpu --fuzz 60 --seed 9: 2 of 2 shards, 60 cases: $(sed -n 's/^60 of 60 cases: 0 FAILED \([0-9]* PASSED\).*/\1/p' "$tmp/one.log")" "$tmp/r 1.jsonl" "$tmp/r'2.jsonl"

# Sweeps, and whatever has no beginning, have no end either.
for i in 1 2; do
    "$benchcnn" sweep algorithm --impl cpu:naive,cpu:direct --problem mb2ic4ih8oc4kh3 --dir FWD,BWD_D --peaks none --min-time 0.001 --max-time 0.01 \
        --warm-up 0 --quiet --shard $i/2 --out "$tmp/w$i.jsonl" >/dev/null 2>&1 || fail "sweep, shard $i"
done
merges 0 '2 of 2 shards' "$tmp"/w[12].jsonl
merges 1 'MISSING     1/2 of benchcnn sweep' "$tmp/w2.jsonl"
merges 0 'environment 1: not recorded: 1 record' <(echo '{"kind":"conv","median_s":1}')

# What cannot be.
refused "merge needs --out FILE" merge "$tmp/s1.jsonl"
refused "needs more words" merge --out "$tmp/x.jsonl"
refused "one.jsonl is there already" merge "$tmp/s1.jsonl" --out "$tmp/one.jsonl"
refused "cannot be written" merge "$tmp/s1.jsonl" --out "$tmp/none/x.jsonl"
refused "cannot read $tmp/none.jsonl" merge "$tmp/none.jsonl" --out "$tmp/x.jsonl"
[ -e "$tmp/x.jsonl" ] && fail "a file is left where nothing was merged"
: >"$tmp/void"
merges 3 "void holds no records|there is no record to merge" "$tmp/void"
[ -e "$tmp/all.jsonl" ] && fail "a file without records is written"
merges 3 "README.md:1: no record|more lines are no records" README.md
finish
