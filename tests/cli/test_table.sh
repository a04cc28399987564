#!/usr/bin/env bash
# test_table.sh BENCHCNN: on a terminal no line of a table is wider than it, and a descriptor is folded, not cut; elsewhere
# a row is a line, whole. What is shown is readable: units, no NaN and no infinity.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/cli.sh"
command -v script >/dev/null || { echo "SKIPPED: script (bsdutils) is not installed"; exit 77; }
long=(--problem 'g2mb4ic8ih19iw17oc12oh10ow17kh5kw3sh2sw1ph2pw1n"a_problem_with_quite_a_long_name_that_says_it_all"')
short=(--quiet --peaks none --min-time 0.002 --max-time 0.02 --warm-up 0)

# narrow COLUMNS COMMAND...: on a terminal of that width; commands to copy are not folded, nor is what goes to standard error.
narrow() {
    local columns=$1 quoted wide
    shift
    printf -v quoted ' %q' "$benchcnn" "$@"
    script -qec "stty cols $columns; $quoted 2>/dev/null" /dev/null </dev/null | tr -d '\r' | sed 's/\x1b\[K//g' >"$tmp/out"
    [ -s "$tmp/out" ] || fail "$* says nothing"
    wide=$(grep -v 'repeat with: \|^repeat: \|repeat: benchcnn' "$tmp/out" | LC_ALL=C sed 's/[\x80-\xbf]//g' | LC_ALL=C awk -v most="$columns" 'length($0) > most' | head -1)
    [ -z "$wide" ] || fail "$* is wider than $columns columns: $wide"
}

"$benchcnn" bench --impl cpu "${long[@]}" --dir FWD "${short[@]}" --repeat 3 --out "$tmp/a.jsonl" >"$tmp/said" || fail bench
"$benchcnn" bench --impl cpu "${long[@]}" --dir FWD "${short[@]}" --repeat 3 --out "$tmp/b.jsonl" >/dev/null || fail bench
for columns in 200 100 60; do
    narrow $columns verify --help
    narrow $columns verify --impl cpu --op conv --math tf32 "${long[@]}" --quiet
    narrow $columns verify --impl cpu --op conv "${long[@]}" --seed 1234567890123
    tr -d '\n ' <"$tmp/out" | grep -q 'PASSEDcpu:im2colconvFWDg2mb4ic8ih19iw17oc12oh10ow17kh5kw3sh2ph2pw1n"a_problem_with_quite_a_long_name_that_says_it_all"f32' ||
        fail "a descriptor is cut: $(head -3 "$tmp/out")"
    narrow $columns bench --impl cpu "${long[@]}" --dir FWD "${short[@]}"
    narrow $columns compare "$tmp/a.jsonl" "$tmp/b.jsonl"
    narrow $columns list
    narrow $columns train --net thesis --impl cpu --plan
    narrow $columns sweep threads,algorithm cpu.isa --peaks none --impl cpu "${long[@]}" --dir FWD --quiet --min-time 0.001 --max-time 0.002 \
        --warm-up 0 --threads 2
done
for columns in 100 80; do
    narrow $columns train --net thesis --impl cpu:im2col --data synthetic --images 40,10 --batch 20 --profile --quiet
    grep -q '^ *im2col ' "$tmp/out" || fail "the profile names no phase: $(cat "$tmp/out")"
    narrow $columns verify --impl cpu --op conv --problem mb2ic3ih5oc4kh3 --check all,determinism --quiet
    grep -q '^  cpu:im2col ' "$tmp/out" || fail "no table of bits: $(cat "$tmp/out")"
done
narrow 100 sweep batch --impl cpu:direct,cpu:im2col --net small --images 40,10 --data synthetic --batch 10,20 --dtype f32,f64 --quiet

# list --impl: these and no others.
[ "$("$benchcnn" list --json --impl 'cpu:d*' | grep -c '"kind":"algorithm","impl":"cpu","algorithm":"d')" = "$("$benchcnn" list --json --impl 'cpu:d*' | grep -c '"kind":"algorithm"')" ] ||
    fail "list --impl lists others"
"$benchcnn" list --impl nobody >/dev/null 2>&1 && fail "list of an unknown implementation"

# Elsewhere a row is a line.
"$benchcnn" verify --impl cpu:direct --op conv "${long[@]}" --dir FWD >"$tmp/said" || fail verify
grep -q '^PASSED .*n"a_problem_with_quite_a_long_name_that_says_it_all" f32 nchw | exact' "$tmp/said" || fail "a row in a file is cut: $(cat "$tmp/said")"

# Compare: units and names as bench has them; a lone run has no interval.
"$benchcnn" compare "$tmp/a.jsonl" "$tmp/b.jsonl" >"$tmp/said" 2>&1
grep -q '^[A-Z ]* *[0-9.]* *\[[0-9.]*, [0-9.]*\] *[0-9.]* [mµ]s -> [0-9.]* [mµ]s  conv cpu:direct g2mb4.* FWD f32 nchw threads' "$tmp/said" ||
    fail "compare is hard to read: $(cat "$tmp/said")"
for run in a b; do grep '"kind":"env"\|"algorithm":"direct"' "$tmp/$run.jsonl" | head -2 >"$tmp/one_$run.jsonl"; done
"$benchcnn" compare "$tmp/one_a.jsonl" "$tmp/one_b.jsonl" >"$tmp/said" 2>&1
grep -q '^CANNOT TELL *[0-9.]* *[0-9.]* [mµ]s -> .*too few runs' "$tmp/said" || fail "a lone run has an interval, or no reason: $(cat "$tmp/said")"
"$benchcnn" compare "$tmp/one_a.jsonl" "$tmp/one_b.jsonl" --json | grep -q '"verdict":"CANNOT TELL","reason":"too few runs' || fail "a record has no reason"
sed 's/"threads":[0-9]*/"threads":7/; s/"algorithm":"direct"/"algorithm":"mine"/' "$tmp/one_b.jsonl" >"$tmp/other.jsonl"
"$benchcnn" compare "$tmp/one_a.jsonl" "$tmp/other.jsonl" >"$tmp/said" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'algorithm (A: direct, B: mine).*--across algorithm,threads$' "$tmp/err" || fail "what differs is not offered: $(cat "$tmp/err")"
"$benchcnn" compare "$tmp/one_a.jsonl" "$tmp/other.jsonl" --across algorithm,threads >"$tmp/said" 2>&1
grep -q ' cpu:direct -> cpu:mine .* threads [0-9]* -> 7' "$tmp/said" || fail "compared across, not both sides are named: $(cat "$tmp/said")"
"$benchcnn" compare "$tmp/one_a.jsonl" "$tmp/other.jsonl" --across nothing 2>&1 | grep -q ', program$' || fail "the list of fields is cut off"
grep -q '\binf\b' "$tmp/said" && fail "an infinite interval is shown"

# Runs of two builds, in one file, are no runs of one figure.
{ cat "$tmp/a.jsonl"; sed '/"kind":"begin"/s/"build":"[^"]*"/"build":"0badc0de"/' "$tmp/a.jsonl"; } >"$tmp/builds.jsonl"
"$benchcnn" compare "$tmp/a.jsonl" "$tmp/builds.jsonl" >/dev/null 2>"$tmp/err"
[ $? -eq 2 ] && grep -q 'builds.jsonl holds a figure of two builds' "$tmp/err" || fail "two builds are mixed: $(cat "$tmp/err")"

# Who is how much faster, at the end; only of what the figures tell apart.
ratio='cpu:direct is [0-9.]+ \([0-9.]+ to [0-9.]+\) times as fast as cpu:naive'
for attempt in 1 2 3; do # a busy host may tell nothing apart
    "$benchcnn" bench --impl cpu:direct,cpu:naive --problem mb2ic20ih16oc20kh5 --dir FWD --quiet --peaks none --max-time 2 >"$tmp/said" || fail bench
    grep -qE "$ratio" "$tmp/said" && break
done
grep -qE "$ratio" "$tmp/said" || fail "no ratio, in $attempt attempts: $(cat "$tmp/said")"
"$benchcnn" bench --impl cpu:direct --problem mb20ic20ih16oc20kh5 --dir FWD "${short[@]}" >"$tmp/said" || fail bench
grep -q 'times as fast' "$tmp/said" && fail "a ratio of one figure: $(cat "$tmp/said")"
finish
