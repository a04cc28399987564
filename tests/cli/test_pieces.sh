#!/usr/bin/env bash
# test_pieces.sh BENCHCNN CC MPI MPIRUN [SANITIZED]: verify, --fuzz and bench over ranks: what one process does, whoever does
# which piece; what a lost rank leaves is gone on from.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/ranks.sh"
[ "$mpi" = ON ] || { echo "no MPI"; exit 77; }
export OPENBLAS_NUM_THREADS=1 # the sanitizers like no threads before a fork

printf 'mb2ic4ih8oc4kh3\nmb2icxih8\nmb1ic3ih7oc5kh3sh2ph1\nmb3ic2ih5oc2kh1\n' >"$tmp/problems"
chosen=(verify --impl cpu:naive,cpu:direct --problems "$tmp/problems" --check exact,bound --seed 5)
random=(verify --impl cpu --check exact,bound --seed 7 --quiet --fuzz 640 "${few_ops[@]}")
short=(--peaks none --min-time 0.001 --max-time 0.01 --warm-up 0 --quiet)
timed=(bench --impl cpu:naive,cpu:direct --threads 1 --problem mb2ic4ih8oc4kh3 --problem mb1ic3ih7oc5kh3 --repeat 4 "${short[@]}")

# ---- One process.
"$benchcnn" "${chosen[@]}" --out "$tmp/chosen.jsonl" >"$tmp/chosen" 2>"$tmp/err"
[ $? -eq 2 ] || fail "one process: $(cat "$tmp/err")"
"$benchcnn" "${random[@]}" --out "$tmp/random.jsonl" >"$tmp/random" 2>"$tmp/err" || fail "one process: $(cat "$tmp/err")"

# ---- Four.
tests=$((tests + 1))
ranks 4 "${chosen[@]}" --out "$tmp/chosen4.jsonl"
[ $? -eq 2 ] || fail "chosen cases on four ranks: $(cat "$tmp/err")"
holds "a bad word on four ranks" "$tmp/err" "bad descriptor 'mb2icxih8'"
same "chosen cases" "$(told verify "$tmp/chosen.jsonl")" "$(told verify "$tmp/chosen4.jsonl")"
same "states of cases" "$(told case "$tmp/chosen.jsonl")" "$(told case "$tmp/chosen4.jsonl")"
same "lines of cases" "$(grep ^PASSED "$tmp/chosen" | sort)" "$(grep ^PASSED "$tmp/out" | sort)"
same "tallies" "$(tallies "$tmp/chosen")" "$(tallies "$tmp/out")"
[ "$(grep '"kind":"verify"' "$tmp/chosen4.jsonl" | grep -cE '"host":"[^"]+","rank":[123],"rank_device":"[^"]+"}$')" -eq "$(count "$tmp/chosen4.jsonl" verify)" ] ||
    fail "a record does not say who made it: $(grep -m1 '"kind":"verify"' "$tmp/chosen4.jsonl")"
[ "$(count "$tmp/chosen4.jsonl" begin) $(count "$tmp/chosen4.jsonl" env) $(count "$tmp/chosen4.jsonl" end)" = "1 3 1" ] || fail "not one beginning, an environment a rank, one end"
tests=$((tests + 1))
ranks 4 "${random[@]}" --out "$tmp/random4.jsonl" || fail "random cases on four ranks: $(cat "$tmp/err")"
same "random cases" "$(counts "$tmp/random.jsonl")" "$(counts "$tmp/random4.jsonl")"
same "tallies" "$(tallies "$tmp/random")" "$(tallies "$tmp/out")"
[ "$(sed -n 's/.*"state":"BLOCK".*"rank":\([0-9]*\),.*/\1/p' "$tmp/random4.jsonl" | wc -l)" -eq 10 ] || fail "not ten blocks"

# A seed that is drawn is one for all; one rank is none.
tests=$((tests + 2))
ranks 3 "${chosen[@]::7}" --quiet --problem mb1ic2ih4oc2kh1 --out "$tmp/drawn.jsonl" >/dev/null
[ "$(grep -o -- '--seed [0-9]*' "$tmp/drawn.jsonl" | sort -u | wc -l)" -eq 1 ] || fail "ranks draw seeds of their own"
ranks 1 "${chosen[@]}" --out "$tmp/alone.jsonl"
same "one rank" "$(told verify "$tmp/chosen.jsonl")" "$(told verify "$tmp/alone.jsonl")"
grep -q '"rank"' "$tmp/alone.jsonl" && fail "one rank says that it is one"

# What was gathered merges: one command, the environment of each host.
merge_says() { # WORDS FILE
    tests=$((tests + 1))
    rm -f "$tmp/merged.jsonl"
    "$benchcnn" merge "$2" --out "$tmp/merged.jsonl" >"$tmp/out" 2>"$tmp/err" || fail "merge: $(cat "$tmp/out" "$tmp/err")"
    holds "merge of $2" "$tmp/out" "$1"
    [ "$(grep -c '^benchcnn ' "$tmp/out")" -eq 1 ] || fail "merge sees not one command: $(cat "$tmp/out")"
}
merges() { # WORDS FILE
    merge_says "$@"
    cmp -s "$2" "$tmp/merged.jsonl" || fail "merge changes records of ranks"
}
sed 's/"host":"[^"]*","rank":2/"host":"elsewhere","rank":2/' "$tmp/chosen4.jsonl" >"$tmp/hosts.jsonl"
merges '19 cases: 18 PASSED 1 REFUSED|environment 2: |elsewhere: ' "$tmp/hosts.jsonl"
# Ranks write a refused case as they come to it: the words do not depend on when.
frame='"kind":"(begin|env)"' refused='"REFUSED"' last='"kind":"end"'
part() { grep -E "$@" "$tmp/chosen4.jsonl" || fail "no records like $*"; }
passed() { part -v "$frame|$refused|$last"; }
{ part "$frame"; part "$refused"; passed; part "$last"; } >"$tmp/early.jsonl"
{ part "$frame"; passed; part "$refused"; part "$last"; } >"$tmp/late.jsonl"
for moment in early late; do merge_says '19 cases: 18 PASSED 1 REFUSED' "$tmp/$moment.jsonl"; done
merges "(seed " "$tmp/drawn.jsonl"
merges "640 cases: " "$tmp/random4.jsonl"

# ---- Figures: each once a --repeat.
tests=$((tests + 1))
figures() { grep -o '"problem":"[^"]*","bias":true,"mode":"[a-z_]*","dir":"[A-Z_]*"' "$1" | sort | uniq -c; }
all_figures() { # FILE: six problems and directions, two algorithms, four times
    [ "$(figures "$1" | wc -l)" -eq 6 ] && [ "$(figures "$1" | grep -c '^ *8 ')" -eq 6 ]
}
ranks 2 "${timed[@]}" --out "$tmp/timed.jsonl" || fail "figures on two ranks: $(cat "$tmp/err")"
all_figures "$tmp/timed.jsonl" || fail "not all figures: $(figures "$tmp/timed.jsonl")"
holds "figures on two ranks" "$tmp/out" '48 timed and verified, 0 wrong|geometric mean'
[ "$(grep -c '^conv mb.* µs.* x' "$tmp/out")" -eq 6 ] || fail "the table of figures has not six rows: $(tail -12 "$tmp/out")"
[ "$(grep -c '"rank":1,"rank_device":"' "$tmp/timed.jsonl")" -ge 48 ] || fail "a figure does not say who made it"
core=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
tests=$((tests + 1))
timeout 60 taskset -c "$core" "$mpirun" --bind-to none -n 3 "$benchcnn" "${timed[@]}" --out "$tmp/shared.jsonl" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] || fail "two ranks that time on one core end with $?: $(cat "$tmp/err")"
holds "two ranks that time on one core" "$tmp/err" 'ranks 1 and 2 of 3 run on the same cores'
[ "$(count "$tmp/shared.jsonl" conv)" -eq 0 ] || fail "two ranks time on one core"

# ---- What cannot be.
tests=$((tests + 2))
ranks 2 "${chosen[@]}" --shard 1/2
[ $? -eq 2 ] || fail "--shard over ranks is taken"
holds "--shard over ranks" "$tmp/err" '--shard 1/2 does not go with 2 ranks'
ranks 2 verify --impl cpu:nothing
[ $? -eq 2 ] || fail "an unknown algorithm on two ranks"

# ---- A rank is lost, or all are stopped; the same command goes on.
lose() { # SIGNAL WHICH FILE KIND ENOUGH ARGUMENTS...: false where it came too late to test anything
    local signal=$1 which=$2 file=$3 kind=$4 enough=$5 launcher status pids
    shift 5
    rm -f "$file"
    "$mpirun" -n "$many" "$benchcnn" "$@" --out "$file" >"$tmp/out" 2>"$tmp/err" &
    launcher=$!
    for _ in $(seq 6000); do
        [ "$(count "$file" "$kind")" -ge "$enough" ] 2>/dev/null && break
        sleep 0.01
    done
    mapfile -t pids < <(pgrep -P $launcher)
    if [ "${#pids[@]}" -eq "$many" ]; then
        if [ "$which" = launcher ]; then kill "-$signal" $launcher; else kill "-$signal" "${pids[which]}"; fi 2>/dev/null
    fi
    wait $launcher
    status=$?
    [ "$(count "$file" end)" -eq 0 ] || return 1
    [ $status -ne 0 ] || fail "a lost rank ($signal $which): status 0"
    [ "$(count "$file" fuzz)" -eq 0 ] || fail "counts of a run that was stopped are recorded as if they were all"
    for _ in $(seq 200); do
        kill -0 "${pids[@]}" 2>/dev/null || break
        sleep 0.05
    done
    kill -0 "${pids[@]}" 2>/dev/null && fail "ranks live on: ${pids[*]}"
    sleep 0.2
    [ -z "$(grep -o '^{"kind":"case","number":[0-9]*' "$file" | sort | uniq -d)" ] || fail "a piece is there twice"
}
lost() { # the same; rank WHICH gets the signal when the file holds so many records; launcher: all
    tests=$((tests + 1))
    for _ in 1 2 3 4 5; do lose "$@" && return; done
    fail "SIG$1 came too late five times: $(cat "$tmp/err")"
}
goes_on() { # FILE ARGUMENTS...
    local file=$1
    shift
    ranks "$many" "$@" --out "$file"
    local status=$?
    [ $status -eq 0 ] || fail "it does not go on, status $status: $(cat "$tmp/err")"
    [ "$(count "$file" end)" -eq 1 ] || fail "no end"
    [ -z "$(grep -o '^{"kind":"case","number":[0-9]*' "$file" | sort | uniq -d)" ] || fail "a piece is done twice"
}
many=4
for how in 'KILL 2' 'KILL 0' 'INT launcher'; do
    # shellcheck disable=SC2086  # two words
    lost $how "$tmp/lost.jsonl" case 3 "${random[@]}"
    goes_on "$tmp/lost.jsonl" "${random[@]}"
    same "random cases, $how" "$(counts "$tmp/random.jsonl")" "$(counts "$tmp/lost.jsonl")"
    same "tallies, $how" "$(tallies "$tmp/random")" "$(tallies "$tmp/out")"
done
whole=(verify --impl $some --op conv --check exact,bound --seed 3 --quiet)
"$benchcnn" "${whole[@]}" --out "$tmp/whole.jsonl" >"$tmp/whole" 2>"$tmp/err" || fail "one process: $(cat "$tmp/err")"
for how in 'KILL 3' 'KILL 0'; do
    # shellcheck disable=SC2086
    lost $how "$tmp/lost.jsonl" case 5 "${whole[@]}"
    goes_on "$tmp/lost.jsonl" "${whole[@]}"
    same "chosen cases, $how" "$(told verify "$tmp/whole.jsonl")" "$(told verify "$tmp/lost.jsonl")"
    same "tallies, $how" "$(tallies "$tmp/whole")" "$(tallies "$tmp/out")"
    holds "a run that goes on" "$tmp/out" 'cases were finished before'
done
many=2
lost KILL 1 "$tmp/lost.jsonl" case 3 "${timed[@]}"
before=$((2 * $(count "$tmp/lost.jsonl" case)))
goes_on "$tmp/lost.jsonl" "${timed[@]}"
all_figures "$tmp/lost.jsonl" || fail "not all figures, of a rank that was lost: $(figures "$tmp/lost.jsonl")"
holds "figures that go on" "$tmp/out" "48 timed and verified, 0 wrong, 0 failed, 0 not supported; $before of these already in"
finish
