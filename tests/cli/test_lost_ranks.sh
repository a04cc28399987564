#!/usr/bin/env bash
# test_lost_ranks.sh BENCHCNN CC MPI MPIRUN: work in pieces: a rank is killed at a random moment, the same command goes on,
# and the next one is killed, until all is done: no case is lost or doubled. MOMENTS: how many (3); SEED: which (drawn).
#   MOMENTS=50 tests/cli/test_lost_ranks.sh build/benchcnn cc ON "$(command -v mpirun)"
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/ranks.sh"
[ "$mpi" = ON ] || { echo "no MPI"; exit 77; }
export OPENBLAS_NUM_THREADS=1 # the sanitizers like no threads before a fork
moments=${MOMENTS:-3} killed=0 stuck=0 wholes=0 many=4
RANDOM=${SEED:=$((RANDOM + 1))} # of bash
random=(verify --impl cpu --check exact,bound --seed 7 --quiet --fuzz 1280 "${few_ops[@]}")
chosen=(verify --impl $some --op conv --check exact,bound --seed 3 --quiet)
declare -A seconds
for what in random chosen; do
    declare -n command=$what
    start=$EPOCHREALTIME
    "$benchcnn" "${command[@]}" --out "$tmp/$what.jsonl" >"$tmp/$what" 2>"$tmp/err" || fail "one process: $(cat "$tmp/err")"
    seconds[$what]=$(awk "BEGIN {print $EPOCHREALTIME - $start + 1}") # about what ranks take, who start in a second
done

# Open MPI's launcher, 4.1.4, may wait for a lock of its own for ever when a rank is killed in its first 60 ms: that no rank
# is left is what we ask.
wait_for_launcher() {
    local alone
    for ((alone = 0; alone < 100; )); do
        kill -0 $launcher 2>/dev/null || return
        if ps -o stat= -p "${pids[*]}" | grep -qv Z; then alone=0; else alone=$((alone + 1)); fi
        sleep 0.1
    done
    stuck=$((stuck + 1))
    kill -KILL "$under"
}
# A rank is killed, 0 included, while ranks start, work, or end. False: all had been done before.
kill_one() { # WHAT FILE ARGUMENTS...
    local what=$1 file=$2 launcher under pids status sent=0
    shift 2
    timeout 60 "$mpirun" -n "$many" "$benchcnn" "$@" --out "$file" >"$tmp/out" 2>"$tmp/err" &
    launcher=$!
    sleep "$(awk "BEGIN {print $RANDOM / 32768 * ${seconds[$what]}}")"
    under=$(pgrep -P $launcher)
    mapfile -t pids < <([ -z "$under" ] || pgrep -P "$under")
    [ "${#pids[@]}" -eq "$many" ] && kill -KILL "${pids[RANDOM % many]}" 2>/dev/null && sent=1
    [ $sent -eq 0 ] || wait_for_launcher
    wait $launcher
    status=$?
    [ $status -ne 0 ] || [ "$(count "$file" end)" = 1 ] || fail "status 0, and not all is done (SEED=$SEED)"
    [ $status -ne 124 ] || fail "a rank was killed, and the others do not end (SEED=$SEED)"
    killed=$((killed + sent))
    for _ in $(seq 200); do
        kill -0 "${pids[@]}" 2>/dev/null || break # true while one of them is there
        sleep 0.05
    done
    kill -0 "${pids[@]}" 2>/dev/null && fail "ranks live on (SEED=$SEED): ${pids[*]}"
    [ "$(count "$file" end)" != 1 ]
}
no_doubles() { # FILE
    [ -z "$(grep -o '^{"kind":"case","number":[0-9]*' "$1" 2>/dev/null | sort | uniq -d)" ] || fail "a piece is there twice (SEED=$SEED)"
}
whole() { # WHAT FILE: what one process does
    wholes=$((wholes + 1))
    no_doubles "$2"
    same "$1 cases, tallies (SEED=$SEED)" "$(tallies "$tmp/$1")" "$(tallies "$tmp/out")"
    if [ "$1" = random ]; then
        [ "$(grep -o '"state":"BLOCK"' "$2" | wc -l)" -eq 20 ] || fail "not twenty blocks (SEED=$SEED)"
        same "random cases (SEED=$SEED)" "$(counts "$tmp/random.jsonl")" "$(counts "$2")"
    else
        same "chosen cases (SEED=$SEED)" "$(told verify "$tmp/chosen.jsonl")" "$(told verify "$2")"
        same "states of chosen cases (SEED=$SEED)" "$(told case "$tmp/chosen.jsonl")" "$(told case "$2")"
    fi
}

for ((runs = 0; killed < moments && runs < 20 * moments; )); do
    for what in random chosen; do
        declare -n command=$what
        rm -f "$tmp/lost.jsonl"
        while [ $killed -lt "$moments" ] && ((runs++ < 20 * moments)) && kill_one $what "$tmp/lost.jsonl" "${command[@]}"; do
            no_doubles "$tmp/lost.jsonl"
        done
        # The counts are printed by a run that comes to its end.
        if [ "$(count "$tmp/lost.jsonl" end)" != 1 ]; then
            ranks $many "${command[@]}" --out "$tmp/lost.jsonl" || fail "it does not go on (SEED=$SEED): $(cat "$tmp/err")"
            whole $what "$tmp/lost.jsonl"
        elif [ "$(tallies "$tmp/out" | wc -l)" -gt 0 ]; then
            whole $what "$tmp/lost.jsonl"
        fi
    done
done
[ $killed -ge "$moments" ] || fail "only $killed ranks were killed, not $moments"
tests=$killed
echo "$killed ranks killed in $runs runs, $wholes times all was compared, the launcher stuck $stuck times (SEED=$SEED)"
finish
