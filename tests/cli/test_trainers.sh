#!/usr/bin/env bash
# test_trainers.sh BENCHCNN: an implementation's trainer is chosen like an algorithm: listed, trained, swept, recorded,
# taken up from a checkpoint, verified; a glob leaves out one that cannot train a network, its own name does not.
set -u
benchcnn=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
small=(--data synthetic --images 220,60 --threads 2 --quiet)
printf 'input 1 8 8\nconv 4 kernel=3\nrelu\nfc 10\nsoftmax_cross_entropy\n' >"$tmp/chain.net"
printf 'input 1 8 8\nconv 4 kernel=3\nbatch_norm\nfc 10\nsoftmax_cross_entropy\n' >"$tmp/norm.net"
of_kind() { grep "\"kind\":\"$2\"" "$1"; }

"$benchcnn" list | grep -A1 'cpu:fused' | grep -q 'for training; deterministic' || fail "list does not show the trainer"

"$benchcnn" train "${small[@]}" --net "$tmp/chain.net" --impl cpu:fused,cpu --batch 50 --epochs 2 --out "$tmp/t.jsonl" >"$tmp/log" 2>&1 || fail "$(cat "$tmp/log")"
[ "$(of_kind "$tmp/t.jsonl" epoch | grep -c '"algorithm":"fused"')" -eq 2 ] || fail "the records do not name it: $(cat "$tmp/t.jsonl")"
[ "$(of_kind "$tmp/t.jsonl" epoch | grep -c '"algorithm":"direct"')" -eq 2 ] || fail "cpu alone is not the composition"
grep -q 'cpu:fused, f32' "$tmp/log" || fail "the head does not name it: $(cat "$tmp/log")"

# A glob takes it where it can train; its own name is answered with the reason.
"$benchcnn" train "${small[@]}" --net "$tmp/chain.net" --impl 'cpu:*' --batch 50 --epochs 1 --out "$tmp/g.jsonl" >/dev/null 2>&1 || fail "cpu:* on a chain"
of_kind "$tmp/g.jsonl" epoch | grep -q '"algorithm":"fused"' || fail "cpu:* leaves the trainer out"
"$benchcnn" train "${small[@]}" --net "$tmp/norm.net" --impl 'cpu:*' --batch 50 --epochs 1 --out "$tmp/n.jsonl" >"$tmp/log" 2>"$tmp/err" || fail "cpu:* with batch norm: $(cat "$tmp/err")"
grep -q 'without cpu:fused: .*batch_norm1' "$tmp/err" || fail "it is left out without a word: $(cat "$tmp/err")"
of_kind "$tmp/n.jsonl" epoch | grep -q '"algorithm":"fused"' && fail "it trained what it cannot"
"$benchcnn" train "${small[@]}" --net "$tmp/norm.net" --impl cpu:fused --batch 50 >"$tmp/log" 2>"$tmp/err" && fail "it trains what it cannot"
grep -q 'batch_norm1' "$tmp/err" || fail "no reason: $(cat "$tmp/err")"
"$benchcnn" train "${small[@]}" --net "$tmp/chain.net" --impl cpu:fused --batch 50 --profile >"$tmp/log" 2>"$tmp/err" || fail "no profile: $(cat "$tmp/err")"
for row in '^conv1 +FWD +forward +[0-9]' '^conv1 +BWD_W +weights +[0-9]' 'sum over workers, update +[0-9]' '^all .* 100.00 %'; do
    grep -qE "$row" "$tmp/log" || fail "the profile has no $row: $(cat "$tmp/log")"
done
"$benchcnn" train "${small[@]}" --net "$tmp/chain.net" --impl cpu:exemplar --parallel exemplar --profile >"$tmp/log" 2>"$tmp/err" && fail "exemplars are profiled"
grep -q 'cpu:exemplar cannot be profiled' "$tmp/err" || fail "no reason: $(cat "$tmp/err")"

# Deep, at a high rate: chance decides where some steps end, which is no fault of a trainer that rounds otherwise.
{ echo 'input 1 28 28'; for _ in 1 2 3 4; do printf 'fc 16\ntanh\n'; done; printf 'fc 10\nsoftmax_cross_entropy\n'; } >"$tmp/deep.net"
for seed in 1 2 3; do
    "$benchcnn" train --data synthetic --images 2000,100 --threads 2 --quiet --net "$tmp/deep.net" --impl cpu:fused --batch 20 --epochs 4 \
        --optimizer sgd,lr=0.8 --seed $seed --out "$tmp/deep.jsonl" >"$tmp/log" 2>&1 || fail "seed $seed: chance is taken for a fault: $(cat "$tmp/log")"
done
grep -q '"checked":"[^"]* alone' "$tmp/deep.jsonl" || fail "chance was not met: $(grep -o '"checked":"[^"]*"' "$tmp/deep.jsonl")"

# From a checkpoint it goes on as if it had never stopped; one of single operations is another run's.
point=(train "${small[@]}" --net "$tmp/chain.net" --batch 50)
"$benchcnn" "${point[@]}" --impl cpu:fused --epochs 3 --out "$tmp/whole.jsonl" >/dev/null 2>&1 || fail "three epochs"
"$benchcnn" "${point[@]}" --impl cpu:fused --epochs 1 --checkpoint "$tmp/c" --out "$tmp/parts.jsonl" >/dev/null 2>&1 || fail "the first epoch"
"$benchcnn" "${point[@]}" --impl cpu:fused --epochs 3 --checkpoint "$tmp/c" --out "$tmp/parts.jsonl" >/dev/null 2>&1 || fail "the others"
losses() { of_kind "$1" epoch | grep -o '"test_loss":[^,]*'; }
[ "$(losses "$tmp/whole.jsonl")" = "$(losses "$tmp/parts.jsonl")" ] || fail "a checkpoint changes what follows"
"$benchcnn" "${point[@]}" --impl cpu:direct --epochs 3 --checkpoint "$tmp/c" >"$tmp/log" 2>&1 && fail "another run's checkpoint is taken"

# Its steps are made again with the images as they were moved.
"$benchcnn" "${point[@]}" --impl cpu:fused --shift 2 --epochs 3 --out "$tmp/moved.jsonl" >"$tmp/log" 2>&1 || fail "moved images: $(cat "$tmp/log")"
[ "$(of_kind "$tmp/moved.jsonl" epoch | grep -c '"shift":2,.*"verified":true')" -eq 3 ] || fail "epochs with moved images are not verified: $(cat "$tmp/moved.jsonl")"
[ "$(losses "$tmp/whole.jsonl")" = "$(losses "$tmp/moved.jsonl")" ] && fail "no image was moved"

"$benchcnn" sweep batch "${small[@]}" --net "$tmp/chain.net" --impl cpu:fused,cpu:direct --batch 10,50 --epochs 1 --out "$tmp/s.jsonl" >"$tmp/log" 2>&1 || fail "$(cat "$tmp/log")"
[ "$(of_kind "$tmp/s.jsonl" epoch | grep -c '"algorithm":"fused"')" -eq 2 ] || fail "it is not swept: $(cat "$tmp/log")"

"$benchcnn" verify --impl cpu --net "$tmp/chain.net" >"$tmp/log" 2>&1 || fail "$(cat "$tmp/log")"
grep -q 'PASSED *cpu:fused .*gradient steps.*12 steps with 6 optimizers, compared with single operations of cpu' "$tmp/log" || fail "it is not verified: $(cat "$tmp/log")"
"$benchcnn" verify --impl cpu:fused --net "$tmp/norm.net" >"$tmp/log" 2>&1
grep -q 'UNSUPPORTED *cpu:fused' "$tmp/log" || fail "what it cannot do is not said: $(cat "$tmp/log")"
[ "$(grep -c 'batch_norm1' "$tmp/log")" -le 2 ] || fail "the reason is said again and again: $(cat "$tmp/log")"
echo "all held"
