#!/usr/bin/env bash
# test_verify_gpu.sh BENCHCNN IMPL OPTION...: verifies an implementation that may not run here: one for GPUs, on a GPU or
# emulated, or a library's. Where it cannot run it is skipped, with the reason; with BENCHCNN_REQUIRE_GPU=1 in the environment
# that is a failure.
set -u
benchcnn=$1 impl=$2
shift 2
if ! "$benchcnn" list | grep -q "^✓ $impl[ :]"; then
    "$benchcnn" list | grep -A1 "^✗ $impl[ :]"
    [ "${BENCHCNN_REQUIRE_GPU:-0}" = 1 ] && exit 1
    exit 77
fi
export OMP_WAIT_POLICY=passive # OpenMP's idle threads would spin, on cores that other tests need
"$benchcnn" verify --impl "$impl" --quiet "$@" | grep -v '^PASSED'
exit "${PIPESTATUS[0]}"
