#!/usr/bin/env bash
# test_checkpoint.sh BENCHCNN: a training run that was stopped, or killed, goes on with the same bits; a checkpoint of
# something else, or a damaged one, is refused.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"

# Dropout and batch norm have state beside the weights, Adam two vectors of it; the rate falls with the steps.
common=(train --net every_layer --impl cpu:direct --batch 50 --images 1020,100 --data synthetic --quiet --json
    --optimizer adam,decay_steps=100)
train() { "$benchcnn" "${common[@]}" "$@" 2>"$tmp/err"; }
losses() { grep '"kind":"epoch"' "$1" | grep -o '"epoch":[0-9]*\|"train_loss":[^,]*\|"test_loss":[^,]*' | sort -u; }

train --epochs 4 --out "$tmp/whole.jsonl" >/dev/null || fail "a whole run"
train --epochs 2 --checkpoint "$tmp/c" --out "$tmp/parts.jsonl" >/dev/null || fail "the first half"
train --epochs 4 --checkpoint "$tmp/c" --out "$tmp/parts.jsonl" >/dev/null || fail "the second half"
diff <(losses "$tmp/whole.jsonl") <(losses "$tmp/parts.jsonl") || fail "the halves differ from the whole"
[ "$(losses "$tmp/parts.jsonl" | wc -l)" = 12 ] || fail "not every epoch once"
train --epochs 4 --checkpoint "$tmp/c" >/dev/null || fail "nothing left to do is no failure"

# Killed in the middle, as often as it takes.
for attempt in 1 2 3 4 5 6 7 8 9 10 11 12; do
    timeout -s KILL 0.$((attempt * 8 + 3)) "$benchcnn" "${common[@]}" --epochs 4 --checkpoint "$tmp/k" --out "$tmp/killed.jsonl" >/dev/null 2>&1 && break
done
train --epochs 4 --checkpoint "$tmp/k" --out "$tmp/killed.jsonl" >/dev/null || fail "after the kills"
diff <(losses "$tmp/whole.jsonl") <(losses "$tmp/killed.jsonl") || fail "what was killed differs from the whole"

refused() { # PATTERN OPTION...
    local pattern=$1
    shift
    "$benchcnn" "${common[@]}" --epochs 4 "$@" >/dev/null 2>"$tmp/err"
    [ $? = 2 ] || fail "$*: not refused"
    grep -q -- "$pattern" "$tmp/err" || { fail "$*: no word of '$pattern'"; cat "$tmp/err"; }
}
refused 'is of another run' --checkpoint "$tmp/c" --batch 51
refused 'is of another run (seed 1, .*not of this one (seed 2, ' --checkpoint "$tmp/c" --seed 2
refused 'is of another run (knobs {} .*not of this one (knobs {"isa":0}' --checkpoint "$tmp/c" --set cpu.isa=0
# Networks of the same name whose operations, or whose weights' beginnings, differ.
mkdir "$tmp/other"
for change in 's/batch_norm.*/batch_norm eps=0.001/' 's/batch_norm.*/batch_norm momentum=0.30000000000000004/' 's/dropout .*/dropout 0.21/' \
    's/^init .*/init uniform 0.011/' 's/^max_pool/avg_pool/' 's/bias=0//'; do
    sed "$change" bench/nets/every_layer.net >"$tmp/other/every_layer.net"
    cmp -s bench/nets/every_layer.net "$tmp/other/every_layer.net" && fail "$change changes nothing"
    refused 'is of another run (every_layer ' --checkpoint "$tmp/c" --net "$tmp/other/every_layer.net"
done
head -c 3000 "$tmp/c" >"$tmp/short"
refused 'is damaged' --checkpoint "$tmp/short"
{ head -c 3000 "$tmp/c"; printf x; tail -c +3002 "$tmp/c"; } >"$tmp/bad"
refused 'is damaged' --checkpoint "$tmp/bad"
echo no >"$tmp/text"
refused 'is no checkpoint' --checkpoint "$tmp/text"
refused 'cannot be written' --checkpoint /nosuch/folder/c --out "$tmp/none.jsonl"
[ ! -s "$tmp/none.jsonl" ] || fail "an epoch was trained before it was seen that the checkpoint cannot be written"
finish
