#!/usr/bin/env bash
# test_checkpoint.sh BENCHCNN: a training run that was stopped, or killed, goes on with the same bits; a checkpoint of
# something else, or a damaged one, is refused.
set -u
benchcnn=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
    echo "FAILED: $1"
    failed=1
}
# Dropout and batch norm have state beside the weights, Adam two vectors of it; the rate falls with the steps.
common=(train --net every_layer --impl cpu:direct --batch 50 --train-images 1020 --test-images 100 --data synthetic --quiet --json
    --optimizer adam,decay_steps=100)
train() { "$benchcnn" "${common[@]}" "$@" 2>"$work/err"; }
losses() { grep '"kind":"epoch"' "$1" | grep -o '"epoch":[0-9]*\|"train_loss":[^,]*\|"test_loss":[^,]*' | sort -u; }

train --epochs 4 --out "$work/whole.jsonl" >/dev/null || fail "a whole run"
train --epochs 2 --checkpoint "$work/c" --out "$work/parts.jsonl" >/dev/null || fail "the first half"
train --epochs 4 --checkpoint "$work/c" --out "$work/parts.jsonl" >/dev/null || fail "the second half"
diff <(losses "$work/whole.jsonl") <(losses "$work/parts.jsonl") || fail "the halves differ from the whole"
[ "$(losses "$work/parts.jsonl" | wc -l)" = 12 ] || fail "not every epoch once"
train --epochs 4 --checkpoint "$work/c" >/dev/null || fail "nothing left to do is no failure"

# Killed in the middle, as often as it takes.
for attempt in 1 2 3 4 5 6 7 8 9 10 11 12; do
    timeout -s KILL 0.$((attempt * 8 + 3)) "$benchcnn" "${common[@]}" --epochs 4 --checkpoint "$work/k" --out "$work/killed.jsonl" >/dev/null 2>&1 && break
done
train --epochs 4 --checkpoint "$work/k" --out "$work/killed.jsonl" >/dev/null || fail "after the kills"
diff <(losses "$work/whole.jsonl") <(losses "$work/killed.jsonl") || fail "what was killed differs from the whole"

refused() { # PATTERN OPTION...
    local pattern=$1
    shift
    "$benchcnn" "${common[@]}" --epochs 4 "$@" >/dev/null 2>"$work/err"
    [ $? = 2 ] || fail "$*: not refused"
    grep -q -- "$pattern" "$work/err" || { fail "$*: no word of '$pattern'"; cat "$work/err"; }
}
refused 'is of another run' --checkpoint "$work/c" --batch 51
refused 'is of another run (seed 1, .*not of this one (seed 2, ' --checkpoint "$work/c" --seed 2
refused 'is of another run (knobs {} .*not of this one (knobs {"isa":0}' --checkpoint "$work/c" --set cpu.isa=0
# Networks of the same name whose operations, or whose weights' beginnings, differ.
mkdir "$work/other"
for change in 's/batch_norm.*/batch_norm eps=0.001/' 's/batch_norm.*/batch_norm momentum=0.30000000000000004/' 's/dropout .*/dropout 0.21/' \
    's/^init .*/init uniform 0.011/' 's/^max_pool/avg_pool/' 's/bias=0//'; do
    sed "$change" bench/nets/every_layer.net >"$work/other/every_layer.net"
    cmp -s bench/nets/every_layer.net "$work/other/every_layer.net" && fail "$change changes nothing"
    refused 'is of another run (every_layer ' --checkpoint "$work/c" --net "$work/other/every_layer.net"
done
head -c 3000 "$work/c" >"$work/short"
refused 'is damaged' --checkpoint "$work/short"
{ head -c 3000 "$work/c"; printf x; tail -c +3002 "$work/c"; } >"$work/bad"
refused 'is damaged' --checkpoint "$work/bad"
echo no >"$work/text"
refused 'is no checkpoint' --checkpoint "$work/text"
refused 'cannot be written' --checkpoint /nosuch/folder/c --out "$work/none.jsonl"
[ ! -s "$work/none.jsonl" ] || fail "an epoch was trained before it was seen that the checkpoint cannot be written"
exit $failed
