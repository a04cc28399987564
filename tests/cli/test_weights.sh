#!/usr/bin/env bash
# test_weights.sh BENCHCNN: --save and --load: weights are the same in every batch size, type, layout and implementation, and
# other programs read them; files that are broken, or of another network, are refused in a sentence.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
printf 'input 1 8 8\nconv 4 kernel=3 stride=2 pad=1\nbatch_norm\nrelu\nconv 6 kernel=3 bias=0\nrelu\nfc 10\nsoftmax_cross_entropy\n' >"$tmp/small.net"
common=(train --net "$tmp/small.net" --data synthetic --images 300,100 --threads 1 --quiet)
still=(--optimizer "sgd,lr=0" --batch 300) # learns nothing; the last test loss is that of the loaded weights
train() {
    tests=$((tests + 1))
    "$benchcnn" "${common[@]}" "$@" >"$tmp/out" 2>"$tmp/err" || fail "$*: $(cat "$tmp/err")"
}
last() { grep '"kind":"epoch"' "$1" | tail -1 | grep -o "\"$2\":[^,]*" | cut -d: -f2; }
close() { awk -v a="$1" -v b="$2" -v share="$3" 'BEGIN {exit !(a > 0 && (a - b) ^ 2 < (share * a) ^ 2)}'; }

train --impl cpu:direct --batch 20 --epochs 2 --save "$tmp/a.safetensors" --out "$tmp/a.jsonl"
holds "a saved training" "$tmp/out" "weights: $tmp/a.safetensors"
loss=$(last "$tmp/a.jsonl" test_loss)

# ---- Other programs.
if command -v python3 >/dev/null; then
    tests=$((tests + 1))
    shapes=(conv1.weight:4x1x3x3 conv1.bias:4 batch_norm1.weight:4 batch_norm1.bias:4 batch_norm1.running_mean:4 batch_norm1.running_var:4
        conv2.weight:6x4x3x3 fc1.weight:10x24 fc1.bias:10)
    python3 tests/cli/weights.py "$tmp/a.safetensors" F32 "${shapes[@]}" >"$tmp/a.sums" 2>"$tmp/err" || fail "as Python reads it: $(cat "$tmp/err")"
    [ "$(wc -l <"$tmp/a.sums")" -eq 9 ] || fail "not nine tensors: $(cat "$tmp/a.sums")"
else
    echo "python3 is not installed: no other program reads the file"
fi

# ---- The same weights whatever is done with them; batch norm's statistics move even where nothing is learnt.
printf '%s\n' 'input 1 8 8' 'conv 4 kernel=3 stride=2 pad=1' relu 'fc 10' softmax_cross_entropy >"$tmp/plain.net"
plain=(--net "$tmp/plain.net")
train "${plain[@]}" --impl cpu:direct --batch 20 --epochs 2 --save "$tmp/p.safetensors" --out "$tmp/p.jsonl"
plain_loss=$(last "$tmp/p.jsonl" test_loss)
for how in "--impl cpu:direct" "--impl cpu:im2col --layout nhwc" "--impl cpu:naive --dtype f64" "--impl cpu:fused" "--impl cpu:direct --dtype f64 --layout nhwc"; do
    rm -f "$tmp/same.jsonl"
    # shellcheck disable=SC2086  # options
    train "${plain[@]}" $how "${still[@]}" --load "$tmp/p.safetensors" --save "$tmp/q.safetensors" --out "$tmp/same.jsonl"
    close "$plain_loss" "$(last "$tmp/same.jsonl" test_loss)" 1e-5 || fail "$how: test loss $(last "$tmp/same.jsonl" test_loss), not $plain_loss"
    case $how in
    *f64*) # what was f32 is the same in f64, and comes back as it was
        train "${plain[@]}" --impl cpu:direct "${still[@]}" --load "$tmp/q.safetensors" --save "$tmp/back.safetensors"
        cmp -s "$tmp/back.safetensors" "$tmp/p.safetensors" || fail "$how: f32 to f64 and back is not the same" ;;
    *) cmp -s "$tmp/q.safetensors" "$tmp/p.safetensors" || fail "$how: saved again, it differs" ;;
    esac
done
train --impl cpu:direct "${still[@]}" --load "$tmp/a.safetensors" --out "$tmp/norm.jsonl"
[ "$(last "$tmp/norm.jsonl" test_loss)" != "$loss" ] || fail "batch norm's statistics stand still while it trains"

# ---- What training began with is in the record, and is another point; in --out and in a checkpoint.
grep -q '"weights":"[0-9a-f]\{8\}"' "$tmp/norm.jsonl" || fail "the record does not say with which weights it began"
grep -q '"weights":""' "$tmp/a.jsonl" || fail "the record of initial weights: $(tail -1 "$tmp/a.jsonl")"
train "${plain[@]}" --impl cpu:direct --batch 20 --out "$tmp/points.jsonl"
train "${plain[@]}" --impl cpu:direct --batch 20 --load "$tmp/p.safetensors" --out "$tmp/points.jsonl"
train "${plain[@]}" --impl cpu:direct --batch 20 --load "$tmp/p.safetensors" --out "$tmp/points.jsonl"
holds "a point that is there" "$tmp/out" 'already in'
[ "$(grep -c '"kind":"epoch"' "$tmp/points.jsonl")" -eq 2 ] || fail "not an epoch for each beginning"
train "${plain[@]}" --impl cpu:direct --batch 20 --load "$tmp/p.safetensors" --checkpoint "$tmp/c" --epochs 1
refused 'is of another run|from weights|not of this one' "${common[@]}" "${plain[@]}" --impl cpu:direct --batch 20 --checkpoint "$tmp/c" --epochs 2
# A run that goes on from a checkpoint leaves the weights of one that never stopped, even if nothing is left to do.
train "${plain[@]}" --impl cpu:direct --batch 20 --load "$tmp/p.safetensors" --epochs 2 --save "$tmp/whole.safetensors"
train "${plain[@]}" --impl cpu:direct --batch 20 --load "$tmp/p.safetensors" --checkpoint "$tmp/c" --epochs 2
train "${plain[@]}" --impl cpu:direct --batch 20 --load "$tmp/p.safetensors" --checkpoint "$tmp/c" --epochs 2 --save "$tmp/parts.safetensors"
cmp "$tmp/whole.safetensors" "$tmp/parts.safetensors" || fail "weights behind a checkpoint are others"

# ---- Refused, before anything is trained.
on=("${common[@]}" --impl cpu:direct --batch 20)
refused 'none.safetensors' "${on[@]}" --load "$tmp/none.safetensors"
refused "has no tensor 'batch_norm1.weight', which network small needs|the first of its 4 is 'conv1.weight'" "${on[@]}" --load "$tmp/p.safetensors"
refused "conv1.weight has the shape (4, 1, 3, 3), but that of network thesis is (20, 1, 4, 4)" "${on[@]}" --net thesis --load "$tmp/p.safetensors"
sed '/batch_norm/d' "$tmp/small.net" >"$tmp/few.net"
refused "holds 'batch_norm1.weight', which network few has not" "${on[@]}" --net "$tmp/few.net" --load "$tmp/a.safetensors"
head -c 700 "$tmp/a.safetensors" >"$tmp/torn.safetensors"
refused 'truncated' "${on[@]}" --load "$tmp/torn.safetensors"
refused 'small.net|header' "${on[@]}" --load "$tmp/small.net"
refused 'is no safetensors file that could be replaced' "${on[@]}" --save "$tmp/small.net"
refused '/nonexistent/w' "${on[@]}" --save /nonexistent/w --out "$tmp/never.jsonl"
[ ! -s "$tmp/never.jsonl" ] || fail "an epoch was trained before it was seen that its weights cannot be written"
refused '--save|keeps one training, and these are 2' "${on[@]}" --batch 20,50 --save "$tmp/w.safetensors"
refused 'they are one file' "${on[@]}" --save "$tmp/same" --out "$tmp/same"
refused 'are one file' "${on[@]}" --save "$tmp/same" --checkpoint "$tmp/same"
refused '--plan trains nothing' "${on[@]}" --plan --save "$tmp/w.safetensors"

# ---- What diverged has no weights worth keeping.
"$benchcnn" "${on[@]}" --optimizer sgd,lr=1e9 --save "$tmp/wild.safetensors" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] && [ ! -e "$tmp/wild.safetensors" ] || fail "weights of a training that diverged: $(cat "$tmp/err")"
holds "diverged weights" "$tmp/err" 'wild.safetensors is not written: the training diverged'
finish
