#!/usr/bin/env bash
# test_streams.sh BENCHCNN: --streams 2: the bits of one stream, captured or not; what it takes, and who refuses it.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
cat >"$tmp/blocks.net" <<'NET'
input 1 10 10
conv 4 kernel=3 pad=1
batch_norm
relu
save a
conv 6 kernel=3 stride=2 pad=1
batch_norm
relu
conv 6 kernel=3 pad=1
save block
from a
conv 6 kernel=1 stride=2
batch_norm
add block
relu
save b
conv 6 kernel=3 pad=1
relu
conv 6 kernel=3 pad=1
add b
relu
dropout 0.1
fc 10
softmax_cross_entropy
NET
images=26,10
common=(--net "$tmp/blocks.net" --data synthetic --images $images --batch 8 --threads 1)
train() {
    tests=$((tests + 1))
    "$benchcnn" train "${common[@]}" "$@" >"$tmp/out" 2>"$tmp/err" || fail "$*: $(cat "$tmp/err")"
}
bytes() { sed -n "s/^  $1  *\([0-9]*\) bytes.*/\1/p" "$tmp/out"; }
field() { grep '"kind":"epoch"' "$1" | grep -o "\"$2\":[^,}]*" | cut -d: -f2 | paste -sd' '; }

# ---- Who refuses it, and why.
refused 'computes on the CPU|--streams is for GPUs' train "${common[@]}" --impl cpu:direct --streams 2
refused 'computes on the CPU|--streams is for GPUs' train "${common[@]}" --impl cpu:direct --streams 2 --plan
refused 'cpu:fused makes its steps itself: --streams is for training by single operations' train "${common[@]}" --impl cpu:fused --streams 2
refused '--streams|--net' verify --impl cpu --streams 2
refused '--streams|2' train "${common[@]}" --impl cpu:direct --streams 3
train --impl cpu:direct --streams 1 --plan
grep -q '2 streams' "$tmp/out" && fail "one stream says two: $(cat "$tmp/out")"

"$benchcnn" list >"$tmp/list"
ways=()
has() { grep -q "^✓ $1" "$tmp/list"; }
has cuda_naive && ways+=("cuda_naive" "cuda_naive --recompute --offload --fuse")
has cuda_im2col && ways+=("cuda_im2col --no-graph")
if [ -z "${TEST_SANITIZED:-}" ]; then # others show it as much
    has cuda_naive && ways+=("cuda_naive --no-graph" "cuda_naive --data-on host --dtype f64" "cuda_naive --recompute --fuse" "cuda_naive --offload")
    has cuda_im2col && ways+=("cuda_im2col --layout nhwc")
    has cuda_tensor && ways+=("cuda_tensor" "cuda_tensor --dtype bf16 --no-graph")
fi
if [ ${#ways[@]} -gt 0 ]; then
    has cuda_fused && refused 'cuda_fused:v3 makes its steps itself' train --net thesis --data synthetic --images 20,10 --batch 10 --impl cuda_fused:v3 --streams 2
    has cuda_im2col && refused 'has no second stream beside its operations' train "${common[@]}" --impl cuda_im2col+cuda_naive --streams 2
fi

# ---- The same bits; the plan and the records say what it is.
for way in ${ways[0]+"${ways[@]}"}; do
    rm -f "$tmp"/{one,two}.{st,jsonl}
    # shellcheck disable=SC2086  # options
    train --impl $way --plan
    one=$(bytes 'values and gradients')
    # shellcheck disable=SC2086  # options
    train --impl $way --plan --streams 2
    two=$(bytes 'values and gradients') work=$(bytes workspace)
    # Of 4 convolutions and FC all gradients of weights but the last, and the projection's branch.
    grep -qE '2 streams: of [0-9]+ operations of a training step [1-9][0-9]* are on the second' "$tmp/out" || fail "$way: the plan: $(tail -5 "$tmp/out")"
    [ "$one" -gt 0 ] && [ "$two" -ge "$one" ] || fail "$way: $one bytes, on two streams $two"
    case $way in cuda_im2col*) [ "$work" -gt 0 ] || fail "$way: no workspace" ;; esac
    # shellcheck disable=SC2086  # options
    train --impl $way --epochs 2 --save "$tmp/one.st" --out "$tmp/one.jsonl"
    # shellcheck disable=SC2086  # options
    train --impl $way --epochs 2 --save "$tmp/two.st" --out "$tmp/two.jsonl" --streams 2
    holds "$way: the head" "$tmp/out" ', 2 streams'
    cmp -s "$tmp/one.st" "$tmp/two.st" || fail "$way: --streams 2 changes the weights"
    for each in train_loss test_loss; do
        [ "$(field "$tmp/one.jsonl" $each)" = "$(field "$tmp/two.jsonl" $each)" ] || fail "$way: --streams 2 changes $each"
    done
    [ "$(field "$tmp/two.jsonl" streams),$(field "$tmp/one.jsonl" streams)" = "2 2," ] || fail "$way: the records say streams $(field "$tmp/two.jsonl" streams), $(field "$tmp/one.jsonl" streams)"
    [ "$(field "$tmp/two.jsonl" values_bytes)" = "$two $two" ] || fail "$way: the records say $(field "$tmp/two.jsonl" values_bytes) bytes, the plan $two"
    [ "$(field "$tmp/two.jsonl" verified)" = "true true" ] || fail "$way: not verified: $(cat "$tmp/two.jsonl")"
done
for way in ${ways[0]+"--impl cuda_naive:v4" "--impl cuda_naive:v4 --recompute --offload --fuse"}; do
    tests=$((tests + 1))
    # shellcheck disable=SC2086  # options
    "$benchcnn" verify --net projection $way --streams 2 >"$tmp/out" 2>&1 || fail "verify $way: $(tail -3 "$tmp/out")"
    holds "verify $way" "$tmp/out" 'PASSED|0 FAILED'
done
finish
