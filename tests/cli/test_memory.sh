#!/usr/bin/env bash
# test_memory.sh BENCHCNN: values and gradients share memory; --recompute takes less of it, and --offload less of a
# device's, for the same bits.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
cat >"$tmp/blocks.net" <<'NET'
input 1 12 12
conv 4 kernel=3 pad=1
batch_norm
relu
repeat 3
save a
conv 4 kernel=3 pad=1
batch_norm
relu
dropout 0.1
conv 4 kernel=3 pad=1
add a
relu
end
fc 10
softmax_cross_entropy
NET
images=65,30
[ -z "${TEST_SANITIZED:-}" ] || images=25,10 # a whole batch, and one that is not
common=(--net "$tmp/blocks.net" --data synthetic --images $images --batch 20 --threads 1)
train() {
    tests=$((tests + 1))
    "$benchcnn" train "${common[@]}" "$@" >"$tmp/out" 2>"$tmp/err" || fail "$*: $(cat "$tmp/err")"
}
bytes() { awk '/values and gradients  /{print $4}' "$tmp/out"; }
field() { grep '"kind":"epoch"' "$1" | grep -o "\"$2\":[^,}]*" | cut -d: -f2 | paste -sd' '; }

# ---- The plan says it, and allocates nothing.
train --impl cpu:direct --plan
shared=$(bytes) apart=$(sed -n 's/.*apart they take \([0-9.]*\) MB.*/\1/p' "$tmp/out")
train --impl cpu:direct --plan --recompute
less=$(bytes)
awk -v a="$apart" -v s="$shared" -v l="$less" 'BEGIN {exit !(s > 0 && s < 0.7e6 * a && l > 0 && l < 0.7 * s)}' ||
    fail "of $apart MB $shared bytes are left when shared, $less with --recompute"

# ---- The same bits, whoever computes, captured or not.
ways=("cpu:direct" "cpu:im2col --dtype f64 --layout nhwc" "cpu:direct --data-on host")
"$benchcnn" list >"$tmp/list"
grep -q '^✓ cuda_naive' "$tmp/list" && ways+=("cuda_naive" "cuda_naive --no-graph")
for way in "${ways[@]}"; do
    rm -f "$tmp"/{kept,less}.jsonl
    # shellcheck disable=SC2086  # options
    train --impl $way --epochs 2 --save "$tmp/kept.st" --out "$tmp/kept.jsonl"
    # shellcheck disable=SC2086  # options
    train --impl $way --epochs 2 --save "$tmp/less.st" --out "$tmp/less.jsonl" --recompute
    cmp -s "$tmp/kept.st" "$tmp/less.st" || fail "$way: --recompute changes the weights"
    for each in train_loss test_loss; do
        [ "$(field "$tmp/kept.jsonl" $each)" = "$(field "$tmp/less.jsonl" $each)" ] || fail "$way: --recompute changes $each"
    done
    [ "$(field "$tmp/less.jsonl" recompute) $(field "$tmp/kept.jsonl" recompute)" = "true true false false" ] ||
        fail "$way: the records say recompute $(field "$tmp/less.jsonl" recompute)"
    [ "$(field "$tmp/less.jsonl" verified)" = "true true" ] || fail "$way: not verified: $(cat "$tmp/less.jsonl")"
    awk -v a="$(field "$tmp/kept.jsonl" values_bytes)" -v b="$(field "$tmp/less.jsonl" values_bytes)" \
        'BEGIN {split(a, x, " "); split(b, y, " "); exit !(y[1] > 0 && y[1] < x[1])}' || fail "$way: the bytes are not fewer"
done
holds "the head" "$tmp/out" ', recompute'
tests=$((tests + 1))
"$benchcnn" verify --net "$tmp/blocks.net" --impl cpu:direct --recompute >"$tmp/out" 2>&1 || fail "verify: $(tail -3 "$tmp/out")"

# ---- What has memory of its own refuses; without --net there is nothing to recompute.
refused 'cpu:fused has memory of its own: --recompute is for training by single operations' train "${common[@]}" --impl cpu:fused --recompute
refused '--recompute' verify --impl cpu --recompute

# ---- To host memory and back, from a device.
refused 'cpu:fused has memory of its own: --offload is for training by single operations' train "${common[@]}" --impl cpu:fused --offload
refused 'cpu computes in host memory|--recompute' train "${common[@]}" --impl cpu:direct --offload
refused 'cpu computes in host memory|--recompute' train "${common[@]}" --impl cpu:direct --offload --plan
refused '--offload|--net' verify --impl cpu --offload
ways=()
grep -q '^✓ cuda_naive' "$tmp/list" && ways=("cuda_naive" "cuda_naive --no-graph" "cuda_naive --data-on host --dtype f64")
for way in ${ways[0]+"${ways[@]}"}; do
    rm -f "$tmp"/{kept,less}.jsonl
    # shellcheck disable=SC2086  # options
    train --impl $way --epochs 2 --save "$tmp/kept.st" --out "$tmp/kept.jsonl"
    # shellcheck disable=SC2086  # options
    train --impl $way --plan
    kept=$(bytes)
    # shellcheck disable=SC2086  # options
    train --impl $way --plan --offload
    less=$(bytes) host=$(awk '/values on the host  /{print $5}' "$tmp/out")
    awk -v a="$kept" -v b="$less" -v h="$host" 'BEGIN {exit !(b > 0 && b < a && h > 0)}' || fail "$way: $kept bytes, offloaded $less, host $host"
    # shellcheck disable=SC2086  # options
    train --impl $way --epochs 2 --save "$tmp/less.st" --out "$tmp/less.jsonl" --offload
    holds "$way: the head" "$tmp/out" ', offload'
    cmp -s "$tmp/kept.st" "$tmp/less.st" || fail "$way: --offload changes the weights"
    for each in train_loss test_loss; do
        [ "$(field "$tmp/kept.jsonl" $each)" = "$(field "$tmp/less.jsonl" $each)" ] || fail "$way: --offload changes $each"
    done
    [ "$(field "$tmp/less.jsonl" offload) $(field "$tmp/kept.jsonl" offload)" = "true true false false" ] || fail "$way: the records say offload $(field "$tmp/less.jsonl" offload)"
    [ "$(field "$tmp/less.jsonl" offload_bytes) $(field "$tmp/kept.jsonl" offload_bytes)" = "$host $host 0 0" ] ||
        fail "$way: the records say $(field "$tmp/less.jsonl" offload_bytes) bytes on the host, the plan $host"
    [ "$(field "$tmp/less.jsonl" values_bytes)" = "$less $less" ] || fail "$way: the records say $(field "$tmp/less.jsonl" values_bytes), the plan $less"
    [ "$(field "$tmp/less.jsonl" verified)" = "true true" ] || fail "$way: not verified: $(cat "$tmp/less.jsonl")"
done
if [ ${#ways[@]} -gt 0 ]; then
    for way in --offload '--offload --recompute --fuse'; do
        tests=$((tests + 1))
        # shellcheck disable=SC2086  # options
        "$benchcnn" verify --net "$tmp/blocks.net" --impl cuda_naive $way >"$tmp/out" 2>&1 || fail "verify $way: $(tail -3 "$tmp/out")"
    done
fi
finish
