#!/usr/bin/env bash
# test_cuda_knobs.sh BENCHCNN: the CUDA implementations, emulated, hold at any setting of what they share and of the grids of
# impl_cuda_naive, and keep to a limit of their workspace.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"

if ! "$benchcnn" list | grep -q '^✓ cuda_naive (emulated'; then
    echo "SKIPPED: this build has no emulated implementation"
    exit 77
fi

# passes OPTION...: verify has cases that pass, and none that fails.
passes() {
    tests=$((tests + 1))
    "$benchcnn" verify --quiet --check bound,memory,determinism "$@" >"$tmp/out" 2>&1 &&
        grep -Eq ' 0 FAILED [1-9][0-9]* PASSED' "$tmp/out" || fail "verify $*: $(tail -c 600 "$tmp/out")"
}
# refused WORDS OPTION...: bad input, said in these words.
refused() {
    local words=$1
    shift
    tests=$((tests + 1))
    "$benchcnn" verify "$@" >"$tmp/out" 2>&1
    [ $? -eq 2 ] || fail "verify $* is not refused"
    holds "verify $*" "$tmp/out" "$words"
}

for setting in "32 1" "64 4096" "256 7"; do
    read -r threads blocks <<<"$setting"
    for layout in nchw nhwc; do
        passes --impl cuda_naive --op batchnorm --layout $layout --problem mb5ic3ih17iw19 --problem mb2ic70ih9 \
            --set cuda_naive.batchnorm.threads="$threads" --set cuda_naive.batchnorm.blocks="$blocks"
    done
done
for setting in "32 0 16" "64 1000 64" "256 7 100"; do
    read -r threads one rows <<<"$setting"
    passes --impl cuda_naive --op loss --problem mb130ic10 --set cuda_naive.loss.threads="$threads" \
        --set cuda_naive.loss.one_block="$one" --set cuda_naive.loss.rows="$rows"
done
passes --impl cuda_naive:v2 --op conv --dir BWD_W --problem mb2ic5ih7oc6kh3ph1 --set cuda_naive.v2.reduce_blocks=1
for rows in 64 128; do # tiles that are full and some that are not, in both layouts, by fours of channels and one by one
    for splits in 1 3; do
        passes --impl cuda_naive:v5,cuda_naive:v6 --op conv --layout nchw,nhwc --problem mb2ic72ih8oc136kh3sh2ph1 --problem g2mb1ic26ih7oc10kh3ph1 \
            --set cuda_naive.product.rows=$rows --set cuda_naive.product.splits=$splits
    done
done
# Tensor cores where cuda_tensor is refused; f64 has none.
EMULATED_CUDA_FAULT=capability=80 passes --impl cuda_naive:v6 --op conv --dtype f32,bf16,bf16:bf16:f32 --problem mb2ic20ih7oc9kh3ph1
"$benchcnn" verify --impl cuda_naive:v6 --op conv --dtype f64 --problem ic20ih7oc9kh3ph1 >"$tmp/out" 2>&1
holds "v6 in f64" "$tmp/out" '3 UNSUPPORTED: f64: the tensor cores are used for f32, f16 and bf16 here; use algorithm v5'
passes --impl cuda_naive:tiled --op fc --problem mb70ic33ih3oc35 --set cuda_naive.fc.blocks=1 --set cuda_naive.fc.threads=32
refused 'batchnorm.threads is 100, but must be one of 32, 64' --set cuda_naive.batchnorm.threads=100
refused 'loss.rows is 0, but must be from 16' --set cuda_im2col.loss.rows=0

# A workspace that is bounded: chunks, parts and slices are fewer; what cannot do with less says so, in bytes.
limited=(--impl 'cuda_naive:v3,cuda_im2col:implicit_pad' --op conv --problem mb8ic8ih32oc4kh3ph1 --dir BWD_W --set)
passes "${limited[@]}" '*.workspace_limit=1'
passes "${limited[@]}" '*.workspace_limit=0' --out "$tmp/none.jsonl"
holds "no workspace" "$tmp/out" 'UNSUPPORTED: one image needs|the knobs workspace_mib and workspace_limit allow 0'
grep '"impl":"cuda_naive"' "$tmp/none.jsonl" | grep -q '"knobs":{"workspace_limit":0}' || fail "the records lack the limit"
grep '"impl":"cuda_naive"' "$tmp/none.jsonl" | grep -q UNSUPPORTED && fail "cuda_naive refuses what it can do without a workspace"
passes --impl cuda_im2col:implicit_pad --op conv --layout nhwc --problem mb4ic8ih9oc5kh1 --set '*.workspace_limit=0'
passes --impl 'cuda_*' --op fc --problem mb3000ic4oc5 --set '*.workspace_limit=0'
refused 'workspace_limit is -2, but must be from -1' --set '*.workspace_limit=-2'

finish
