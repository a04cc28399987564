#!/usr/bin/env bash
# test_exemplar.sh BENCHCNN: --parallel exemplar: workers train online on copies of the weights, which are merged. Their
# number decides over the bits, the number of threads does not; every epoch is repeated by the reference.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
printf 'input 1 8 8\nscale 1/2\ninit uniform -0.1 0.2 bias=1\nfc 12\nelu 0.5\nfc 10\nsoftmax_quadratic\n' >"$tmp/mlp.net"
printf 'input 1 8 8\nconv 4 kernel=3\nrelu\nfc 10\nsoftmax_cross_entropy\n' >"$tmp/conv.net"
common=(--net "$tmp/mlp.net" --data synthetic --images 130,40 --quiet)
sgd=(--optimizer "sgd,lr=0.5,l1=1e-5,l2=1e-4")
train() {
    tests=$((tests + 1))
    "$benchcnn" train "${common[@]}" "$@" >"$tmp/out" 2>"$tmp/err" || fail "$*: $(cat "$tmp/err")"
}
each() { grep '"kind":"epoch"' "$1" | grep -o "\"$2\":[^,}]*" | cut -d: -f2 | paste -sd' '; } # FIELD of all epochs
losses() { each "$1" '\(train\|test\)_loss'; }

# ---- A list of workers is as many points; a step is workers times worker-batch images, the last one what is left.
train --impl cpu --parallel exemplar --workers 1,2,3 --worker-batch 20 "${sgd[@]}" --epochs 2 --out "$tmp/list.jsonl"
[ "$(each "$tmp/list.jsonl" workers)" = "1 1 2 2 3 3" ] || fail "workers: $(each "$tmp/list.jsonl" workers)"
[ "$(each "$tmp/list.jsonl" batch)" = "20 20 40 40 60 60" ] || fail "batches: $(each "$tmp/list.jsonl" batch)"
[ "$(grep -c '"algorithm":"exemplar".*"verified":true' "$tmp/list.jsonl")" -eq 6 ] || fail "not six verified epochs"
holds "the summary" "$tmp/out" ' workers  cpu:exemplar'
[ "$(each "$tmp/list.jsonl" test_loss | tr ' ' '\n' | sort -u | wc -l)" -eq 6 ] || fail "workers make no difference: $(each "$tmp/list.jsonl" test_loss)"

# ---- One worker with a batch of one is plain training online, whose single operations come to the same.
train --impl cpu --parallel exemplar --worker-batch 1 "${sgd[@]}" --dtype f64 --out "$tmp/one.jsonl"
train --impl cpu:gemm --batch 1 "${sgd[@]}" --dtype f64 --out "$tmp/plain.jsonl"
[ "$(losses "$tmp/one.jsonl")" = "$(losses "$tmp/plain.jsonl")" ] || fail "one worker: $(losses "$tmp/one.jsonl"), online: $(losses "$tmp/plain.jsonl")"
train --impl cpu --parallel exemplar --worker-batch 13 "${sgd[@]}" --dtype f64 --out "$tmp/thirteen.jsonl"
[ "$(losses "$tmp/one.jsonl")" = "$(losses "$tmp/thirteen.jsonl")" ] || fail "one worker, merged less often: $(losses "$tmp/thirteen.jsonl")"

# ---- The bits are the same for any number of threads, in either type, with images moved; and behind a checkpoint.
for way in "--dtype f32" "--dtype f64" "--shift 1"; do
    for threads in 1 2 5; do
        # shellcheck disable=SC2086  # options
        train --impl cpu --parallel exemplar --workers 3 --worker-batch 7 "${sgd[@]}" $way --threads $threads --save "$tmp/threads$threads.w"
        cmp "$tmp/threads1.w" "$tmp/threads$threads.w" || fail "$way: other bits with $threads threads"
    done
done
on=(--impl cpu --parallel exemplar --workers 2 --worker-batch 9 "${sgd[@]}" --schedule linear,epochs=4)
train "${on[@]}" --epochs 4 --save "$tmp/whole.w"
train "${on[@]}" --epochs 2 --checkpoint "$tmp/c"
train "${on[@]}" --epochs 4 --checkpoint "$tmp/c" --save "$tmp/parts.w"
cmp "$tmp/whole.w" "$tmp/parts.w" || fail "two halves are not the whole"
refused 'is of another run' train "${common[@]}" --impl cpu --parallel exemplar --workers 3 --worker-batch 6 "${sgd[@]}" --schedule linear,epochs=4 --epochs 4 --checkpoint "$tmp/c"

# ---- A list of threads is as many points, here and of other trainers.
for way in "--parallel exemplar --workers 2 --worker-batch 13" "--batch 13"; do
    # shellcheck disable=SC2086  # options
    train --impl cpu "${sgd[@]}" $way --threads 1,3,2 --out "$tmp/t.jsonl"
    [ "$(each "$tmp/t.jsonl" threads)" = "1 3 2" ] || fail "threads: $(each "$tmp/t.jsonl" threads)"
    [ "$(each "$tmp/t.jsonl" test_loss | tr ' ' '\n' | sort -u | wc -l)" -eq 1 ] || fail "threads decide over the loss: $(each "$tmp/t.jsonl" test_loss)"
    holds "the summary" "$tmp/out" ', 1 thread |, 3 threads |, 2 threads'
    # shellcheck disable=SC2086  # options
    train --impl cpu "${sgd[@]}" $way --threads 2,1 --out "$tmp/t.jsonl"
    [ "$(grep -c 'already in' "$tmp/out")" -eq 2 ] || fail "points with other threads are run again: $(cat "$tmp/out")"
    rm "$tmp/t.jsonl"
done
refused '--threads needs a whole number' bench --impl cpu --threads 1,2
refused '--threads is 0, but must be from 1' train "${common[@]}" --impl cpu --threads 1,0
refused 'keeps one training, and these are 2' train "${common[@]}" --impl cpu --threads 1,2 --save "$tmp/two.w"

# ---- What does not go.
exemplar=(train "${common[@]}" --parallel exemplar --impl)
refused 'trains with sgd: the state of adam' "${exemplar[@]}" cpu
refused 'cpu:fused does not train by exemplars' "${exemplar[@]}" cpu:fused "${sgd[@]}"
refused 'layer conv1 of network conv is conv' "${exemplar[@]}" cpu "${sgd[@]}" --net "$tmp/conv.net" --worker-batch 10
refused '--batch does not go with --parallel exemplar' "${exemplar[@]}" cpu "${sgd[@]}" --batch 5
refused 'is more than the 130 training images' "${exemplar[@]}" cpu "${sgd[@]}" --workers 2
refused '--workers is 0, but must be' "${exemplar[@]}" cpu "${sgd[@]}" --workers 0
refused 'trains by exemplars only: --parallel exemplar' train "${common[@]}" --impl cpu:exemplar "${sgd[@]}"
refused '--workers goes with --parallel exemplar' train "${common[@]}" --impl cpu "${sgd[@]}" --workers 2
refused '--parallel exemplar: `sweep batch` goes over' sweep batch --impl cpu --data synthetic --parallel exemplar

# ---- The whole network's gradients, and steps by two workers.
"$benchcnn" verify --net "$tmp/mlp.net" --impl cpu:exemplar --dtype f32,f64 >"$tmp/out" 2>&1 || fail "verify: $(cat "$tmp/out")"
[ "$(grep -c '^PASSED.*steps: 12 steps with 1 optimizer, compared with the reference' "$tmp/out")" -eq 2 ] || fail "verify: $(cat "$tmp/out")"
finish
