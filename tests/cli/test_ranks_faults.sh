#!/usr/bin/env bash
# test_ranks_faults.sh BENCHCNN CC MPI MPIRUN [SANITIZED]: training over ranks: what cannot be, what is wrong on one rank
# alone, ranks that are lost. MPI: whether the program is built with it.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/ranks.sh"
[ "$mpi" = ON ] || { echo "no MPI"; exit 77; }

# ---- What cannot be.
no() { # STATUS WORDS NUMBER ARGUMENTS...
    local wanted=$1 words=$2
    shift 2
    tests=$((tests + 1))
    ranks "$@"
    local status=$?
    [ $status -eq "$wanted" ] || fail "'$*' ended with $status, not $wanted: $(head -c 600 "$tmp/err")"
    holds "'$*'" "$tmp/err" "$words"
    [ "$(grep -v ': stopping' "$tmp/err" | grep -c '^benchcnn: ')" -eq 1 ] || fail "'$*' says not one sentence: $(cat "$tmp/err")"
}
no 2 'trainer cpu:exemplar makes steps that are one piece|2 ranks' 2 "${common[@]:0:7}" --quiet --impl cpu:exemplar --parallel exemplar --workers 2 --worker-batch 30
no 2 '--batch 61 cannot be shared out evenly among 2 ranks|multiple of 2' 2 "${common[@]}" --impl cpu:direct --batch 61
no 2 '400 training images cannot be shared out evenly among 3 ranks: 399 could' 3 "${common[@]}" --impl cpu:direct
no 2 'batch_norm1 of network every_layer takes its statistics over a batch' 2 train --net every_layer --data synthetic --images 400,100 --impl cpu:direct --quiet
no 2 'a profile is of one process' 2 "${common[@]}" --impl cpu:direct --profile
no 2 '--isolate has no use over ranks' 2 "${common[@]}" --impl cpu:direct --isolate
no 2 '--threads 1,2: over ranks it is one number' 2 "${common[@]}" --threads 1,2 --impl cpu:direct
no 2 'rank 1 of 2 has other options than rank 0' 1 "${common[@]}" --impl cpu:direct : -n 1 "$benchcnn" "${common[@]}" --impl cpu:direct --seed 2
no 2 'rank 1 of 2 has other options than rank 0' 1 "${common[@]}" --impl cpu:direct : -n 1 "$benchcnn" "${common[@]}" --impl cpu:direct --bucket 64
no 2 'trainer cpu:fused adds up in the middle of its own steps|--bucket is for training by single operations' 2 "${common[@]}" --net gorgonia --impl cpu:fused --bucket 64
refused '--bucket is of sums over ranks|mpirun' "${common[@]}" --impl cpu:direct --bucket 64
if "$benchcnn" list 2>/dev/null | grep -q 'cuda_naive.*emulated'; then
    no 2 'rank 1 of 2: device 1: there is only 1 CUDA device' 2 "${common[@]}" --impl cuda_naive:v2 # more ranks than GPUs
    no 2 'cuda_naive has gradients in memory of its own|--bucket is for memory of the host' 2 "${common[@]}" --impl cuda_naive:v2 --device 0 --bucket 64
fi
cp "$benchcnn" "$tmp/other" && echo >>"$tmp/other"
no 2 'rank 1 of 2 has another benchcnn, or other plug-ins, than rank 0' 1 "${common[@]}" --impl cpu:direct : -n 1 "$tmp/other" "${common[@]}" --impl cpu:direct

# ---- What is wrong on rank 1 alone: a gradient shows in the sum, an update in the weights.
printf 'input 1 8 8\nfc 12\nrelu\nfc 10\nsoftmax_cross_entropy\n' >"$tmp/fc.net"
skewed() { # FLAG: with $bucket
    "$cc" -O2 -fPIC -shared -Iharness "$@" tests/cli/ranks_skew.c -o "$tmp/skew.so" || fail "cannot compile"
    ranks 2 "${common[@]}" --net "$tmp/fc.net" --plugin "$tmp/skew.so" --impl skew+cpu --optimizer sgd,lr=0.1 --bucket "$bucket"
}
if [ -z "${5:-}" ]; then # a plug-in without sanitizers does not load into a program with them
    for bucket in 0 1; do
        skewed || fail "right on both ranks: $(cat "$tmp/err")"
        skewed -DGRADIENT && fail "a gradient that is wrong on rank 1 passes"
        holds "a wrong gradient" "$tmp/err" 'the gradient of the weight of fc|batch of'
        skewed -DUPDATE && fail "an update that is wrong on rank 1 passes"
        holds "a wrong update" "$tmp/err" 'the ranks came apart: rank 1 has other weights than rank 0'
    done
    bucket=1 skewed -DBREAKS && fail "an operation that fails on rank 1, with a sum under way, passes"
    holds "an operation that fails on rank 1" "$tmp/err" 'rank 1 of 2: .*relu.*it breaks on purpose' -E
fi

# ---- A rank that is lost ends the others, soon, and not with status 0.
ended() { # SIGNAL WHICH OPTION...: the process of the rank, counted from 1 as they were started
    rm -f "$tmp/out"
    timeout 60 "$mpirun" -n 3 "$benchcnn" "${common[@]}" --images 399,99 --epochs 100000 --impl cpu:direct "${@:3}" >"$tmp/out" 2>"$tmp/err" &
    local launcher=$! status pids
    for _ in $(seq 200); do
        grep -qs '^ *3 ' "$tmp/out" && break
        sleep 0.05
    done
    mapfile -t pids < <(pgrep -P "$(pgrep -P $launcher)")
    [ "${#pids[@]}" -eq 3 ] || fail "there are ${#pids[@]} ranks, not 3: $(cat "$tmp/err")"
    local since=$SECONDS
    kill "-$1" "${pids[$2 - 1]}"
    wait $launcher
    status=$?
    { [ $status -ne 0 ] && [ $status -ne 124 ]; } || fail "a rank that was lost (SIG$1): status $status"
    [ $((SECONDS - since)) -lt 20 ] || fail "a rank that was lost (SIG$1) ends the others after $((SECONDS - since)) s"
    grep -qE 'stopped|interrupted|exited|lost|terminated' "$tmp/err" || fail "a lost rank without a word: $(cat "$tmp/err")"
    for _ in $(seq 100); do
        kill -0 "${pids[@]}" 2>/dev/null || return # true while one of them is there
        sleep 0.05
    done
    fail "ranks live on: ${pids[*]}"
}
ended KILL 2
ended KILL 1
ended INT 3
ended KILL 2 --bucket 1
ended KILL 1 --bucket 1
ended INT 3 --bucket 1
finish
