#!/usr/bin/env bash
# test_baselines.sh BENCHCNN: runs of bench that are kept by name (--save), compared with (--against), and listed.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
export XDG_DATA_HOME=$tmp/data
folder=$XDG_DATA_HOME/benchcnn/baselines
quick=(--impl cpu:naive --dir FWD --peaks none --min-time 0.001 --max-time 0.01 --warm-up 0 --quiet)
p=mb1ic1ih4oc1kh3

# expect STATUS WORDS ARGUMENTS...: the exit status, and each of WORDS (separated by '|') in what is said.
expect() {
    local wanted=$1 words=$2 status
    shift 2
    tests=$((tests + 1))
    "$benchcnn" "$@" >"$tmp/said" 2>&1
    status=$?
    [ $status -eq "$wanted" ] || fail "'benchcnn $*' ended with $status, not $wanted: $(head -c 600 "$tmp/said")"
    holds "'benchcnn $*'" "$tmp/said" "$words"
}
alone() { # NAMES: nothing else lies in the folder
    tests=$((tests + 1))
    [ "$(ls -A "$folder" 2>/dev/null | tr '\n' ' ')" = "$1" ] || fail "the folder holds $(ls -A "$folder"), not $1"
}

# ---- Names, and what contradicts.
refused 'no name of a baseline' bench "${quick[@]}" --problem $p --save a/b
refused 'no name of a baseline' bench "${quick[@]}" --problem $p --save ..
refused "no name of a baseline" bench "${quick[@]}" --problem $p --save ''
refused 'no name of a baseline' bench "${quick[@]}" --problem $p --save "$(printf 'x%.0s' {1..65})"
refused 'no baseline base|--save base|there is none' bench "${quick[@]}" --problem $p --against base
refused 'nowhere.jsonl' bench "${quick[@]}" --problem $p --against "$tmp/nowhere.jsonl"
refused 'a file of its own' bench "${quick[@]}" --problem $p --save base --out "$tmp/out.jsonl"
refused 'takes no figures' bench "${quick[@]}" --problem $p --save base --runs 2
refused '--against' bench "${quick[@]}" --problem $p --fail-on slower
refused 'slowr' bench "${quick[@]}" --problem $p --against base --fail-on slowr
refused 'bare number' bench "${quick[@]}" --problem $p --against base --threshold 5
refused "list takes no 'baseline': it takes baselines" list baseline
[ -e "$folder" ] && fail "what was refused left a folder"
expect 0 'no baselines' list baselines

# ---- Kept, listed, replaced.
expect 0 "baseline base: $folder/base.jsonl|--against base" bench "${quick[@]}" --problem $p --repeat 3 --save base
holds "the first baseline" "$tmp/said" '3 timed and verified'
tests=$((tests + 1))
grep -q 'in the place of' "$tmp/said" && fail "a first baseline replaces one"
"$benchcnn" check "$folder/base.jsonl" >"$tmp/said" 2>&1 || fail "a baseline is no file of records: $(cat "$tmp/said")"
expect 0 'base |1 figure, 3 runs|base.jsonl' list baselines
"$benchcnn" list baselines --json >"$tmp/list.jsonl" || fail "list baselines --json"
expect 0 '"kind":"baseline"' list baselines --json
"$benchcnn" check "$tmp/list.jsonl" >"$tmp/said" 2>&1 || fail "list baselines --json: $(cat "$tmp/said")"
cp "$folder/base.jsonl" "$tmp/old.jsonl"
expect 0 'in the place of the one of 20' bench "${quick[@]}" --problem $p --repeat 3 --save base
tests=$((tests + 1))
cmp -s "$folder/base.jsonl" "$tmp/old.jsonl" && fail "the baseline was not replaced"
alone 'base.jsonl '

# ---- Compared, as `compare` does it.
expect 0 'A: base|B: this run|1 compared' bench "${quick[@]}" --problem $p --repeat 3 --against base
expect 0 'A: base|1 compared' bench "${quick[@]}" --problem $p --repeat 3 --against base --out "$tmp/new.jsonl"
"$benchcnn" compare "$folder/base.jsonl" "$tmp/new.jsonl" 2>/dev/null | tail -n +4 >"$tmp/theirs"
grep -E '^(FASTER|SLOWER|SAME|CANNOT TELL|1 compared)' "$tmp/theirs" >"$tmp/wanted" # the rows are the same
while IFS= read -r line; do holds "--against" "$tmp/said" "$line"; done <"$tmp/wanted"
expect 0 "A: $tmp/old.jsonl|1 compared" bench "${quick[@]}" --problem $p --repeat 3 --against "$tmp/old.jsonl"
expect 1 '1 compared' bench "${quick[@]}" --problem $p --repeat 3 --against base --fail-on faster,slower,same,cannot-tell
expect 3 'only in base|only in this run|0 compared' bench "${quick[@]}" --problem mb2ic1ih4oc1kh3 --repeat 3 --against base
# A baseline that is a thousand times as fast, or as slow.
sed -E 's/"median_s":([0-9.e-]+)/"median_s":1e-12/g' "$tmp/old.jsonl" >"$folder/fast.jsonl"
sed -E 's/"median_s":([0-9.e-]+)/"median_s":1000/g' "$tmp/old.jsonl" >"$folder/slow.jsonl"
expect 1 'SLOWER|1 slower' bench "${quick[@]}" --problem $p --repeat 3 --against fast --fail-on slower
expect 0 'FASTER|1 faster' bench "${quick[@]}" --problem $p --repeat 3 --against slow --fail-on slower
expect 0 'A: slow|1 compared|in the place of' bench "${quick[@]}" --problem $p --repeat 3 --against slow --save slow
expect 0 'base |fast |slow |1 figure' list baselines
expect 2 'no baseline bsae|there are base fast slow' bench "${quick[@]}" --problem $p --against bsae
alone 'base.jsonl fast.jsonl slow.jsonl '

# ---- A run that does not end well saves nothing, and leaves nothing behind.
cp "$folder/base.jsonl" "$tmp/old.jsonl"
expect 3 'baseline base stays as it was' bench "${quick[@]}" --problem $p --math tf32 --save base --against base
cmp -s "$folder/base.jsonl" "$tmp/old.jsonl" || fail "a run without figures changed the baseline"
alone 'base.jsonl fast.jsonl slow.jsonl '
export TMPDIR=$tmp/rest
mkdir "$TMPDIR"
expect 0 '1 compared' bench "${quick[@]}" --problem $p --repeat 3 --against base
tests=$((tests + 1))
[ -z "$(ls -A "$TMPDIR")" ] || fail "--against left $(ls -A "$TMPDIR")"

# ---- Where baselines are.
tests=$((tests + 1))
(unset XDG_DATA_HOME && HOME=$tmp/home "$benchcnn" bench "${quick[@]}" --problem $p --save mine >"$tmp/said" 2>&1)
[ -s "$tmp/home/.local/share/benchcnn/baselines/mine.jsonl" ] || fail "not in ~/.local/share: $(cat "$tmp/said")"
tests=$((tests + 1))
(unset XDG_DATA_HOME HOME && "$benchcnn" list baselines >"$tmp/said" 2>&1) && fail "without HOME"
holds "without HOME" "$tmp/said" 'set it, or XDG_DATA_HOME'
: >"$tmp/plain"
XDG_DATA_HOME=$tmp/plain expect 2 'cannot be made' bench "${quick[@]}" --problem $p --save base

finish
