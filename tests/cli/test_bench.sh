#!/usr/bin/env bash
# test_bench.sh BENCHCNN CC: what `bench` ends with, ratios and a table of problems by implementations, is what its records
# hold; `compare` of one file tells the same, by any field.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/cli.sh"
bench() {
    "$benchcnn" bench --problem "mb4ic20ih16oc20oh8kh4sh2ph4dh2n\"one\"" --problem "mb4ic20ih8oc20oh4kh4sh2ph4dh2n\"two\"" --dir FWD --threads 1 \
        --min-time 0.005 --max-time 0.05 --warm-up 0 --peaks none --quiet "$@" >"$tmp/out" 2>"$tmp/err"
}
says() { grep -qE -- "$1" "$tmp/out" || fail "nothing like '$1': $(cat "$tmp/out" "$tmp/err")"; }

bench --impl cpu:naive,cpu:direct --repeat 3 --out "$tmp/r.jsonl" || fail "bench: $(cat "$tmp/err")"
says 'cpu:direct is [0-9.]+ \([0-9.]+ to [0-9.]+\) times as fast as cpu:naive|cpu:direct is [0-9.]+ times as fast as cpu:naive, by few samples'
says '^ +cpu:naive +cpu:direct'
says '^one FWD +[0-9.]+ .s[^*]*  [0-9.]+ .s\* [0-9.]+ x'
says '^two FWD '
says '^geometric mean +- +[0-9.]+ x'
mean=$(sed -n 's/^geometric mean  *-  *\([0-9.]*\) x.*/\1/p' "$tmp/out")
for problem in one two; do # the latest times count
    for algorithm in naive direct; do
        grep "\"algorithm\":\"$algorithm\".*n..$problem" "$tmp/r.jsonl" | tail -1 | grep -o '"median_s":[^,]*' | cut -d: -f2
    done | paste -sd' '
done | awk -v mean="$mean" '{ product *= $1 / $2; if (NR == 1) product = $1 / $2 } END { r = sqrt(product) / mean; exit !(r > 0.99 && r < 1.01) }' ||
    fail "the mean $mean is not the records': $(cat "$tmp/out")"
bench --impl cpu:direct
grep -q 'geometric mean' "$tmp/out" && fail "a table of one column"
bench --impl cpu:direct,cpu:naive --isolate
says '^geometric mean +- +0[.0-9]+ x'

# By a clock of half a second a run takes no time: that is no figure, and nobody is best.
cat >"$tmp/coarse.c" <<'EOF'
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *now)
{
    const int status = (int)syscall(SYS_clock_gettime, id, now);
    if (id == CLOCK_MONOTONIC) now->tv_nsec -= now->tv_nsec % 500000000;
    return status;
}
EOF
"$2" -shared -fPIC -D_GNU_SOURCE -o "$tmp/coarse.so" "$tmp/coarse.c" || fail "the coarse clock is not built"
ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" LD_PRELOAD="$tmp/coarse.so" bench --impl cpu:naive,cpu:direct --cache cold --match 'n"one"' --out "$tmp/coarse.jsonl"
[ $? -eq 3 ] || fail "nothing was timed, and that is no failure"
says '^  cpu:direct +too short to time: the median of its [0-9]+ samples is 0 s'
says '^0 timed and verified.*, 2 too short to time'
grep -Eq 'best|inf' "$tmp/out" && fail "0 s is a figure: $(cat "$tmp/out")"
grep '"kind":"conv"' "$tmp/coarse.jsonl" | grep -v '"verified":false,"state":"TOO_SHORT","reason":"too short' && fail "0 s is recorded: $(cat "$tmp/coarse.jsonl")"

# Some of the problems, by name; and from standard input, which more than one process reads.
bench --impl cpu:direct --match 'n"two"'
says '^1 timed and verified'
refused "--match 'three' matches none" bench --impl cpu --net thesis --match three
printf 'ic3ih5oc4kh3\n# ic3ih7oc4kh3\nic3ih6oc4kh3n"b"\n' | "$benchcnn" verify --impl cpu:direct --problems - --dir FWD --isolate >"$tmp/out" 2>"$tmp/err"
says '^2 cases: 0 FAILED 2 PASSED'

# One file: by algorithm, by implementation and algorithm, from another side, some of it. Other work on this machine must not
# decide what is faster: times are put into the records that a quiet one would have given, naive 1 ms and direct 0.1 ms.
for times in naive:0.001 direct:0.0001; do
    awk -v algorithm="${times%%:*}" -v median="${times##*:}" 'index($0, "\"algorithm\":\"" algorithm "\"") {
        median *= 1.001
        sub(/"median_s":[^,]*/, "\"median_s\":" median)
        sub(/"low_s":[^,]*/, "\"low_s\":" median * 0.995)
        sub(/"high_s":[^,]*/, "\"high_s\":" median * 1.005)
        sub(/"marks":"[^"]*"/, "\"marks\":\"\"")
        sub(/"noise":[^,]*/, "\"noise\":0.005")
        sub(/"resolution":[^,}]*/, "\"resolution\":0.01")
    }
    { print }' "$tmp/r.jsonl" >"$tmp/quiet.jsonl" && mv "$tmp/quiet.jsonl" "$tmp/r.jsonl"
done
compare() { "$benchcnn" compare "$tmp/r.jsonl" "$@" >"$tmp/out" 2>"$tmp/err"; }
compare --across algorithm --baseline naive || fail "compare: $(cat "$tmp/err")"
says '^A: naive$'
says '^B: direct$'
says '^FASTER .*cpu:naive -> cpu:direct .*one'
says '^2 compared .* 2 faster'
compare --across impl --baseline cpu:direct --match 'n"two"' --out "$tmp/c.jsonl" || fail "compare: $(cat "$tmp/err")"
says '^A: cpu:direct$'
says '^1 compared .* 1 slower'
grep -q '"a_figure":"[^"]*algorithm=direct.*"b_figure":"[^"]*algorithm=naive.*"verdict":"SLOWER"' "$tmp/c.jsonl" || fail "the record: $(cat "$tmp/c.jsonl")"
compare --across algorithm --baseline naive --fail-on faster
[ $? -eq 1 ] || fail "--fail-on faster does not fail"
refused 'needs to know what tells A from B' compare "$tmp/r.jsonl"
refused 'has one value of threads|with: 1' compare "$tmp/r.jsonl" --across threads
refused "'cpu:none' is none of impl,algorithm: cpu:direct, cpu:naive" compare "$tmp/r.jsonl" --across impl --baseline cpu:none
refused 'is no regular expression' compare "$tmp/r.jsonl" --across impl --match '('
refused 'of two files the first is A' compare "$tmp/r.jsonl" "$tmp/c.jsonl" --baseline x

# Two files whose implementations differ.
for algorithm in naive direct; do grep -E "\"kind\":\"(env|begin)\"|\"algorithm\":\"$algorithm\"" "$tmp/r.jsonl" >"$tmp/$algorithm.jsonl"; done
"$benchcnn" compare "$tmp/naive.jsonl" "$tmp/direct.jsonl" --across impl >"$tmp/out" 2>"$tmp/err" || fail "two files: $(cat "$tmp/err")"
says '^2 compared .* 2 faster'

# Processors that a host moved between two recordings, and some that it did not.
apart() { sed -E 's/"handover_ns_(min|max)":[^,]*,//g; s/"marks":/"handover_ns_min":'"$2"',"handover_ns_max":'"$3"',&/' "$1"; }
apart "$tmp/naive.jsonl" 44 45 >"$tmp/near.jsonl"
apart "$tmp/direct.jsonl" 44 243 >"$tmp/far.jsonl"
"$benchcnn" compare "$tmp/near.jsonl" "$tmp/far.jsonl" --across impl >"$tmp/out" 2>"$tmp/err" || fail "moved: $(cat "$tmp/err")"
says 'processors were 44 to 45 ns apart in A, 44 to 243 in B: not the same conditions'
"$benchcnn" compare "$tmp/near.jsonl" "$tmp/near.jsonl" >"$tmp/out" 2>"$tmp/err" || fail "not moved: $(cat "$tmp/err")"
grep -q 'ns apart' "$tmp/out" && fail "processors that were not moved: $(cat "$tmp/out")"
finish
