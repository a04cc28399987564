#!/usr/bin/env bash
# test_recipe.sh BENCHCNN: a recipe is checked whole before its first line runs, goes on where it stopped, and says which
# line failed.
set -u
benchcnn=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
expect() { # STATUS PATTERN WHAT RECIPE-LINES...; options of the run in $flags
    local status=$1 pattern=$2 what=$3
    shift 3
    printf '%s\n' "$@" >"$work/recipe"
    # shellcheck disable=SC2086  # several words on purpose
    "$benchcnn" run "$work/recipe" --out "$work/out.jsonl" ${flags:-} >"$work/log" 2>&1
    local got=$?
    if [ $got != "$status" ] || ! grep -q -E -- "$pattern" "$work/log"; then
        echo "FAILED: $what: status $got instead of $status, or no line like '$pattern'"
        sed 's/^/    /' "$work/log"
        failed=1
    fi
}
none_ran() { [ ! -s "$work/out.jsonl" ] || { echo "FAILED: $1: something ran"; failed=1; }; }
good='verify --impl cpu:naive --problem mb1ic1ih3oc1oh1kh3ph0 --dir FWD --check bound --quiet --out "$OUT"'
expect 2 "recipe:2: unknown implementation 'cqu'" "an unknown implementation" "$good" 'bench --impl cqu'
expect 2 'recipe:3: unknown option --bogus' "an unknown option" '# first' "$good" 'bench --bogus 1'
expect 2 'recipe:2: .*cmd' "an unknown command" "$good" 'cmd'
expect 2 'recipe:2: ' "a bad problem" "$good" 'bench --impl cpu --problem mb2ic3ih5oc4ohxkh3'
expect 2 'recipe:2: .*nosuch' "no such problem file" "$good" 'bench --impl cpu --problems nosuch.txt'
expect 2 'recipe:2: .*thesus' "no such network" "$good" 'train --impl cpu --net thesus'
printf 'input 1 8 8\nconv 4 kernel=3\nrelo\nfc 10\nsoftmax_cross_entropy\n' >"$work/wrong.net"
printf 'mb2ic4ih8oc4kh3\nmb2icxih8\n' >"$work/wrong.txt"
for command in 'train --impl cpu' 'bench --impl cpu' 'sweep batch --impl cpu' 'sweep threads --impl cpu' 'verify --impl cpu'; do
    expect 2 "recipe:2: $work/wrong.net:3: .*relo" "a network with a wrong line" "$good" "$command --net $work/wrong.net"
done
for command in bench verify 'sweep threads'; do
    expect 2 "recipe:2: .*$work/wrong.txt:2: .*mb2icxih8" "a problem file with a wrong word" "$good" "$command --impl cpu --problems $work/wrong.txt"
done
expect 2 "recipe:2: .*did you mean 'isa'" "no such knob" "$good" 'sweep cpu.iso --impl cpu'
expect 2 'recipe:1: .*takes no --epochs' "the other sweep's option" 'sweep threads --impl cpu --epochs 3'
expect 2 'recipe:1: .*open quote' "an open quote" "verify --impl 'cpu"
expect 2 'recipe:1: .*not run' "a command in a command" 'verify --impl $(touch '"$work"'/oops)'
expect 2 'recipe:1: .*not set' "a variable that is not set" 'verify --impl $NO_SUCH_VARIABLE'
expect 2 'recipe:1: .*does not run recipes' "a recipe in a recipe" 'run other'
# What each command checks of its own arguments, the recipe is told of before its first line runs.
wrong() { expect 2 "recipe:2: .*$1" "$2" "$good" "$2"; }
wrong "'foo' cannot be swept" 'sweep foo --impl cpu'
wrong '--batch is 70000' 'train --net thesis --impl cpu --batch 70000'
wrong '--batch is 0' 'bench --net thesis --impl cpu --batch 0'
wrong '--min-time is 5' 'bench --impl cpu --min-time 5 --max-time 1'
wrong '--min-time is 5' 'sweep threads --impl cpu --min-time 5 --max-time 1'
wrong '--batch is 0' 'sweep batch --impl cpu --batch 5,0'
wrong "unknown cache 'warm'" 'bench --impl cpu --cache warm'
wrong "unknown check 'foo'" 'verify --impl cpu --check foo'
wrong 'does not go with --net' 'verify --impl cpu --net thesis --op conv'
wrong 'does not go with --fuzz' 'verify --impl cpu --fuzz 10 --problem ic3ih5oc4kh3'
wrong 'train needs implementations' 'train --net thesis'
wrong "did you mean 'adam'" 'train --net thesis --impl cpu --optimizer adan'
wrong 'compute needs --dir' 'compute --impl cpu --problem ic3ih5oc4kh3 --out y.npy'
wrong 'compute needs --impl' 'compute --dir FWD --problem ic3ih5oc4kh3 --out y.npy'
wrong "--threshold is '5'" 'compare a b --threshold 5'
wrong 'needs to know what tells A from B' 'compare a'
wrong 'plot FILE.jsonl' 'plot'
wrong 'neither fetch nor make' 'data fetsch'
wrong "takes no 'foo'" 'list foo'
wrong "takes no 'foo'" 'peaks foo'
expect 2 'no command' "nothing in it" '# only words'
none_ran "bad recipes"
[ ! -e "$work/oops" ] || { echo "FAILED: a command in a command was run"; failed=1; }
flags=--dry-run expect 0 '2 commands, all well formed' "only checked" "$good" "$good"
none_ran "--dry-run"
expect 0 '\[1/1\]' "runs" "$good"
expect 0 'done before' "does not run again" "$good"
expect 1 'recipe:2: exit status 2' "one that fails" "$good" 'plot nothing.jsonl'
expect 1 '\[2/3\] plot nothing.jsonl$' "what failed is run again, and what follows it too" "$good" 'plot nothing.jsonl' "$good --seed 2"
[ "$(grep -c '"kind":"verify"' "$work/out.jsonl")" = 2 ] || { echo "FAILED: lines ran more or less than once"; failed=1; }
# With another value of a variable a line is another step; with the same, and another name of the records, it is not.
varied='verify --impl "${WHO:-cpu:naive}" --problem mb1ic1ih3oc1oh1kh3ph0 --dir FWD --check bound --quiet --out "${OUT}"'
expect 0 '\[1/2\] ' "a variable's default" "$varied" "$good --seed 3"
expect 2 'recipe:1: .*not set' "a variable that is not set beside one with a default" "$varied --dtype \$NO_SUCH_VARIABLE"
WHO=cpu:direct expect 0 '\[2/2\] .*done before' "a variable's value" "$varied" "$good --seed 3"
[ "$(grep -c '"kind":"verify".*"algorithm":"direct"' "$work/out.jsonl")" = 1 ] || { echo "FAILED: another value is taken for the same step"; failed=1; }
before=$(grep -c '"kind":"verify"' "$work/out.jsonl")
for who in cpu:naive cpu:direct; do
    WHO=$who expect 0 '\[1/2\] .*done before' "a value that was there" "$varied" "$good --seed 3"
done
[ "$(grep -c '"kind":"verify"' "$work/out.jsonl")" = "$before" ] || { echo "FAILED: a variable's step ran again"; failed=1; }
[ "$(grep -c '"kind":"step".*"ran":"benchcnn verify --impl cpu:direct ' "$work/out.jsonl")" = 2 ] || { echo "FAILED: what ran is not recorded"; failed=1; }
"$benchcnn" check "$work/out.jsonl" | grep -q ' 0 fields of another version' || { echo "FAILED: a field that is not known"; failed=1; }
for recipe in bench/recipes/*.recipe; do
    "$benchcnn" run "$recipe" --out "$work/dry.jsonl" --dry-run >"$work/log" 2>&1 || { echo "FAILED: $recipe"; cat "$work/log"; failed=1; }
done
exit $failed
