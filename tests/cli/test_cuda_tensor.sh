#!/usr/bin/env bash
# test_cuda_tensor.sh BENCHCNN [SANITIZERS]: convolutions on the tensor cores: every way of cutting the work is verified in both
# layouts, in f32, TF32, f16 and bf16, and what the device cannot do is refused in words. On a GPU, or emulated; without either it is
# skipped. Under sanitizers each is run once, by one check: they see what kernels read and write, and the other checks find as much
# without.
set -u
benchcnn=$1 sanitized=${2:-}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
"$benchcnn" list 2>/dev/null | grep -qE '^ *✓ *cuda_tensor' || { echo "skipped: no device for cuda_tensor"; exit 77; }

verified() { # CASES, then options: so many PASSED, and nothing else
    local cases=$1
    shift
    [ -z "$sanitized" ] || [ "$1" = --net ] || set -- "$@" --check bound
    "$benchcnn" verify --impl cuda_tensor --seed 1 --quiet "$@" >"$tmp/log" 2>&1 || fail "$*: $(cat "$tmp/log")"
    grep -q "^$cases cases: 0 FAILED $cases PASSED" "$tmp/log" || fail "$*: not $cases PASSED: $(tail -3 "$tmp/log")"
}
check=(--check exact,bound,precision,memory)
tiles=(--set cuda_tensor.direct=0) # one tap of f32, by the kernels that lay out weights
padded=mb2ic33ih7oc66kh3ph1   # several chunks and tiles, with less than whole ones
strided=mb2ic18ih9oc17kh3sh2ph1dh1
verified 3 --op conv --problem $padded "${check[@]}"
verified 3 --op conv --problem $strided --layout nhwc "${check[@]}"
verified 3 --op conv --problem g2mb3ic34ih4oc68kh2 --mode convolution "${check[@]}"        # groups, the kernel reversed
verified 3 --op conv --problem mb3ic72ih3oc65kh1 --layout nhwc "${check[@]}" "${tiles[@]}"
verified 3 --op conv --problem mb2ic33ih24oc8kh1sh2 --layout nhwc "${check[@]}" "${tiles[@]}"  # one tap, gathered
verified 3 --op conv --problem $padded --math tf32 "${check[@]}"
verified 3 --op deconv --problem mb2ic17ih3oc18kh3sh2ph1 "${check[@]}"
verified 3 --op fc --problem mb17ic5ih3oc66 --layout nhwc "${check[@]}" "${tiles[@]}"
verified 3 --op conv --problem mb1ic1ih3oc2kh3ph1 "${check[@]}"                    # few terms

# A few tiles of a device of 48 multiprocessors: several blocks share each, evenly, gathered and as patches and boxes.
EMULATED_CUDA_FAULT=multiprocessors=48 verified 4 --op conv --dir FWD,BWD_D --problem mb1ic264ih7oc72kh1 --problem mb1ic136ih9oc40kh3sh2ph1 --layout nhwc --check exact,bound,determinism "${tiles[@]}"
EMULATED_CUDA_FAULT=multiprocessors=48 verified 4 --op conv --dir FWD,BWD_D --problem mb1ic100ih7oc72kh3ph1 --problem mb1ic520ih8oc33kh1 --math tf32 --check exact,bound,memory "${tiles[@]}"
EMULATED_CUDA_FAULT=multiprocessors=48 verified 2 --op conv --dir FWD,BWD_D --problem mb1ic200ih7oc264kh3ph1 --layout nhwc --dtype bf16 --check exact,bound

# Few input channels: a row of the kernel as channels; fewer than four, stride and dilation, more columns than rows; beside copies of dy,
# and where the workspace has no room for it.
folded=(--op conv --dir FWD,BWD_W --problem mb2ic3ih15oc10kh7sh2ph3 --problem mb2ic1ih9iw11oc5kh5kw3ph2pw1 --set cuda_tensor.fold=1)
verified 8 "${folded[@]}" --layout nchw,nhwc "${check[@]}"
verified 4 "${folded[@]}" --mode convolution --math tf32 "${check[@]}"
verified 2 --op conv --dir FWD,BWD_W --problem mb3ic4ih8oc70kh3ph1 --set cuda_tensor.fold=1 --set cuda_tensor.repack=1 "${check[@]}"
verified 4 "${folded[@]}" --set '*.workspace_limit=20000' --check bound

# 16 bits, and results of f32: channels in eights and not, planes of odd and even sizes, one tap, strides, a batch, a network.
half=(--dtype f16,bf16:bf16:f32 --check exact,bound,memory)
verified 6 --op conv --problem mb2ic72ih4oc40kh3ph1 --layout nhwc --dtype f16,bf16:bf16:f32 --check exact,bound,precision
verified 6 --op conv --problem mb2ic33ih4oc18kh3ph1 "${half[@]}"
verified 6 --op conv --problem g2mb2ic10ih5oc6kh3sh2ph1 --dtype bf16,f16:f16:f32 --check exact,bound,memory
verified 6 --op conv --problem mb3ic72ih3oc20kh1 --layout nhwc --mode convolution "${half[@]}"
verified 6 --op fc --problem mb17ic5ih3oc66 "${half[@]}"
verified 2 --op conv --dir FWD,BWD_D --problem mb1ic70ih4oc66kh3ph1 --dtype bf16 --set cuda_tensor.split=1 --set cuda_tensor.patch=0 --check exact,bound
verified 1 --net small --dtype bf16

# 16 bits in NHWC without strides: a strip of positions; padding wider than the kernel needs, or none, either way; tiles in pieces.
verified 6 --op conv --problem mb2ic72ih9oc40kh3ph1 --layout nhwc --dtype f16,bf16:bf16:f32 --check exact,bound,precision,memory
verified 6 --op conv --problem mb3ic72ih7iw5oc136kh3kw2ph2dh1 --problem mb2ic16ih8oc24kh5ph1 --layout nhwc --dtype bf16 \
    --check exact,bound,determinism --mode convolution
verified 2 --op conv --dir FWD,BWD_D --problem mb2ic136ih5oc72kh3ph1 --layout nhwc --dtype f16 --set cuda_tensor.split=1 --set cuda_tensor.tile=3 --check exact,bound
verified 6 --op conv --problem mb2ic72ih4oc40kh3ph1 --layout nhwc --dtype f16,bf16:bf16:f32 --check exact,bound --set cuda_tensor.strip=0
verified 3 --op conv --problem g2mb2ic144ih5oc80kh3ph1 --layout nhwc --dtype bf16 --check exact,bound

# One tap in NHWC: a product of matrices, of one tile and of several either way, a tile's sums shared; or as other kernels.
verified 6 --op conv --problem mb3ic72ih5oc40kh1 --layout nhwc --dtype f16,bf16:bf16:f32 --check exact,bound,precision,memory
verified 3 --op conv --problem mb2ic72ih12oc136kh1 --layout nhwc --dtype bf16 --check exact,bound,memory,determinism
verified 2 --op conv --dir BWD_W --problem mb2ic328ih12oc64kh1 --problem mb2ic40ih12oc136kh1 --layout nhwc --dtype f16 --check exact,bound
verified 3 --op fc --problem mb130ic8ih3oc72 --dtype f16:f16:f32 --check exact,bound,memory
verified 3 --op conv --problem mb3ic72ih5oc40kh1 --layout nhwc --dtype bf16 --check exact,bound --set cuda_tensor.matrix=0

# One tap in NCHW: a product of matrices an image, of planes that divide by 8; tiles of 64 and of 128 channels, of a whole plane and of
# parts of it; with a residual; without a workspace. Others are copied to NHWC.
planes=(--problem mb3ic40ih4oc24kh1 --problem mb2ic72ih12oc136kh1)
verified 12 --op conv "${planes[@]}" --dtype f16,bf16:bf16:f32 --check exact,bound,precision,memory
verified 3 --op conv --problem mb2ic136ih8iw17oc328kh1kw1sw1pw0 --dtype bf16 --check exact,bound,memory,determinism
verified 4 --op conv --dir FWD "${planes[@]}" --dtype f16,bf16 --epilogue add+relu --check exact,bound
verified 4 --op conv --dir FWD,BWD_D "${planes[@]}" --dtype bf16 --check bound --set cuda_tensor.workspace_limit=0
verified 2 --op conv --dir BWD_W "${planes[@]}" --dtype f16 --check exact,bound --set cuda_tensor.matrix=0
verified 3 --op conv --problem mb2ic16ih8oc24kh1 --dtype f16 --check exact,bound --set cuda_tensor.repack=1

# One tap of f32: pixels as boxes, in NHWC by rows of channels, in NCHW by planes that boxes of 32 pixels fill or not; each tile, whole
# or in pieces; channels and planes that no copy takes. As patches. With weights that stay: several turns of channels, several lines.
for math in '' '--math tf32'; do
    verified 4 --op conv --dir FWD,BWD_D --layout all --problem mb3ic72ih10oc40kh1 $math "${check[@]}" --set cuda_tensor.keep=0
    verified 4 --op conv --dir FWD,BWD_D --layout all --problem mb3ic33ih8oc66kh1 $math --check exact,bound "${tiles[@]}"
    verified 4 --op conv --dir FWD,BWD_D --layout all --problem mb3ic36ih7oc36kh1 $math --check exact,bound "${tiles[@]}"
    for knobs in tile=1,split=1 tile=2,split=1 tile=3,split=0 matrix=0 keep=1; do
        set=()
        for knob in ${knobs//,/ }; do set+=(--set "cuda_tensor.$knob"); done
        EMULATED_CUDA_FAULT=multiprocessors=2 verified 4 --op conv --dir FWD,BWD_D --layout all --problem mb6ic68ih10oc72kh1 $math \
            --check exact,bound,determinism "${set[@]}"
    done
    verified 4 --op conv --dir FWD,BWD_D --layout all --problem mb3ic40ih10oc136kh1 $math "${check[@]}" --set cuda_tensor.keep=1
    verified 2 --op conv --dir FWD --layout all --problem mb17ic16ih32oc8kh1 $math --check bound --set cuda_tensor.keep=1 # more lines than blocks
    verified 2 --op fc --dir FWD,BWD_D --problem mb130ic8ih3oc72 $math --check exact,bound,memory "${tiles[@]}"
done
verified 4 --op conv --dir FWD,BWD_D --layout all --problem mb5ic40ih2oc36kh1 --check exact,bound,memory --set cuda_tensor.matrix=1

# f32 in NHWC whose taps no patch serves: a box of each tap's pixels, which the hardware finds; both strides, even kernels, channels
# that no box fills, pixels that no tap reads; dilation and padding wider than the kernel; pieces; a copy of NCHW; number by number
# where channels are not in fours, and 16 bytes at once without boxes.
taps=(--problem mb2ic36ih9oc40kh3sh2ph1 --problem mb3ic8ih11iw8oc20kh3kw2sh2sw1ph1pw0 --problem mb2ic12ih12oc8kh2sh3)
spread=(--problem mb1ic20ih9oc36kh3ph2dh1 --problem mb1ic16ih9oc16kh5sh1ph0)
for math in '' '--math tf32'; do
    verified 9 --op conv --layout nhwc "${taps[@]}" $math --set cuda_tensor.matrix=1 "${check[@]}"
    verified 6 --op conv --layout nhwc "${spread[@]}" $math --set cuda_tensor.matrix=1 --mode convolution --check exact,bound
    verified 3 --op conv --layout nhwc --problem mb2ic40ih8oc24kh1sh2 $math "${check[@]}" "${tiles[@]}"
done
verified 3 --op conv --layout nhwc --problem mb2ic36ih9oc40kh3sh2ph1 --set cuda_tensor.matrix=0 "${check[@]}"
# Several taps in a tile of BWD_W, either factor with more channels; pixels of a folded row, which overlap.
for math in '' '--math tf32'; do
    verified 3 --op conv --dir BWD_W --layout nhwc --problem mb2ic16ih9oc16kh3ph1 --problem mb1ic4ih9oc140kh3ph1 \
        --problem mb1ic36ih7oc4kh5ph2 $math --set cuda_tensor.matrix=1 --set cuda_tensor.fold=0 "${check[@]},determinism"
    verified 8 "${folded[@]}" --problem mb2ic4ih8oc68kh3ph1 --problem mb2ic2ih12oc64kh3sh2ph1 --layout nhwc $math --set cuda_tensor.matrix=1 \
        --check exact,bound
done
verified 3 --op conv --layout nhwc --problem mb2ic34ih9oc38kh3sh2ph1 --set cuda_tensor.matrix=1 --check exact,bound
verified 3 --op conv --layout nchw --problem mb2ic36ih9oc40kh3sh2ph1 --set cuda_tensor.matrix=1 --set cuda_tensor.repack=1 "${check[@]}"
verified 2 --op conv --dir FWD,BWD_D --layout nhwc --problem mb6ic68ih10oc72kh3sh2ph1 --set cuda_tensor.split=1 --set cuda_tensor.tile=3 \
    --check exact,bound,determinism
verified 3 --op deconv --layout nhwc --problem mb2ic36ih5oc40kh3sh2ph1 --set cuda_tensor.matrix=1 --check exact,bound
EMULATED_CUDA_FAULT=multiprocessors=48 verified 1 --op conv --dir BWD_W --layout nhwc --problem mb2ic136ih9oc140kh3sh2ph1 \
    --set cuda_tensor.matrix=1 --check exact,bound,determinism # several tiles a tap, whose steps are shared

# Its BWD_W: x or dy with more channels, one tile and several, fewer blocks than tiles, shared steps and not; channels that no copy takes.
for math in '' '--math tf32'; do
    verified 4 --op conv --dir BWD_W --layout all --problem mb3ic72ih10oc40kh1 --problem mb3ic36ih8oc76kh1 $math "${check[@]},determinism" "${tiles[@]}"
    verified 4 --op conv --dir BWD_W --layout all --problem mb1ic264ih10oc72kh1 --problem mb5ic40ih4oc136kh1 $math --check exact,bound --set cuda_tensor.matrix=1
    verified 4 --op conv --dir BWD_W --layout all --problem mb3ic33ih8oc66kh1 --problem mb3ic36ih7oc38kh1 $math --check exact,bound "${tiles[@]}"
    EMULATED_CUDA_FAULT=multiprocessors=1 verified 2 --op conv --dir BWD_W --layout all --problem mb2ic132ih8oc132kh1 $math --check exact,bound "${tiles[@]}"
    verified 1 --op fc --dir BWD_W --problem mb130ic8ih3oc72 $math --check exact,bound,memory "${tiles[@]}"
done

# One tap of f32 straight from memory to the cores: four numbers at once along k, along the rows, or one by one; sums of k that 16 does
# not divide; strides, of which one leaves pixels of dx without any; what is added and activated; steps shared by the blocks of a cluster.
direct=(--set cuda_tensor.direct=1 --layout all)
for math in '' '--math tf32'; do
    verified 12 --op conv --problem mb2ic36ih6oc40kh1 --problem mb1ic18ih7iw9oc35kh1kw1sh2sw3 $math "${direct[@]}" "${check[@]}"
    EMULATED_CUDA_FAULT=multiprocessors=16 verified 12 --op conv --problem mb1ic264ih4oc36kh1 --problem mb1ic40ih8oc20kh1sh2 $math \
        "${direct[@]}" --check exact,bound,determinism
done
verified 2 --op conv --dir FWD --problem mb3ic20ih5oc36kh1sh2 "${direct[@]}" --epilogue add+relu --check exact,bound
verified 6 --op fc --problem mb17ic24ih1oc66 "${direct[@]}" --check exact,bound,memory
verified 6 --op deconv --problem mb2ic40ih5oc24kh1sh2 "${direct[@]}" --check exact,bound

# A patch for all taps or one a tap, tiles whole or in pieces, each tile: the same numbers.
for knobs in patch=0,split=0 patch=1,split=1,tile=2 patch=0,split=1,tile=3; do
    set=()
    for knob in ${knobs//,/ }; do set+=(--set "cuda_tensor.$knob"); done
    verified 2 --op conv --dir FWD,BWD_D --problem mb2ic33ih5oc66kh3ph1 --check exact,bound,determinism "${set[@]}"
done
verified 1 --op conv --dir BWD_W --problem mb2ic200ih6oc70kh1 --check exact,bound,determinism --layout nhwc "${tiles[@]}"  # four slots of one tap
verified 1 --op conv --dir BWD_W --problem mb4ic20ih5oc20kh3ph1 --check exact,bound,determinism --set cuda_tensor.patch=0 --set cuda_tensor.matrix=0
# f32 of channels in fours, by patches and gathered, as they lie and copied.
for math in '' '--math tf32'; do
    verified 2 --op conv --dir BWD_W --layout all --problem mb3ic36ih7oc68kh3ph1 $math --set cuda_tensor.matrix=0 "${check[@]}"
done
verified 4 --op conv --dir BWD_W --layout all --problem mb3ic36ih7oc68kh3ph1 --problem mb3ic8ih14oc8kh3ph1 --set cuda_tensor.matrix=0 \
    --set cuda_tensor.patch=0 --check exact,bound,determinism

# Clusters: blocks that share a tile add up their sums; a share each of a tile's pixels; several clusters of a tile, and two tiles.
clusters() { # MULTIPROCESSORS CLUSTER OPTIONS...
    EMULATED_CUDA_FAULT=multiprocessors=$1 verified 1 --op conv --dir BWD_W --layout nhwc --set "cuda_tensor.cluster=$2" "${@:3}"
}
clusters 16 8 --problem mb2ic20ih16oc20kh3ph1 --dtype bf16 --check exact,bound,determinism
clusters 16 4 --problem mb2ic24ih9oc24kh3ph1 --dtype bf16 --check exact,bound,determinism # of a strip, whose lines are dealt out
clusters 16 1 --problem mb2ic24ih9oc24kh3ph1 --dtype f16 --check exact,bound --set cuda_tensor.chunk=20
clusters 16 4 --problem mb1ic20ih13oc70kh3 --check exact,bound,determinism
clusters 5 2 --problem mb1ic200ih7oc40kh1 --dtype f16 --check exact,bound --set cuda_tensor.matrix=0

# The gradient of an NHWC bias over many pixels is several blocks' sum (harness/cuda/bias.cu).
"$benchcnn" verify --impl cuda_naive:v4 --op deconv --dir BWD_W --layout nhwc --problem mb2ic1ih31oc40kh2 --seed 1 --quiet >"$tmp/log" 2>&1 &&
    grep -q '^1 cases: 0 FAILED 1 PASSED' "$tmp/log" || fail "a bias in parts: $(cat "$tmp/log")"

# NCHW of a 1x1 kernel with strides: what it reads of x is copied; strides that leave a rest, channels that no copy takes.
thin=(--problem mb2ic40ih16oc24kh1sh2 --problem mb2ic40ih8oc24kh1sh2 --problem mb3ic36ih11iw9oc68kh1kw1sh2sw3 --problem mb2ic34ih7oc24kh1sh3)
verified 12 --op conv "${thin[@]}" "${tiles[@]}" "${check[@]}"
verified 4 --op conv --dir BWD_W "${thin[@]}" --set cuda_tensor.matrix=1 "${tiles[@]}" --check exact,bound,memory
verified 4 --op conv --dir BWD_W "${thin[@]}" --set cuda_tensor.repack=1 "${tiles[@]}" --check exact,bound
verified 4 --op conv --dir FWD "${thin[@]}" "${tiles[@]}" --epilogue add+relu --math tf32 --check exact,bound

# NCHW as it lies and copied to NHWC first: channels and planes that fill a block's tile and do not; groups; strides; and where one
# number of channels or the limit of the workspace forbids it.
for k in 0 1; do
    repack=(--set cuda_tensor.repack=$k --check exact,bound,memory)
    verified 3 --op conv --problem mb2ic36ih7oc68kh3ph1 --problem g2mb3ic40ih5oc70kh3 --dir BWD_W --problem mb2ic68ih3oc33kh2sh2 "${repack[@]}"
    verified 2 --op conv --dir FWD,BWD_D --problem mb2ic36ih7oc40kh3sh2ph1 --math tf32 "${repack[@]}"
    verified 6 --op conv --problem mb2ic72ih5oc40kh3ph1 --dtype f16,bf16:bf16:f32 "${repack[@]}"
    verified 1 --op deconv --dir BWD_W --problem mb2ic20ih5oc36kh3ph1 "${repack[@]}"
done
verified 6 --op conv --problem mb3ic72ih7oc40kh1 --problem mb2ic16ih6oc8kh3sh2ph1 --check exact,bound,memory
limited=(--op conv --dir BWD_W --problem mb12ic64ih14oc64kh3ph1 --check bound --set cuda_tensor.workspace_limit=1)
EMULATED_CUDA_FAULT=multiprocessors=1 verified 1 "${limited[@]}"
# So does the room for sums of boxes of taps: by patches a pair of blocks needs none.
EMULATED_CUDA_FAULT=multiprocessors=8 verified 1 --op conv --dir BWD_W --layout nhwc --problem mb4ic128ih12oc128kh3ph1 --check bound \
    --set cuda_tensor.workspace_limit=1
EMULATED_CUDA_FAULT=multiprocessors=1 "$benchcnn" verify --impl cuda_tensor "${limited[@]}" --set cuda_tensor.repack=1 >"$tmp/log" 2>&1
grep -q 'UNSUPPORTED.*bytes of workspace are needed, and the knob workspace_limit allows 1048576' "$tmp/log" || fail "$(cat "$tmp/log")"

# 16 bits in NCHW, results copied back to it, added to what is there (beta 1), to a residual; planes large and small.
verified 9 --op conv --problem mb2ic72ih5oc40kh3ph1 --problem mb3ic72ih7oc136kh1 --problem mb2ic16ih17oc8kh3ph1 --dtype bf16 --check exact,bound,memory
verified 4 --op conv --dir FWD --problem mb2ic72ih5oc40kh3ph1 --problem mb3ic72ih7oc40kh1 --dtype bf16,f16 --epilogue add+relu --check exact,bound
verified 4 --op conv --dir FWD,BWD_D --problem mb2ic16ih17oc24kh3ph1 --dtype f16 --set cuda_tensor.repack=1 --layout all --check exact,bound

# BWD_D with strides, in phases: rows and columns of different strides; dilation; pixels that no tap reaches; pieces; a launch for all.
phases=(--op conv --dir BWD_D --layout nchw,nhwc --check exact,bound,memory)
for k in 1 2; do
    verified 8 "${phases[@]}" --problem mb2ic36ih7oc40kh3sh2ph1 --problem g2mb3ic34ih6oc40kh3sh2 --problem mb2ic20ih9iw8oc36kh5kw3sh1sw2ph2pw1 \
        --problem mb2ic20ih9iw11oc36kh3kw2sh1sw3ph1pw0 --set cuda_tensor.phases=$k --mode convolution
    verified 8 "${phases[@]}" --problem mb2ic36ih11oc40kh3sh2ph2dh1 --problem mb2ic20ih9oc17kh1sh2 --dtype bf16,f16:f16:f32 --set cuda_tensor.phases=$k
done
for knob in split=1 patch=0; do
    EMULATED_CUDA_FAULT=multiprocessors=3 verified 2 "${phases[@]}" --problem mb2ic140ih7oc68kh3sh2ph1 --set cuda_tensor.tile=2 --set "cuda_tensor.$knob" \
        --set cuda_tensor.phases=1 --check exact,bound,determinism
done
verified 3 --op deconv --problem mb2ic36ih5oc40kh4sh2ph1 --set cuda_tensor.phases=1 --check exact,bound,memory

# What it does not do, it says.
"$benchcnn" verify --impl cuda_tensor --op conv --dtype f64 --problem $padded >"$tmp/log" 2>&1
grep -q 'UNSUPPORTED.*dtype f64: the tensor cores are used for f32, f16 and bf16 here' "$tmp/log" || fail "$(cat "$tmp/log")"
if "$benchcnn" list 2>/dev/null | grep -q emulated; then
    EMULATED_CUDA_FAULT=capability=80 "$benchcnn" verify --impl cuda_tensor --op conv --problem $padded >"$tmp/log" 2>&1
    grep -q 'UNSUPPORTED.*compute capability 9.0, and this device has 8.0' "$tmp/log" || fail "$(cat "$tmp/log")"
fi
echo "all held"
