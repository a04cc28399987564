#!/usr/bin/env bash
# test_processes.sh BENCHCNN CC [SANITIZERS]: `bench --processes`: who runs in which process, in which order; what is recorded;
# what goes on where it was stopped; what is refused. `compare` of such records: verdicts, the correction for their number,
# the guard of A/A, too few processes. Times are put into the records: no verdict rests on this machine.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/cli.sh"
flags=(-O1)
[ -z "${3:-}" ] || flags+=("-fsanitize=$3" -fno-omit-frame-pointer)
"$2" "${flags[@]}" -shared -fPIC -Iharness -o "$tmp/planted.so" tests/cli/planted.c || fail "the plug-in is not built"
bench() {
    "$benchcnn" bench --plugin "$tmp/planted.so" --problem mb4ic2ih6oc25kh3ph1 --dir FWD --threads 1 --min-time 0.001 --max-time 0.01 --warm-up 0 \
        --quiet "$@" >"$tmp/out" 2>"$tmp/err"
}
says() { grep -qE -- "$1" "$tmp/out" || fail "nothing like '$1': $(cat "$tmp/out" "$tmp/err")"; }
same() { [ "$2" = "$3" ] || fail "$1: '$2', and not '$3'"; }
all=planted:plain,planted:same,planted:plus300

# ---- Order, freshness, records.
export PLANTED_LOG=$tmp/log
bench --impl $all --processes 3 --out "$tmp/r.jsonl" || fail "bench: $(cat "$tmp/err")"
unset PLANTED_LOG
same "the order" "$(cut -d' ' -f1 "$tmp/log" | paste -sd' ')" \
    "plain same plus300 plain plain plus300 same plain plain same plus300 plain"
same "processes" "$(cut -d' ' -f2 "$tmp/log" | sort -u | wc -l)" 12
fields() { sed -n "s/.*\"kind\":\"conv\".*\"algorithm\":\"\([^\"]*\)\".*\"round\":\([0-9]*\),\"arm\":\"\([^\"]*\)\".*/\2 \1 \3/p" "$1" | LC_ALL=C sort; }
same "rounds and arms" "$(fields "$tmp/r.jsonl" | paste -sd,)" \
    "1 plain A,1 plain A',1 plus300 B,1 same B,2 plain A,2 plain A',2 plus300 B,2 same B,3 plain A,3 plain A',3 plus300 B,3 same B"
same "environments" "$(grep -c '"kind":"env"' "$tmp/r.jsonl")" 3
same "beginnings and ends" "$(grep -cE '"kind":"(begin|end)"' "$tmp/r.jsonl")" 2
"$benchcnn" check "$tmp/r.jsonl" >"$tmp/out" 2>&1 || fail "check: $(cat "$tmp/out")"
bench --impl planted:plain,planted:plus300 --processes 2 --json || fail "--json: $(cat "$tmp/err")"
same "records on standard output" "$(grep -c '"arm":' "$tmp/out")" 6
grep -qv '^{' "$tmp/out" && fail "not records alone: $(cat "$tmp/out")"
bench --impl planted:plain,planted:plus300 --processes 2 || fail "without --out: $(cat "$tmp/err")"
says '^CANNOT TELL .*A/A [0-9.]+; too few processes: 2, it takes 8$'
says '^6 processes: 6 figures timed and verified, 0 wrong or failed$'
bench --impl planted:plain --processes 1 || fail "one candidate: $(cat "$tmp/err")"
says '^one candidate, and nothing to compare it with'
bench --impl planted:plain,cpu:direct --processes 1 || fail "two implementations: $(cat "$tmp/err")"
says 'planted:plain -> cpu:direct'

# ---- Stopped in the third round: the first two stay, the others are done.
grep -vE '"kind":"end"|"round":3|"number":2' "$tmp/r.jsonl" >"$tmp/stopped.jsonl"
sed -i "s|$tmp/r.jsonl|$tmp/stopped.jsonl|" "$tmp/stopped.jsonl" # the command names its file
bench --impl $all --processes 3 --out "$tmp/stopped.jsonl" || fail "going on: $(cat "$tmp/err")"
same "what was done again" "$(fields "$tmp/stopped.jsonl" | cut -d' ' -f1 | sort | uniq -c | awk '{ print $1 }' | paste -sd' ')" "4 4 4"

# ---- Together: a process a round, in which each gets its memory first by turns; what is recorded is the same.
export PLANTED_LOG=$tmp/together
bench --impl $all --processes 4 --together --out "$tmp/t.jsonl" || fail "--together: $(cat "$tmp/err")"
unset PLANTED_LOG
same "who is first" "$(cut -d' ' -f1 "$tmp/together" | paste -sd' ')" "plain same plus300 plain"
same "processes" "$(cut -d' ' -f2 "$tmp/together" | sort -u | wc -l)" 4
says '^4 processes: 16 figures timed and verified, 0 wrong or failed$'
says 'planted:plain -> planted:plus300 '
same "rounds and arms together" "$(fields "$tmp/t.jsonl" | grep -v '^4' | paste -sd,)" "$(fields "$tmp/r.jsonl" | paste -sd,)"
same "environments" "$(grep -c '"kind":"env"' "$tmp/t.jsonl")" 1
"$benchcnn" check "$tmp/t.jsonl" >"$tmp/out" 2>&1 || fail "check: $(cat "$tmp/out")"
grep -vE '"kind":"end"|"round":[34]|"number":[23]' "$tmp/t.jsonl" >"$tmp/half.jsonl"
sed -i "s|$tmp/t.jsonl|$tmp/half.jsonl|" "$tmp/half.jsonl"
bench --impl $all --processes 4 --together --out "$tmp/half.jsonl" || fail "going on: $(cat "$tmp/err")"
same "what was done again" "$(fields "$tmp/half.jsonl" | cut -d' ' -f1 | sort | uniq -c | awk '{ print $1 }' | paste -sd' ')" "4 4 4 4"
bench --impl $all --round 2 --peaks none || fail "a process of its own: $(cat "$tmp/err")"
says '^4 timed and verified, '
bench --impl planted:plain --processes 2 --together || fail "one candidate: $(cat "$tmp/err")"
refused "--together goes with --processes" bench --impl cpu:direct --together
refused "--out does not go with --round" bench --impl cpu:direct --round 1 --out "$tmp/none.jsonl"

# ---- What a process says of its options ends the command, once; a plug-in's code runs in none but those.
refused "--repeat does not go with --processes" bench --impl cpu:direct --processes 2 --repeat 2
refused "must be from 1 to 400" bench --impl cpu:direct --processes 0
refused "unknown algorithm of cpu" bench --impl cpu:none --processes 2
refused "standard input" bench --impl cpu:direct --processes 2 --problems - --peaks none
printf 'ic3ih5oc4kh3\n' >"$tmp/problems"
"$benchcnn" bench --impl cpu:naive,cpu:direct --processes 1 --problems "$tmp/problems" --dir FWD --min-time 0 --max-time 0.01 --quiet >"$tmp/out" 2>&1 ||
    fail "a file of problems: $(cat "$tmp/out")"

# ---- Verdicts. times FILE ROUNDS CANDIDATE:RATIO...: A 1 ms with noise that is common to a round, twice as much as what is
# to be seen, and a little of each process's own; A' is A by AGAIN.
times() {
    local file=$1 rounds=$2
    shift 2
    awk -v rounds="$rounds" -v again="${AGAIN:-1}" -v list="$*" '
        function noise() { state = (state * 69069 + 1) % 4294967296; return state / 4294967296 - 0.5 }
        function put(name, arm, ratio) {
            printf "{\"kind\":\"conv\",\"impl\":\"x\",\"algorithm\":\"%s\",\"problem\":\"p\",\"dir\":\"FWD\",\"verified\":true,\"median_s\":%.9g,\"round\":%d,\"arm\":\"%s\"}\n",
                name, 0.001 * ratio * common * (1 + 0.004 * noise()), r, arm
        }
        BEGIN {
            state = 7
            n = split(list, candidates, " ")
            print "{\"kind\":\"begin\",\"command\":\"x\"}"
            for (r = 1; r <= rounds; r++) {
                common = 1 + 0.4 * noise()
                put("a", "A", 1)
                put("a", "A'\''", again)
                for (i = 1; i <= n; i++) { split(candidates[i], c, ":"); put(c[1], "B", c[2]) }
            }
        }' >"$file"
}
compare() { "$benchcnn" compare "$tmp/t.jsonl" --across algorithm "$@" >"$tmp/out" 2>"$tmp/err"; }
times "$tmp/t.jsonl" 10 slow:1.05 fast:0.9 equal:1.001
compare --out "$tmp/c.jsonl" || fail "compare: $(cat "$tmp/err")"
says '^SLOWER +1\.0[45].* x:a -> x:slow p FWD; A/A (1\.00|0\.99)'
says '^FASTER +0\.[89].* x:a -> x:fast '
says '^SAME .* x:a -> x:equal '
says 'of the differences found among all 3 comparisons at most 1 % are none, by Benjamini and Hochberg'
says '1 same within 1 %'
grep -q '"pairs":10,"far_slower":[0-9]*,"far_faster":[0-9]*,"p":0\.00[0-9]*,"discovery_rate":0\.00[0-9]*,"control_ratio":' "$tmp/c.jsonl" || fail "the record: $(cat "$tmp/c.jsonl")"
"$benchcnn" check "$tmp/c.jsonl" >"$tmp/out" 2>&1 || fail "check: $(cat "$tmp/out")"
compare --threshold 10% --match 'algorithm=(a|slow)' && says '^SAME '
compare --threshold 0 --match 'algorithm=(a|slow)' && says '^SLOWER '
# Eight rounds are the fewest; of seven nothing can be said, however far apart they are.
times "$tmp/t.jsonl" 8 slow:1.5 && compare && says '^SLOWER '
times "$tmp/t.jsonl" 7 slow:1.5 && compare && says '^CANNOT TELL .*too few processes: 7, it takes 8$'
# Eight rounds do for one comparison, not for ten of which nine differ in nothing: 0.0078 * 10.
times "$tmp/t.jsonl" 8 slow:1.5 b:1 c:1 d:1 e:1 f:1 g:1 h:1 i:1 j:1
compare && says '^CANNOT TELL .*x:a -> x:slow '
# Rounds in which the machine was in another state count for nothing, and are told.
times "$tmp/t.jsonl" 12 slow:1.05
awk '/"round":(3|5),"arm":"B"/ { sub(/"median_s":/, "&0.7e-3,\"was\":") } /"round":8,"arm":"B"/ { sub(/"median_s":/, "&0.9,\"was\":") } { print }' "$tmp/t.jsonl" >"$tmp/far.jsonl" && mv "$tmp/far.jsonl" "$tmp/t.jsonl"
compare && says '^SLOWER +1\.0[45].*; 3 of 12 rounds far out, 1 of them slower$'
# The baseline is not like itself: nothing that it is compared with can be told.
AGAIN=1.04 times "$tmp/t.jsonl" 10 slow:1.5
compare && says '^CANNOT TELL .*A/A: the baseline differs from itself by \+4 %$'
# Rounds of two commands are two, though their numbers are the same; in two files there is no round in common, and A' is a control.
times "$tmp/t.jsonl" 5 slow:1.05 && cp "$tmp/t.jsonl" "$tmp/two.jsonl" && cat "$tmp/two.jsonl" >>"$tmp/t.jsonl"
compare && says '^SLOWER '
times "$tmp/t.jsonl" 10 slow:1.05
grep '"algorithm":"a"' "$tmp/t.jsonl" >"$tmp/a.jsonl"
sed 's/"algorithm":"slow"/"algorithm":"a"/' "$tmp/t.jsonl" | grep '"arm":"B"' >"$tmp/b.jsonl"
"$benchcnn" compare "$tmp/a.jsonl" "$tmp/b.jsonl" >"$tmp/out" 2>&1 && says '95 % for all together'
finish
