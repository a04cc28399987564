#!/usr/bin/env bash
# test_mixed.sh BENCHCNN: networks in f16 and bf16: gradients and steps are those of the reference, which rounds what they
# store; the loss scale grows, falls, and leaves steps out; checkpoints keep it; what cannot be is refused in a sentence.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
printf 'input 1 8 8\nconv 4 kernel=3 stride=2 pad=1\nbatch_norm\nrelu\nsave a\nconv 4 kernel=3 pad=1\ntanh\nadd a\nmax_pool kernel=2\ndropout 0.2\nfc 10\nsoftmax_cross_entropy\n' >"$tmp/small.net"
common=(--net "$tmp/small.net" --impl cpu:im2col --data synthetic --images 200,50 --batch 20 --threads 1 --seed 3 --quiet)
ends() { # STATUS COMMAND...: the exit status, and then words that the output has
    local status=$1 got
    shift
    tests=$((tests + 1))
    "$benchcnn" "$@" >"$tmp/out" 2>&1 </dev/null
    got=$?
    [ $got -eq "$status" ] || fail "'benchcnn $*' ended with $got, not $status: $(tail -c 600 "$tmp/out")"
}
has() { grep -qE -- "$1" "${2:-$tmp/out}" || fail "no '$1' in $(tail -c 900 "${2:-$tmp/out}")"; }
field() { grep '"kind":"epoch"' "$1" | tail -1 | grep -o "\"$2\":[^,}]*" | cut -d: -f2; }
losses() { grep -o '"\(train\|test\)_loss":[^,]*' "$1" | tail -2; }

# ---- Gradients of whole networks, by each layout, and with values that are computed again.
for net in "$tmp/small.net" every_layer; do
    ends 0 verify --net $net --impl cpu:im2col,cpu:direct --dtype f16,bf16 --layout nchw,nhwc --seed 1 --quiet
    has ' 0 FAILED 8 PASSED$| 0 FAILED 8 PASSED '
done
ends 0 verify --net "$tmp/small.net" --impl cpu:im2col --dtype bf16 --recompute --seed 1 --quiet
has ' 0 FAILED 1 PASSED'

# ---- Training: each epoch is verified; the scale is what the type needs, and in the records.
for dtype in f32 f16 bf16; do
    ends 0 train "${common[@]}" --dtype $dtype --epochs 2 --out "$tmp/$dtype.jsonl"
    [ "$(grep -c '"verified":true' "$tmp/$dtype.jsonl")" -eq 2 ] || fail "epochs in $dtype are not verified: $(cat "$tmp/out")"
done
grep -q 'loss_scale\|left_out\|last_scale' "$tmp/f32.jsonl" && fail "f32 has a loss scale: $(tail -1 "$tmp/f32.jsonl")"
[ "$(field "$tmp/f16.jsonl" loss_scale)" = 65536 ] || fail "f16 begins with $(field "$tmp/f16.jsonl" loss_scale)"
[ "$(field "$tmp/bf16.jsonl" loss_scale)" = 1 ] || fail "bf16 begins with $(field "$tmp/bf16.jsonl" loss_scale)"
has '"optimizer":"[^"]*growth=2000"' "$tmp/f16.jsonl"
has '"steps_left_out":0' "$tmp/bf16.jsonl"
[ "$(losses "$tmp/f16.jsonl")" != "$(losses "$tmp/f32.jsonl")" ] || fail "f16 has the very losses of f32"

# A scale of a power of two changes nothing where nothing is lost; the one that is asked for is used.
ends 0 train "${common[@]}" --dtype bf16 --epochs 2 --loss-scale 1024 --out "$tmp/scaled.jsonl"
[ "$(field "$tmp/scaled.jsonl" last_scale)" = 1024 ] || fail "the scale is $(field "$tmp/scaled.jsonl" last_scale)"
[ "$(losses "$tmp/scaled.jsonl")" = "$(losses "$tmp/bf16.jsonl")" ] || fail "a scale of 1024 changes the losses in bf16"

# A scale that doubles with each step comes to where f16 ends: steps are left out, and that is right, too.
grows=(--dtype f16 --optimizer adam,growth=1 --loss-scale dynamic)
ends 0 train "${common[@]}" "${grows[@]}" --epochs 4 --out "$tmp/grown.jsonl"
has 'left out so far, for gradients that are not finite; the loss scale is'
[ "$(grep -c '"verified":true' "$tmp/grown.jsonl")" -eq 4 ] || fail "steps that are left out are not verified: $(cat "$tmp/out")"
[ "$(field "$tmp/grown.jsonl" steps_left_out)" -gt 4 ] || fail "$(field "$tmp/grown.jsonl" steps_left_out) steps were left out"

# ---- Checkpoints keep scale and counts.
ends 0 train "${common[@]}" "${grows[@]}" --epochs 2 --checkpoint "$tmp/kept" --out "$tmp/first.jsonl"
ends 0 train "${common[@]}" "${grows[@]}" --epochs 4 --checkpoint "$tmp/kept" --out "$tmp/second.jsonl"
for what in train_loss test_loss last_scale steps_left_out; do
    [ "$(field "$tmp/second.jsonl" $what)" = "$(field "$tmp/grown.jsonl" $what)" ] ||
        fail "going on gives $what $(field "$tmp/second.jsonl" $what), not $(field "$tmp/grown.jsonl" $what)"
done
ends 2 train "${common[@]}" --dtype f16 --loss-scale 64 --epochs 4 --checkpoint "$tmp/kept"
has 'is of another run'

# Weights are f32: they are saved, and begin a training in another type.
ends 0 train "${common[@]}" --dtype bf16 --save "$tmp/w.safetensors"
ends 0 train "${common[@]}" --dtype f32 --load "$tmp/w.safetensors"
ends 0 train "${common[@]}" --dtype f16 --load "$tmp/w.safetensors" --shift 1 --data-on host
ends 0 eval --net "$tmp/small.net" --impl cpu:im2col --dtype bf16 --load "$tmp/w.safetensors" --data synthetic --images 200,50 --quiet

# ---- Refused.
ends 2 train "${common[@]}" --loss-scale 64
has '--loss-scale 64 is for --dtype f16 and bf16'
for scale in 3 0 -1 1e3 2147483648 much; do
    ends 2 train "${common[@]}" --dtype f16 --loss-scale=$scale
    has "--loss-scale $scale: give dynamic, or a power of two"
done
ends 2 train "${common[@]}" --dtype f16 --loss-scale 64 --optimizer adam,growth=5
has 'growth=5 of --optimizer changes it'
ends 2 train "${common[@]}" --optimizer adam,growth=5
has 'the loss scale, which f16 and bf16 have, not f32'
ends 2 train "${common[@]}" --impl cpu:fused --dtype bf16
has 'cpu:fused trains in f32; bf16'
ends 2 train "${common[@]}" --dtype u8:s8:s32
has 'a network in u8:s8:s32'
finish
