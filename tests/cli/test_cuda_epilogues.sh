#!/usr/bin/env bash
# test_cuda_epilogues.sh BENCHCNN: y = f(b + sum + z) by the CUDA kernels: each kernel of FWD, both layouts, each activation by
# itself and behind a residual; what would round twice is refused in words. On a GPU, or emulated; without either it is skipped.
# Under sanitizers by one check, and on the tensor cores two epilogues of four: they see what kernels read and write.
set -u
benchcnn=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
"$benchcnn" list 2>/dev/null | grep -qE '^ *✓ *cuda_naive' || { echo "skipped: no device for cuda_naive"; exit 77; }

checks=exact,bound,memory
[ -z "${TEST_SANITIZED:-}" ] || checks=bound
verified() { # PASSED, UNSUPPORTED, options
    local counts="$1 PASSED" not=$2
    [ "$not" = 0 ] || counts+=" $not UNSUPPORTED"
    shift 2
    "$benchcnn" verify --dir FWD --seed 1 --quiet --check $checks "$@" >"$tmp/log" 2>&1 || fail "$*: $(cat "$tmp/log")"
    grep -Fq "0 FAILED $counts (" "$tmp/log" || fail "$*: not $counts: $(tail -3 "$tmp/log")"
}
conv=(--op conv --problem g2mb2ic6ih7oc10kh3ph1 --layout all)
for epilogue in add relu add+leaky_relu=0.25 add+clipped_relu=2 scale=0.5 add+elu=1 selu add+sigmoid tanh; do
    verified 22 2 "${conv[@]}" --impl 'cuda_naive:*,cuda_im2col:*' --epilogue $epilogue # depthwise does not take it
done
verified 6 0 --op conv --problem g4mb2ic4ih7oc8kh3ph1 --layout all --dtype f32,f64,bf16 --impl cuda_naive:depthwise --epilogue add+relu
verified 4 0 "${conv[@]}" --impl cuda_naive:v6 --dtype f16,bf16 --epilogue add+relu --set cuda_naive.product.splits=2
verified 8 0 --op conv3d --problem mb2ic3id3ih5iw4oc4kd3kh3kw3pd1ph1pw1 --layout all --dtype f32,f64 --impl 'cuda_naive:*,cuda_im2col:*' --epilogue add+tanh
verified 4 0 "${conv[@]}" --impl cuda_naive:v1,cuda_naive:v2 --dtype f16 --epilogue add+tanh
verified 6 0 --op fc --problem mb5ic3ih4oc7 --layout all --impl 'cuda_naive:*,cuda_im2col:*' --epilogue add+elu=1
# Several chunks of images, the last of one image: outputs are split there, and are not; a product an image; one tap.
verified 2 0 --op conv --problem mb3ic16ih26oc5kh3ph1 --impl cuda_im2col:gather,cuda_im2col:implicit_pad --epilogue add+relu \
    --set cuda_im2col.workspace_mib=1
verified 2 0 --op conv --problem mb3ic3ih6oc5kh3ph1 --impl cuda_im2col:gather,cuda_im2col:implicit_pad --epilogue add+relu \
    --set cuda_im2col.gemm.batched=1
verified 2 0 --op conv --problem mb3ic3ih6oc5kh1 --layout all --impl cuda_im2col:gather --epilogue add+relu

if "$benchcnn" list 2>/dev/null | grep -qE '^ *✓ *cuda_tensor'; then
    tensor=(--impl cuda_tensor --layout all)
    epilogues=(clipped_relu=2 add+relu)
    [ -n "${TEST_SANITIZED:-}" ] || epilogues+=(add add+leaky_relu=0.25)
    for epilogue in "${epilogues[@]}"; do
        verified 6 0 "${tensor[@]}" --op conv --problem mb2ic33ih7oc66kh3ph1 --dtype f32,bf16,f16:f16:f32 --epilogue $epilogue
        verified 6 0 "${tensor[@]}" --op conv --problem mb2ic72ih9oc40kh3ph1 --dtype f32,bf16,f16:f16:f32 --epilogue $epilogue # strips
    done
    verified 6 0 "${tensor[@]}" --op conv --problem mb3ic72ih5oc40kh1 --dtype f32,f16,bf16:bf16:f32 --epilogue add+relu # a product
    for keep in 0 1; do # pixels as boxes; of NHWC's channels not in fours, too
        verified 4 0 "${tensor[@]}" --op conv --problem mb3ic36ih6oc44kh1 --problem mb2ic36ih10oc42kh1 --math tf32 \
            --epilogue add+leaky_relu=0.25 --set cuda_tensor.matrix=1 --set cuda_tensor.keep=$keep
    done
    verified 4 0 "${tensor[@]}" --op conv --problem mb1ic1ih3oc2kh3ph1 --dtype f32,bf16 --epilogue add+relu             # few terms
    verified 4 0 "${tensor[@]}" --op fc --problem mb17ic5ih3oc66 --dtype f32,bf16 --epilogue add+relu
    verified 2 2 "${tensor[@]}" --op conv --problem mb2ic33ih7oc66kh3ph1 --dtype f32,bf16 --epilogue add+tanh
    grep -q 'would round results in bf16 twice' <("$benchcnn" verify "${tensor[@]}" --op conv --dir FWD --dtype bf16 --problem tanh:mb2ic8ih7oc8kh3ph1) ||
        fail "the reason for refusing tanh of bf16"
fi
echo "all held"
