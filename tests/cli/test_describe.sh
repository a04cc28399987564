#!/usr/bin/env bash
# test_describe.sh BENCHCNN: `benchcnn describe`: every field, marked where it is not given; operands, FLOPs, bytes, floors.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"

# says WORDS ARGUMENTS...: status 0, and each of WORDS (separated by '|').
says() {
    local words=$1
    shift
    tests=$((tests + 1))
    "$benchcnn" describe "$@" >"$tmp/said" 2>&1 || fail "describe $*: status $?: $(head -c 300 "$tmp/said")"
    holds "describe $*" "$tmp/said" "$words"
}

says 'conv mb2ic20ih16oc20oh8kh4sh2ph4dh2  f32 nchw| g=1* mb=2 ic=20 oc=20 ih=16 oh=8 kh=4 sh=2 ph=4 dh=2 ph_r=4* iw=16* ow=8* kw=4* |20 x 20 x 4 x 4' \
    mb2ic20ih16oc20oh8kh4sh2ph4dh2
says ' ph=0* | ph_r=1* | oh=2 ' ic1ih4oc1oh2kh3sh2 # the padding on the right is larger
says ' mb=7 ' ic1ih4oc1kh3 --mb 7
says ' mb=2* | ih=4 ' 'ic1ih4oc1kh3n"mb9"' # a name gives nothing
says 'f64|nhwc| 2400 bytes|' --dtype f64 --layout nhwc mb2ic6ih5oc1kh1 # x: 300 of 8 bytes
grep -q ' b  ' "$tmp/said" || fail "no bias"
"$benchcnn" describe --no-bias ic1ih4oc1kh3 | grep -q ' b  ' && fail "a bias with --no-bias"

# 1 x 1 of 4 pixels: 8 FLOP, 16 + 4 + 16 bytes.
says 'FWD   8 FLOP, 36 bytes at least, 0.222 FLOP/byte' mb1ic1ih1iw4oc1oh1ow4kh1kw1 --no-bias
says 'kind=max | mb=2* | sh=2 | ih=8 | iw=8*|out     dx' --op pool max:ic16ih8kh2sh2
says 'kind=adam | lr=0.1 | beta1=0.9* | l2=0.5 | decay_steps=0* | ic=10|in, out state1|in, out step         i64 1' --op optimizer adam,lr=0.1,l2=0.5:ic10
says 'kind=softmax_cross_entropy* |labels       i32 3|loss_sum     f64 1' --op loss mb3ic4
says 'kind=quadratic ' --op loss quadratic:mb3ic4
says ' ih=8 | oh=16* | ic=64 | oc=32 |64 x 32 x 4 x 4|3 x 32 x 16 x 16' --op deconv mb3ic64ih8oc32kh4sh2ph1
says 'inference=yes | eps=0.1 | momentum=0.1* ' --op batchnorm inference,eps=0.1:mb2ic3ih4
says 'inference=no* | eps=1e-05* ' --op batchnorm mb2ic3ih4
says 'rate=0.2 | seed=7 ' --op dropout 0.2,seed=7:mb2ic3ih4
says 'alpha=0.01* ' --op act leaky_relu:mb2ic3ih4
says 'alpha=0.3 ' --op act leaky_relu=0.3:mb2ic3ih4
says 'ic=3+5 |2 x 8 x 4 x 4' --op concat 3+5:mb2ih4
says 'fc mb2ic3oc4|add' --op fc mb2ic3oc4 'mb2ic3oc4n"add"'
[ "$(grep -c '^fc ' "$tmp/said")" -eq 2 ] || fail "two words are not two descriptions"

# Floors: of a device in a file, by its most threads; none where its ceilings lack.
peak() { echo "{\"kind\":\"peak\",\"what\":\"$1\",\"unit\":\"$2\",\"value\":$3,\"dtype\":\"f32\",\"math\":\"f32\",\"impl\":\"cpu\",\"machine\":\"box\",\"threads\":$4,\"samples\":1}"; }
{ peak fma flop/s 1e9 1 && peak fma flop/s 2e9 2 && peak copy byte/s 1e9 2; } >"$tmp/peaks.jsonl"
says 'floor 0.036 µs on box, 2 threads, from memory, by ' --peaks "$tmp/peaks.jsonl" mb1ic1ih1iw4oc1oh1ow4kh1kw1 --no-bias
says 'no floor on box: ' --peaks "$tmp/peaks.jsonl" --dtype f64 ic1ih4oc1kh3
says '"kind":"description"|"kind":"floor"|"floor_s":3.6e-08|"flops":8,|"operand_bytes":{"x":16,"w":4,"y":16}|"deduced":"g sh |"machine":"box","threads":2' \
    --peaks "$tmp/peaks.jsonl" mb1ic1ih1iw4oc1oh1ow4kh1kw1 --no-bias --json
says '"kind":"description"' --json "$(printf 'ic1ih4oc1kh3n"\x1b[2J"')" # nothing that a terminal would obey
LC_ALL=C grep -q -P '\x1b' "$tmp/said" && fail "an escape is shown"

refused "usage" describe
refused "descriptor" describe ic1
refused "descriptor" describe ic1ih4oc1kh3 nonsense
[ -s "$tmp/out" ] && fail "the first of two is described, though the second is none"
refused "operation" describe --op convo ic1ih4oc1kh3
refused "operation" describe --op all ic1ih4oc1kh3
refused "one --dtype" describe --dtype all ic1ih4oc1kh3
refused "/nonexistent" describe --peaks /nonexistent ic1ih4oc1kh3
refused "no ceilings" describe --peaks "$0" ic1ih4oc1kh3
says 'conv3d| id=4 | od=2* | kd=3 |in      x            f32 2 x 1 x 4 x 4 x 4' ic1id4ih4iw4oc1kd3kh3kw3
refused "3-D" describe --op deconv ic1id4ih4iw4oc1kd3kh3kw3
finish
