#!/usr/bin/env bash
# test_emulated.sh BENCHCNN: in a build with BENCHCNN_CUDA=EMULATED the CUDA implementations are verified and trained,
# but never timed: not by bench or sweep, and no record of training holds a time.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"

impl=$("$benchcnn" list | sed -n 's/^✓ \([a-z0-9_]*\) (emulated.*/\1/p' | head -1)
if [ -z "$impl" ]; then
    echo "SKIPPED: this build has no emulated implementation"
    exit 77
fi
small=(--images 8,4 --batch 5 --data synthetic --net small --quiet)

for command in "bench --problem ic3ih5oc4kh3" "sweep batch --data synthetic"; do
    # shellcheck disable=SC2086
    "$benchcnn" $command --impl "cpu,$impl" >"$tmp/out" 2>"$tmp/err"
    [ $? -eq 3 ] || fail "$command times what is emulated"
    grep -q "$impl is emulated in this build.*never timed" "$tmp/err" || fail "$command does not say why: $(cat "$tmp/err")"
    [ "$(grep -c '^benchcnn: ' "$tmp/err")" -eq 1 ] || fail "$command says not one sentence"
done
"$benchcnn" bench --impl '*:*' --problem ic3ih5oc4kh3 --dir FWD --max-time 0.02 --min-time 0 >"$tmp/out" 2>"$tmp/err" ||
    fail "bench of everything: $(cat "$tmp/err")"
grep -q "$impl:" "$tmp/out" && fail "bench of everything times what is emulated"

"$benchcnn" train --impl "$impl" "${small[@]}" --out "$tmp/run.jsonl" >"$tmp/out" 2>&1 || fail "train: $(cat "$tmp/out")"
grep -q 'emulated: not timed' "$tmp/out" || fail "train shows a time: $(cat "$tmp/out")"
for field in seconds train_s test_s transfer_s host_step_s images_per_s setup_s; do
    grep -q "\"kind\":\"epoch\".*\"$field\":null" "$tmp/run.jsonl" || fail "the epoch record holds $field"
done
grep '"kind":"env"' "$tmp/run.jsonl" | grep -q '"emulated":"yes"' || fail "the environment does not say emulated"
"$benchcnn" plot "$tmp/run.jsonl" >"$tmp/out" 2>"$tmp/err" && fail "plot draws what is emulated"
grep -q 'no epoch records' "$tmp/err" || fail "plot does not say why: $(cat "$tmp/err")"

"$benchcnn" train --impl "$impl" "${small[@]}" --profile >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] || fail "train --profile times what is emulated"
grep -q "$impl is emulated" "$tmp/err" || fail "train --profile does not say why: $(cat "$tmp/err")"

# A host that waits for every launch is warned of, once for all implementations, and in the records; "0" means it does not.
all=$("$benchcnn" list | sed -n 's/^✓ \([a-z0-9_]*\) (emulated.*/\1/p' | paste -sd,)
CUDA_LAUNCH_BLOCKING=1 "$benchcnn" train --impl "$all" "${small[@]}" --out "$tmp/blocking.jsonl" >"$tmp/out" 2>&1 || fail "train: $(cat "$tmp/out")"
[ "$(grep -c 'warning: CUDA_LAUNCH_BLOCKING is set' "$tmp/out")" -eq 1 ] || fail "launches that are waited for are not warned of once: $(cat "$tmp/out")"
grep '"kind":"epoch"' "$tmp/blocking.jsonl" | grep -v '"warnings":{"CUDA_LAUNCH_BLOCKING":"' && fail "an epoch does not say that launches were waited for"
CUDA_LAUNCH_BLOCKING=0 CUDA_VISIBLE_DEVICES=0 "$benchcnn" train --impl "$impl" "${small[@]}" --out "$tmp/free.jsonl" >"$tmp/out" 2>&1
grep -q 'arning' "$tmp/out" "$tmp/free.jsonl" && fail "a warning of nothing"

finish
