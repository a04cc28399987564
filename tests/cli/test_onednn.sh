#!/usr/bin/env bash
# test_onednn.sh BENCHCNN: what impl_onednn refuses, and why; layouts as they are; as many threads as asked for; networks alone
# and in a pair; what the environment decides. Skipped where oneDNN is not.
# shellcheck source=tests/cli/cli.sh
source "$(dirname "$0")/cli.sh"
"$benchcnn" list | grep -q '^✓ onednn' || exit 77
unset ONEDNN_MAX_CPU_ISA DNNL_MAX_CPU_ISA ONEDNN_VERBOSE DNNL_VERBOSE OMP_NUM_THREADS
export OMP_WAIT_POLICY=passive # OpenMP's idle threads would spin, on cores that other threads need

# says STATUS PATTERNS ARGUMENTS...: its output holds each pattern, which '|' separates.
says() {
    local status=$1 patterns=$2 got
    shift 2
    tests=$((tests + 1))
    "$benchcnn" "$@" >"$tmp/said" 2>&1
    got=$?
    [ $got -eq "$status" ] || fail "'benchcnn $*' ended with $got, not $status: $(tail -c 300 "$tmp/said")"
    holds "'benchcnn $*'" "$tmp/said" "$patterns" -E
}
conv=(--problem ic3ih9oc4kh3 --dir FWD --quiet)

# ---- Refusals: UNSUPPORTED, with a reason.
says 3 '3 UNSUPPORTED: oneDNN has no f64 on the CPU' verify --impl onednn:any,onednn:nchw,onednn:nhwc "${conv[@]}" --dtype f64
says 3 '1 UNSUPPORTED: winograd in u8:s8:s32: impl onednn asks oneDNN for Winograd in f32 only' \
    verify --impl onednn:winograd "${conv[@]}" --dtype u8:s8:s32
says 3 '1 UNSUPPORTED: loss in bf16: the loops of impl onednn compute in f32; impl cpu has it' \
    verify --impl onednn:loops --problem mb3ic7 --op loss --dir FWD --quiet --dtype bf16
says 3 '1 UNSUPPORTED: math tf32: impl onednn asks oneDNN for strict f32' verify --impl onednn:any "${conv[@]}" --math tf32
says 3 '1 UNSUPPORTED: oneDNN does not flip the kernel' verify --impl onednn:any "${conv[@]}" --mode convolution
says 3 '1 UNSUPPORTED: 7 rows or columns at the end are not read: oneDNN takes less than a stride .1. of them' \
    verify --impl onednn:any --problem ic3ih12oc4oh3kh3ph0iw12ow12kw3pw1 --dir FWD --quiet
says 3 '1 UNSUPPORTED: oneDNN [23][.0-9]+ says of conv FWD by winograd: unimplemented' \
    verify --impl onednn:winograd --problem ic3ih12oc4kh5 --dir FWD --quiet
says 3 '1 UNSUPPORTED: BWD_D by winograd, 0 rows of padding above and 1 below: oneDNN 2.6 takes one for the other' \
    verify --impl onednn:winograd --problem mb2ic16ih8oc16oh7kh3ph0 --dir BWD_D --quiet
# Kernels that are wrong there, where there is AVX-512, are passed over.
says 0 '1 cases: 0 FAILED 1 PASSED' verify --impl onednn:nhwc --problem g2mb1ic2ih1oc1026oh1kh1ph0 --dir BWD_D --quiet
says 0 '1 cases: 0 FAILED 1 PASSED' verify --impl onednn:nhwc --problem mb1ic1ih6iw12oc1oh3ow6kh1kw1sh2sw2ph0pw0 --dir BWD_W --quiet \
    --layout nhwc --threads 4
says 0 '1 cases: 0 FAILED 1 PASSED' verify --impl onednn:nhwc --dir FWD --epilogue add --quiet --layout nhwc \
    --problem mb1ic1ih1iw1oc20oh1ow1kh1kw1sh2ph1pw0
says 3 '1 UNSUPPORTED: [0-9]+ bytes of workspace are needed, and the knob workspace_limit allows 0' \
    verify --impl onednn:any "${conv[@]}" --set onednn.workspace_limit=0
says 0 '1 cases: 0 FAILED 1 PASSED' verify --impl onednn:any "${conv[@]}" --set onednn.workspace_limit=1

# ---- Integers. With the instructions of AVX2 alone, which all these processors have, oneDNN's kernels for integers saturate
# sums of pairs, and it has none for types of 16 bits.
whole=(--impl onednn:any,onednn:nchw,onednn:nhwc --dir FWD --quiet --layout nchw,nhwc)
export ONEDNN_MAX_CPU_ISA=AVX2
says 0 '12 cases: 0 FAILED 12 PASSED' verify "${whole[@]}" --problem g2mb2ic114ih6oc10kh3ph1 --dtype u8:s8:s32,s8:s8:s32
says 0 '24 cases: 0 FAILED 24 PASSED' verify "${whole[@]}" --problem mb2ic16ih7oc9kh3ph1zx3zy18soc1 \
    --dtype u8:s8:u8,u8:s8:s8,s8:s8:s8,s8:s8:u8
says 0 '24 cases: 0 FAILED 24 PASSED' verify "${whole[@]}" --op fc --problem mb2ic16ih3oc9zx3zy18soc1 \
    --dtype u8:s8:u8,u8:s8:s8,s8:s8:s8,s8:s8:u8
bench=(bench --impl onednn:any --problem mb2ic16ih9oc8kh3 --dir FWD --peaks none --max-time 0.01 --warm-up 0 --quiet)
says 0 '' "${bench[@]}" --dtype u8:s8:s32 --out "$tmp/whole"
holds "the record" "$tmp/whole" '"choice":"ref'
if [ "$(uname -m)" = x86_64 ]; then
    says 3 '1 UNSUPPORTED: oneDNN [23][.0-9]+ says of conv FWD by any in bf16 on this processor .avx2; types of 16 bits need avx512_core or newer.: unimplemented' \
        verify --impl onednn:any "${conv[@]}" --dtype bf16
    says 3 '1 UNSUPPORTED: oneDNN [23][.0-9]+ says of conv FWD by any in f16:f16:f32 on this processor .avx2; types of 16 bits' \
        verify --impl onednn:any "${conv[@]}" --dtype f16:f16:f32
fi
unset ONEDNN_MAX_CPU_ISA
says 3 '1 UNSUPPORTED: u8:s8:s32: a sum of 522 products may need more than 24 bits, and oneDNN.s sums pass through an f32' \
    verify --impl onednn:any --problem mb1ic58ih6oc9kh3ph1 --dir FWD --quiet --dtype u8:s8:s32
says 0 '1 cases: 0 FAILED 1 PASSED' verify --impl onednn:any --problem mb1ic58ih6oc9kh3ph1 --dir FWD --quiet --dtype s8:s8:s32

# ---- Joining is copying, in any type.
says 0 '8 cases: 0 FAILED 8 PASSED' verify --impl onednn:loops --op concat --quiet --dtype bf16,f16

# ---- Tensors that are stored as the algorithm computes are not reordered; others are.
small=(--net thesis --data synthetic --images 100,50 --batch 50 --quiet)
says 0 'reorder w' train --impl onednn:nhwc "${small[@]}" --layout nhwc --profile
grep -E 'reorder d?[xy]' "$tmp/said" && fail "NHWC is reordered"
says 0 'reorder x|reorder y|reorder dx|reorder dy' train --impl onednn:nhwc "${small[@]}" --layout nchw --profile
says 0 'conv3 +BWD_W' train --impl onednn:nchw "${small[@]}" --layout nchw --profile
grep -E 'reorder d?[xy]' "$tmp/said" && fail "NCHW is reordered"

# ---- As many threads as --threads says, whatever OpenMP was told.
# threads_of N: the most threads that were seen in a training with --threads N.
threads_of() {
    local pid most=0 now
    OMP_NUM_THREADS=5 "$benchcnn" train --impl onednn --net thesis --data synthetic --images 2000,100 --batch 100 --epochs 3 \
        --quiet --threads "$1" >"$tmp/said" 2>&1 &
    pid=$!
    while kill -0 $pid 2>/dev/null; do
        now=$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)
        [ "$now" -gt "$most" ] && most=$now
        sleep 0.01
    done
    wait $pid || fail "train --threads $1: $(tail -c 300 "$tmp/said")"
    echo "$most"
}
one=$(threads_of 1) three=$(threads_of 3)
tests=$((tests + 2))
[ $((three - one)) -eq 2 ] || fail "with --threads 1 there were $one threads, with --threads 3 $three"
OMP_NUM_THREADS=5 says 0 '1 timed and verified, 0 wrong, 0 failed' bench --impl onednn:any --problem mb20ic16ih28oc32kh3ph1 \
    --dir FWD --threads 1 --peaks none --max-time 0.3

# ---- Networks: alone, and in a pair.
says 0 ' 0 FAILED 3 PASSED 1 UNSUPPORTED' verify --impl onednn --net thesis # all but winograd
says 0 'conv2 +FWD +onednn:any=|conv2 +BWD_W +onednn:any=|fc1 +FWD +onednn:any=|softmax_cross_entropy1 +FWD +cpu:default' \
    train --impl onednn+cpu "${small[@]}" --profile
says 0 '"impl":"onednn"' train --impl onednn,cpu "${small[@]}" --json
losses=$(grep -o '"test_loss":[0-9]*\.[0-9]\{3\}' "$tmp/said" | sort -u | wc -l)
[ "$losses" -eq 1 ] || fail "onednn and cpu train to other losses: $(grep -o '"test_loss":[^,]*' "$tmp/said" | tr '\n' ' ')"

# ---- What the record says of the library; what spoils figures.
unset OMP_WAIT_POLICY
bench=(bench --impl onednn:any --problem mb2ic3ih9oc5kh3 --dir FWD --peaks none --max-time 0.01 --warm-up 0 --quiet)
"$benchcnn" "${bench[@]}" --out "$tmp/plain" >"$tmp/said" 2>&1 || fail "bench: $(tail -c 300 "$tmp/said")"
holds "the record" "$tmp/plain" '"onednn":"[23][.][0-9]+[.][0-9]+"|"onednn_runtime":"OpenMP"|"isa":"' -E
grep -q warning "$tmp/plain" "$tmp/said" && fail "a warning of nothing"
for variable in ONEDNN_MAX_CPU_ISA=AVX2 ONEDNN_VERBOSE=1 OMP_DYNAMIC=true OMP_WAIT_POLICY=passive; do
    env "$variable" "$benchcnn" "${bench[@]}" --out "$tmp/warned" >"$tmp/said" 2>&1 || fail "$variable: $(tail -c 300 "$tmp/said")"
    holds "$variable" "$tmp/said" "warning: $variable is set"
    holds "$variable" "$tmp/warned" "\"warnings\":{\"${variable%=*}\":\"$variable is set"
    rm "$tmp/warned"
done
finish
