#!/usr/bin/env bash
# test_schedule.sh BENCHCNN: --schedule changes the rate from epoch to epoch in every implementation, and a checkpoint goes on
# with the same bits; --patience ends a training that has stopped to learn.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
printf 'input 1 8 8\nconv 4 kernel=3 stride=2 pad=1\nrelu\nfc 10\nsoftmax_cross_entropy\n' >"$tmp/small.net"
common=(--net "$tmp/small.net" --data synthetic --images 420,100 --batch 20 --threads 1 --quiet)
train() {
    tests=$((tests + 1))
    "$benchcnn" train "${common[@]}" "$@" >"$tmp/out" 2>"$tmp/err" || fail "$*: $(cat "$tmp/err")"
}
each() { grep '"kind":"epoch"' "$1" | grep -o "\"$2\":[^,}]*" | cut -d: -f2 | paste -sd' '; } # FIELD of all epochs
losses() { each "$1" '\(train\|test\)_loss'; }

# ---- What the record says, and what the head does.
train --impl cpu:direct --epochs 4 --optimizer sgd,lr=0.4 --schedule cosine --out "$tmp/cosine.jsonl"
holds "the head" "$tmp/out" 'schedule cosine,epochs=4'
each "$tmp/cosine.jsonl" lr | awk '{pi = atan2(0, -1); for (i = 1; i <= 4; i++) if (($i - 0.2 * (1 + cos(pi * (i - 1) / 4))) ^ 2 > 1e-16) bad = 1} END {exit bad || NF != 4}' ||
    fail "cosine: rates are $(each "$tmp/cosine.jsonl" lr)"
[ "$(grep -c '"schedule":"cosine,epochs=4".*"verified":true' "$tmp/cosine.jsonl")" -eq 4 ] || fail "not four verified epochs: $(tail -1 "$tmp/cosine.jsonl")"

# ---- A rate that falls to nearly nothing behind the first epoch: then nothing more is learnt, by whatever trains.
ways=("cpu:direct" "cpu:fused" "cpu:direct --data-on host" "cpu:im2col --dtype f64")
"$benchcnn" list >"$tmp/list"
grep -q '^✓ onednn' "$tmp/list" && ways+=(onednn)
for gpu in cuda_naive cuda_fused; do # a captured step, and a trainer of its own; emulated, with few images
    grep -q "^✓ $gpu" "$tmp/list" && ways+=("$gpu --images 105,25")
done
for way in "${ways[@]}"; do
    rm -f "$tmp"/{falls,stays}.jsonl
    # shellcheck disable=SC2086  # options
    train --impl $way --epochs 3 --optimizer adam,lr=0.01 --schedule step,every=1,by=1e-12 --out "$tmp/falls.jsonl"
    # shellcheck disable=SC2086  # options
    train --impl $way --epochs 3 --optimizer adam,lr=0.01 --out "$tmp/stays.jsonl"
    each "$tmp/falls.jsonl" test_loss | awk '{exit !(NF == 3 && ($1 - $2) ^ 2 < 1e-14 && ($1 - $3) ^ 2 < 1e-14)}' || fail "$way: without a rate it learns: $(each "$tmp/falls.jsonl" test_loss)"
    each "$tmp/stays.jsonl" test_loss | awk '{exit !(($1 - $2) ^ 2 > 1e-6)}' || fail "$way: with its rate it learns nothing: $(each "$tmp/stays.jsonl" test_loss)"
    [ "$(grep -c '"verified":true' "$tmp/falls.jsonl")" -eq 3 ] || fail "$way: not three verified epochs"
done
[ "$(each "$tmp/stays.jsonl" lr)" = "0.01 0.01 0.01" ] || fail "without a schedule the rate is $(each "$tmp/stays.jsonl" lr)"

# ---- Two halves are the whole, to the bits of the weights; another schedule is another run.
for impl in cpu:direct cpu:fused; do
    on=(--impl $impl --optimizer adam,lr=0.01 --schedule linear,epochs=4,warmup=1)
    rm -f "$tmp/c" "$tmp"/{whole,parts}.*
    train "${on[@]}" --epochs 4 --save "$tmp/whole.w" --out "$tmp/whole.jsonl"
    train "${on[@]}" --epochs 2 --checkpoint "$tmp/c" --out "$tmp/parts.jsonl"
    train "${on[@]}" --epochs 4 --checkpoint "$tmp/c" --out "$tmp/parts.jsonl" --save "$tmp/parts.w"
    [ "$(losses "$tmp/whole.jsonl")" = "$(losses "$tmp/parts.jsonl")" ] && cmp "$tmp/whole.w" "$tmp/parts.w" || fail "$impl: two halves are not the whole"
    [ "$(each "$tmp/parts.jsonl" lr)" = "0.005 0.01 0.00666666667 0.00333333333" ] || fail "$impl: rates are $(each "$tmp/parts.jsonl" lr)"
    refused 'is of another run|schedule linear,epochs=4,warmup=1' train "${common[@]}" --impl $impl --optimizer adam,lr=0.01 --epochs 4 --checkpoint "$tmp/c"
done
# A point is its schedule's; a constant one is none.
train --impl cpu:direct --epochs 2 --schedule cosine --out "$tmp/points.jsonl"
train --impl cpu:direct --epochs 2 --out "$tmp/points.jsonl"
train --impl cpu:direct --epochs 2 --schedule constant --out "$tmp/points.jsonl"
holds "a constant schedule" "$tmp/out" 'already in'
[ "$(grep -c '"kind":"epoch"' "$tmp/points.jsonl")" -eq 4 ] || fail "points with and without a schedule are taken for each other"

# ---- Patience. With no rate the loss of the first epoch stays the least.
still=(--impl cpu:direct --optimizer sgd,lr=0 --patience 2)
train "${still[@]}" --out "$tmp/still.jsonl"
holds "the end" "$tmp/out" 'test loss has not fallen for 2 epochs: stopped after epoch 3, the least was|in epoch 1'
[ "$(each "$tmp/still.jsonl" epoch)" = "1 2 3" ] || fail "patience 2: epochs $(each "$tmp/still.jsonl" epoch)"
[ "$(each "$tmp/still.jsonl" since_best)" = "0 1 2" ] && [ "$(each "$tmp/still.jsonl" epochs)" = "0 0 0" ] || fail "records: $(tail -1 "$tmp/still.jsonl")"
train --impl cpu:direct --images 2000,1000 --optimizer adam,lr=0.01 --patience 2 --epochs 5 --out "$tmp/learns.jsonl"
[ "$(each "$tmp/learns.jsonl" epoch)" = "1 2 3 4 5" ] || fail "a training that learns ends at epoch $(each "$tmp/learns.jsonl" epoch)"
grep -q 'has not fallen' "$tmp/out" && fail "a training that learns is out of patience"
# A checkpoint keeps how long the loss has not fallen; what was stopped stays so.
train "${still[@]}" --epochs 2 --checkpoint "$tmp/p" --out "$tmp/kept.jsonl"
train "${still[@]}" --epochs 9 --checkpoint "$tmp/p" --out "$tmp/kept.jsonl"
train "${still[@]}" --epochs 9 --checkpoint "$tmp/p" --out "$tmp/kept.jsonl"
[ "$(each "$tmp/kept.jsonl" epoch)" = "1 2 3" ] || fail "patience and a checkpoint: epochs $(each "$tmp/kept.jsonl" epoch)"

# ---- Refused.
on=(train "${common[@]}" --impl cpu)
refused "did you mean 'cosine'" "${on[@]}" --schedule cosin
refused 'falls over the epochs of the training: give --epochs N' "${on[@]}" --schedule cosine
refused 'needs every=EPOCHS' "${on[@]}" --schedule step
refused '--patience is 0' "${on[@]}" --patience 0
refused '--patience does not go with --plan' "${on[@]}" --plan --patience 2
finish
