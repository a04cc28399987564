#!/usr/bin/env bash
# test_emulated_faults.sh BENCHCNN: what may go wrong with a GPU, on the emulated one (EMULATED_CUDA_FAULT): a sentence that
# says what, to whom and what to do, the exit status, and what is recorded before it stays.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"

impl=$("$benchcnn" list | sed -n 's/^✓ \([a-z0-9_]*\) (emulated.*/\1/p' | head -1)
if [ -z "$impl" ]; then
    echo "SKIPPED: this build has no emulated implementation"
    exit 77
fi
small=(--images 64,32 --data synthetic --net thesis --quiet)

# broken FAULT STATUS WORDS COMMAND...: with FAULT the command ends with STATUS, in one sentence that holds each of WORDS.
broken() {
    local fault=$1 expected=$2 words=$3 status
    shift 3
    tests=$((tests + 1))
    EMULATED_CUDA_FAULT=$fault "$benchcnn" "$@" >"$tmp/out" 2>"$tmp/err"
    status=$?
    [ $status -eq "$expected" ] || fail "with $fault '$*' ended with $status, not $expected: $(tail -c 600 "$tmp/err")"
    [ "$(grep -c '^benchcnn: ' "$tmp/err")" -eq 1 ] || fail "with $fault '$*' says not one sentence: $(tail -c 600 "$tmp/err")"
    grep '^benchcnn: ' "$tmp/err" >"$tmp/sentence"
    holds "with $fault '$*'" "$tmp/sentence" "$words"
}

# A device that cannot be had
for fault in 'probe=100;no CUDA device|CUDA_VISIBLE_DEVICES' \
    'probe=35,driver=0;no NVIDIA driver' \
    'probe=35,driver=12020;driver is too old|serves CUDA 12.2|update' \
    'mode=2;device 0 is closed|compute mode is prohibited|nvidia-smi -i 0 -c DEFAULT' \
    'capability=75;device 0 has compute capability 7.5|built for 8.0, 9.0|-DCMAKE_CUDA_ARCHITECTURES=75' \
    'code=209;device 0 has compute capability 9.0|no kernel image is available|-DCMAKE_CUDA_ARCHITECTURES=90' \
    'code=222;driver|unsupported toolchain|-DCMAKE_CUDA_ARCHITECTURES' \
    'open=46;device 0 is busy|compute mode' \
    'open=2;device 0 has no memory left|perhaps another process|nvidia-smi'; do
    case $fault in open=2*) status=2 ;; *) status=3 ;; esac # out of memory; nothing can run here
    broken "${fault%;*}" $status "${fault#*;}" verify --impl "$impl" --problem mb1ic1ih3oc1kh3
    broken "${fault%;*}" $status "${fault#*;}" train --impl "$impl" "${small[@]}"
done
for fault in 'probe=100;no CUDA device' 'mode=2;compute mode is prohibited' 'capability=75;compute capability 7.5'; do
    tests=$((tests + 1))
    EMULATED_CUDA_FAULT=${fault%;*} "$benchcnn" list >"$tmp/out" 2>"$tmp/err" || fail "list with $fault: $(cat "$tmp/err")"
    holds "list with $fault" "$tmp/out" "✗ $impl|${fault#*;}"
done

# The second of two devices, used by a thread whose current device is the first
all=$("$benchcnn" list | sed -n 's/^✓ \([a-z0-9_]*\) (emulated.*/\1/p' | paste -sd,)
tests=$((tests + 1))
EMULATED_CUDA_FAULT=devices=2 "$benchcnn" verify --impl "$all" --device 1 --check all,determinism --problem mb2ic3ih9oc5kh3 --quiet \
    >"$tmp/out" 2>&1 || fail "verify on the second device: $(grep -m3 FAILED "$tmp/out")"
broken devices=2 2 "device 2: there are only 2 CUDA devices" verify --impl "$impl" --device 2 --problem mb1ic1ih3oc1kh3

# Memory: counted before anything is allocated
broken memory=1000000 2 "thesis at batch 2000|are needed, but only|are free" train --impl "$impl" "${small[@]}" \
    --batch 2000 --images 2000,32
holds "the sentence" "$tmp/sentence" ' [(]0[.][0-9] MiB[)] are free|[(][1-9][0-9.]* MiB[)] are needed' -E
holds "the sentence" "$tmp/sentence" ': [1-9][0-9]{5,} bytes .* are needed, but only [1-9][0-9]{5} ' -E
broken memory=1000000 2 "problem mb100ic3ih99oc4|are needed, but only|are free" verify --impl "$impl" --problem mb100ic3ih99oc4kh3
# cuBLAS's workspace, 32 MiB by default, is no exception
if [[ $("$benchcnn" list) == *'✓ cuda_im2col'* ]]; then
    broken memory=20000000 2 "33554432 bytes needed on device 0|of its 20000000 are free" verify --impl cuda_im2col --problem mb2ic3ih9oc5kh3
fi

# A kernel that dies: the call, the kernel, the problem; what was finished is recorded
broken kernel=20 1 "cudaMemcpyAsync|cudaErrorIllegalAddress|the latest kernel was|cannot be used any more" \
    verify --impl "$impl:v4" --problem mb2ic3ih9oc5kh3 --out "$tmp/verify.jsonl"
holds "the report" "$tmp/out" "mb2ic3ih9oc5oh7kh3|repeat with"
grep '"state":"FAILED"' "$tmp/verify.jsonl" | grep -q cudaErrorIllegalAddress || fail "the record lacks the failure"
# A replayed step does not tell which kernel it was: it says how to find out, and no name that may be wrong. How many kernels
# an epoch takes depends on the steps that are checked.
broken kernel=180 1 "thesis at batch 30|replayed step|sync_launches=1|--no-graph|cudaErrorIllegalAddress" \
    train --impl "$impl" --batch 30 --epochs 3 --check-seed 8 "${small[@]}" --out "$tmp/train.jsonl"
finished=$(grep -c '"kind":"epoch"' "$tmp/train.jsonl")
[ "$finished" -eq 1 ] || fail "$finished epochs are recorded, not the one that was finished"
grep -q 'latest kernel was' "$tmp/sentence" && fail "a replay names a kernel: $(cat "$tmp/sentence")"
broken none=0 2 "cannot be captured|sync_launches=1|--no-graph" train --impl "$impl" "${small[@]}" --batch 30 --set "$impl.sync_launches=1"
# found out: the kernel is of the operation that is named; a step later it is the same one, and others are others
for kernel in 80 81 82 83 84 85 86 87; do
    broken kernel=$kernel 1 "the latest kernel was|cudaErrorIllegalAddress" train --impl "$impl" "${small[@]}" --batch 30 --epochs 3 \
        --set "$impl.sync_launches=1" --no-graph
    [ "$(grep -o 'thesis at batch 30' "$tmp/sentence" | wc -l)" -eq 1 ] || fail "the network is named more than once: $(cat "$tmp/sentence")"
    sed -n 's/.*queued: \(.*\): an illegal.*latest kernel was \([a-z0-9_]*\);.*/\2 of \1/p' "$tmp/sentence"
done >"$tmp/kernels"
[ "$(cut -d' ' -f1 "$tmp/kernels" | sort -u | wc -l)" -ge 4 ] || fail "8 kernels in a row are not told apart: $(cat "$tmp/kernels")"
while read -r kernel _ operation; do
    case $kernel in
    act_*) expected=leaky_relu ;;
    fc_*) expected="fc" ;;
    loss_*) expected=softmax ;;
    *) continue ;;
    esac
    [[ $operation == $expected* ]] || fail "kernel $kernel is not one of $operation"
done <"$tmp/kernels"

finish
