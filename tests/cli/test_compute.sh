#!/usr/bin/env bash
# test_compute.sh BENCHCNN: `benchcnn compute` on arrays that NumPy made (tests/data/conv/make.py), in every direction and operation;
# expectations that are wrong, and input that is refused.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
data=tests/data/conv
problem=g2mb2ic4ih7iw6oc6oh4ow4kh3kw2sh2sw1ph1pw1dh0dw2

# expect STATUS WORDS OPTION...: the exit status, and each of WORDS (separated by '|') somewhere in what is said.
expect() {
    local wanted=$1 words=$2 status
    shift 2
    tests=$((tests + 1))
    "$benchcnn" compute "$@" >"$tmp/said" 2>&1
    status=$?
    [ $status -eq "$wanted" ] || fail "'benchcnn compute $*' ended with $status, not $wanted: $(head -c 400 "$tmp/said")"
    holds "'benchcnn compute $*'" "$tmp/said" "$words"
}

# same A B: two files hold the same bytes.
same() {
    tests=$((tests + 1))
    cmp -s "$1" "$2" || fail "$1 and $2 differ"
}

of=(--problem "$problem")
fwd_in=("${of[@]}" --dir FWD --in w="$data/w.npy" --in b="$data/b.npy" --out "$tmp/y.npy") # but for x
fwd=("${fwd_in[@]}" --in x="$data/x.npy")
data_grad=("${of[@]}" --dir BWD_D --in dy="$data/dy.npy" --in w="$data/w.npy" --out "$tmp/dx.npy")
weight_grad=("${of[@]}" --dir BWD_W --in x="$data/x.npy" --in dy="$data/dy.npy" --out "$tmp/dw.npy")
both=(--out dw="$tmp/dw.npy,db=$tmp/db.npy")

# What NumPy computed holds, whatever the algorithm and the layout it works in.
for impl in cpu cpu:direct cpu:im2col cpu:naive; do
    for layout in nchw nhwc; do
        on=(--impl "$impl" --layout "$layout")
        expect 0 "PASSED|FWD|f32 $layout|of the bound" "${fwd[@]}" "${on[@]}" --expect "$data/y.npy"
        expect 0 "PASSED" "${fwd[@]}" "${on[@]}" --expect "$data/y_f32.npy"
        expect 0 "PASSED|BWD_D" "${data_grad[@]}" "${on[@]}" --expect "$data/dx.npy"
        expect 0 "PASSED|BWD_W" "${weight_grad[@]}" "${on[@]}" "${both[@]}" --expect dw="$data/dw.npy,db=$data/db.npy"
    done
done
expect 0 "PASSED" "${weight_grad[@]}" --impl cpu --expect "$data/dw.npy"

# A result is an expectation of the next run; --json says the same.
expect 0 "DONE" "${fwd[@]}" --impl cpu:direct
cp "$tmp/y.npy" "$tmp/first.npy"
expect 0 '"state":"PASSED"|"check":"expect"|"repro":"benchcnn compute' "${fwd[@]}" --impl cpu:direct --expect "$tmp/first.npy" --json
same "$tmp/y.npy" "$tmp/first.npy"
[ "$(head -c 128 "$tmp/y.npy" | tail -c 118 | head -c 60)" = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 6, 4, " ] ||
    fail "the header of y.npy is not NumPy's"

# f64 arrays, f64 arithmetic: NumPy's dx and dw have the shapes of x and w. One algorithm is what the other expects.
f64=("${of[@]}" --dir FWD --in x="$data/dx.npy" --in w="$data/dw.npy" --out "$tmp/y64.npy")
expect 0 "DONE|f64 nchw" "${f64[@]}" --impl cpu:naive
cp "$tmp/y64.npy" "$tmp/naive64.npy"
expect 0 "PASSED|f64 nhwc" "${f64[@]}" --impl cpu:im2col --layout nhwc --expect "$tmp/naive64.npy"
expect 2 "w.npy is f32, but $data/dx.npy is f64" "${fwd_in[@]}" --impl cpu --in x="$data/dx.npy"
expect 2 "one type" "${of[@]}" --dir BWD_D --in dy="$data/y.npy" --in w="$data/w.npy" --out "$tmp/dx.npy" --impl cpu

# Expectations that do not hold: who is wrong, and where.
expect 1 "FAILED|the expected y itself|every element is wrong" "${fwd[@]}" --impl cpu --expect "$data/y.npy" --mode convolution
cp "$data/y_f32.npy" "$tmp/one.npy"
printf '\x00\x00\x80\x7f' | dd of="$tmp/one.npy" bs=1 seek=$((128 + 4 * 191)) conv=notrunc status=none
expect 1 "1 of 192 elements|y[n=1,c=5,h=3,w=3]" "${fwd[@]}" --impl cpu:direct --expect "$tmp/one.npy"
expect 1 "the expected db itself|db[" "${weight_grad[@]}" --impl cpu "${both[@]}" \
    --expect dw="$data/dw.npy,db=$data/b.npy"

# The arithmetic of the expectation: named where it holds and where it does not, or given.
precise() { expect 0 "PASSED|your expectation has the precision of $1" "${fwd[@]}" --impl cpu:direct --expect "$data/$2.npy" "${@:3}"; }
coarse() { expect 1 "FAILED|your expectation was computed in $1|--expect-math $1" "${fwd[@]}" --impl cpu:direct --expect "$data/y_$1.npy" "${@:2}"; }
precise f64 y
precise f32 y_f32
for math in tf32 f16 bf16; do
    coarse $math
    precise "$(sed 's/^f16$/tf32/' <<<$math)" y_$math --expect-math $math # as many bits
done
expect 1 "the expected y itself leaves" "${fwd[@]}" --impl cpu --expect "$data/y_bf16.npy" --expect-math tf32
expect 1 "the expected y itself leaves" "${fwd[@]}" --impl cpu --expect "$data/y_tf32.npy" --expect-math f32
expect 0 "PASSED" "${fwd[@]}" --impl cpu --expect "$data/y_tf32.npy" --expect-math bf16
cp "$data/y_f32.npy" "$tmp/nearly.npy" # one element, off by no more than tf32 might leave: no word of tf32
printf '\xa0' | dd of="$tmp/nearly.npy" bs=1 seek=$((128 + 4 * 100 + 1)) conv=notrunc status=none
expect 1 "itself leaves the float64 reference's bound in 1 of 192" "${fwd[@]}" --impl cpu --expect "$tmp/nearly.npy"

# A tolerance of one's own: between the two, while the kernel is held to its bound all the same.
expect 0 "PASSED|<= 0.005 + 0.01 |not to the bound around the expectation" "${fwd[@]}" --impl cpu --expect "$data/y_tf32.npy" --rtol 1e-2 --atol 5e-3
expect 0 "PASSED|<= 0.1 + 0 " "${fwd[@]}" --impl cpu --expect "$data/y_bf16.npy" --atol 1e-1
expect 1 "not as expected within --rtol and --atol" "${fwd[@]}" --impl cpu --expect "$data/y_tf32.npy" --rtol 1e-6
expect 1 "not as expected within --rtol and --atol" "${fwd[@]}" --impl cpu --expect "$data/y_f32.npy" --rtol 0
expect 2 "--rtol|--expect" "${fwd[@]}" --impl cpu --rtol 1e-6
expect 2 "--expect-math|--expect" "${fwd[@]}" --impl cpu --expect-math tf32
expect 2 "--expect-math|--rtol" "${fwd[@]}" --impl cpu --expect "$data/y_f32.npy" --expect-math tf32 --rtol 1e-3
expect 2 "did you mean 'tf32'" "${fwd[@]}" --impl cpu --expect "$data/y_f32.npy" --expect-math tf23

# ---- Other operations: arrays from the little-endian words of their elements.
npy() { # FILE TYPE SHAPE WORDS...
    local file=$1 header="{'descr': '$2', 'fortran_order': False, 'shape': $3, }" word
    shift 3
    { printf '\x93NUMPY\x01\x00\x76\x00' && printf '%-117s\n' "$header"; } >"$file"
    for word in "$@"; do
        while [ -n "$word" ]; do
            printf '%b' "\\x${word: -2}" >>"$file"
            word=${word%??}
        done
    done
}
zero=0000000000000000 one=0000000000000001
npy "$tmp/t.npy" '<f4' '(1, 2, 1, 2)' bf800000 40000000 40400000 c0800000 # -1 2 3 -4
npy "$tmp/relu.npy" '<f4' '(1, 2, 1, 2)' 00000000 40000000 40400000 00000000
npy "$tmp/ones.npy" '<f4' '(1, 2, 1, 2)' 3f800000 3f800000 3f800000 3f800000
npy "$tmp/more.npy" '<f4' '(1, 2, 1, 2)' 00000000 40400000 40800000 c0400000 # and 1
npy "$tmp/gradient.npy" '<f4' '(1, 2, 1, 2)' 00000000 3f800000 3f800000 00000000
act=(--op act --problem relu:mb1ic2ih1iw2)
expect 0 "PASSED" "${act[@]}" --dir FWD --in x="$tmp/t.npy" --impl cpu --out "$tmp/y.npy" --expect "$tmp/relu.npy"
expect 0 "PASSED|BWD_D" "${act[@]}" --dir BWD_D --in x="$tmp/t.npy" --in y="$tmp/relu.npy" --in dy="$tmp/ones.npy" --impl cpu \
    --layout nhwc --out "$tmp/dx.npy" --expect dx="$tmp/gradient.npy"
same "$tmp/dx.npy" "$tmp/gradient.npy"
expect 1 "dx[n=0,c=0,h=0,w=0]" "${act[@]}" --dir BWD_D --in x="$tmp/t.npy" --in y="$tmp/relu.npy" --in dy="$tmp/ones.npy" --impl cpu \
    --out "$tmp/dx.npy" --expect "$tmp/ones.npy"
expect 0 "DONE|add" --op add --problem mb1ic2ih1iw2 --dir FWD --in x0="$tmp/t.npy" --in x1="$tmp/ones.npy" --impl cpu --out "$tmp/y.npy"
expect 0 "PASSED" --op add --problem mb1ic2ih1iw2 --dir FWD --in x0="$tmp/t.npy" --in x1="$tmp/ones.npy" --impl cpu --out "$tmp/y.npy" --expect "$tmp/more.npy"

# Two images of two classes: integers, totals, and what is updated; a single number needs no dimension.
npy "$tmp/logits.npy" '<f4' '(2, 2)' 40000000 40000000 00000000 00000000 # softmax 1/2
npy "$tmp/half2.npy" '<f4' '(2, 2)' 3f000000 3f000000 3f000000 3f000000
npy "$tmp/labels.npy" '<i8' '(2,)' $zero $one
npy "$tmp/labels4.npy" '<i4' '(2,)' 00000000 00000001
npy "$tmp/beyond.npy" '<i8' '(2,)' $zero 0000000000000002
npy "$tmp/below.npy" '<i8' '(2,)' $zero ffffffffffffffff
npy "$tmp/loss0.npy" '<f8' '()' $zero
npy "$tmp/loss.npy" '<f8' '(1,)' 3ff62e42fefa39ef # 2 ln 2
npy "$tmp/correct0.npy" '<i8' '()' 0000000000000005
npy "$tmp/correct.npy" '<i8' '(1,)' 0000000000000006 # the first of two equal ones is taken
loss_of() { loss=(--op loss --problem mb2ic2 --dir FWD --in x="$tmp/logits.npy" --in labels="$tmp/$1.npy" --in loss_sum="$tmp/loss0.npy" --in correct="$tmp/correct0.npy" --impl cpu); }
for labels in labels labels4; do
    loss_of $labels
    expect 0 "PASSED" "${loss[@]}" --out y="$tmp/y.npy,loss_sum=$tmp/sum.npy,correct=$tmp/hits.npy" --expect y="$tmp/half2.npy,loss_sum=$tmp/loss.npy,correct=$tmp/correct.npy"
    expect 0 "DONE" "${loss[@]}" --out correct="$tmp/hits.npy,loss_sum=$tmp/sum.npy"
    same "$tmp/hits.npy" "$tmp/correct.npy"
done
expect 2 "which one is it? loss FWD reads x, labels, loss_sum, correct and writes y, loss_sum, correct" "${loss[@]}" --out "$tmp/y.npy"
expect 2 "needs --in correct=FILE.npy" "${loss[@]:0:12}" --impl cpu --out y="$tmp/y.npy"
loss_of beyond
expect 2 "beyond.npy holds 2, but labels of this problem are from 0 to below 2" "${loss[@]}" --out y="$tmp/y.npy"
loss_of below
expect 2 "below.npy holds -1" "${loss[@]}" --out y="$tmp/y.npy"
loss_of half2
expect 2 "half2.npy has the shape (2, 2), but labels of this problem is (2,)" "${loss[@]}" --out y="$tmp/y.npy"
npy "$tmp/reals.npy" '<f4' '(2,)' 00000000 3f800000
loss_of reals
expect 2 "reals.npy is f32, but labels holds whole numbers: save a.astype('<i8')" "${loss[@]}" --out y="$tmp/y.npy"
expect 2 "labels.npy is i64, but b holds real numbers: save a.astype('<f4')" --op fc --problem mb2ic2oc2 --dir FWD --in x="$tmp/logits.npy" \
    --in w="$tmp/half2.npy" --in b="$tmp/labels.npy" --impl cpu --out "$tmp/y.npy"
expect 2 "would spoil --in correct" "${loss[@]:0:8}" --in labels="$tmp/labels.npy" --in loss_sum="$tmp/loss0.npy" --in correct="$tmp/correct0.npy" --impl cpu \
    --out correct="$tmp/correct0.npy"
npy "$tmp/far.npy" '<i8' '(2,)' $zero 0020000000000001
loss_of far
expect 2 "far.npy holds" "${loss[@]}" --out y="$tmp/y.npy"
npy "$tmp/late.npy" '<i8' '()' ffffffffffffffff
expect 2 "late.npy holds -1, but step" --op dropout --problem 0.5:mb1ic2ih1iw2 --dir FWD --in x="$tmp/t.npy" --in step="$tmp/late.npy" --impl cpu --out "$tmp/y.npy"

# One update: w of 1 and -2, a gradient of 1 and 1, a rate of 1/2.
npy "$tmp/w0.npy" '<f4' '(2,)' 3f800000 c0000000
npy "$tmp/grad.npy" '<f4' '(2,)' 3f800000 3f800000
npy "$tmp/w1.npy" '<f4' '(2,)' 3f000000 c0200000
npy "$tmp/step1.npy" '<i8' '(1,)' 0000000000000006
sgd=(--op optimizer --problem sgd,lr=0.5:ic2 --dir FWD --in w="$tmp/w0.npy" --in grad="$tmp/grad.npy" --in step="$tmp/correct0.npy" --impl cpu)
expect 0 "PASSED" "${sgd[@]}" --out w="$tmp/w.npy,step=$tmp/step.npy" --expect w="$tmp/w1.npy,step=$tmp/step1.npy"
same "$tmp/w.npy" "$tmp/w1.npy"
same "$tmp/step.npy" "$tmp/step1.npy"
expect 1 "FAILED|step" "${sgd[@]}" --out w="$tmp/w.npy" --expect step="$tmp/correct.npy,w=$tmp/w0.npy"
expect 2 "--in state0 does not go with --dir FWD: optimizer FWD reads w, grad, step" "${sgd[@]}" --in state0="$tmp/w0.npy" --out w="$tmp/w.npy"

# What is refused.
on=(--impl cpu)
expect 2 "x.npy has the shape (2, 4, 7, 6), but w of this problem is (6, 2, 3, 2)" "${of[@]}" --dir FWD --in w="$data/x.npy" --in x="$data/x.npy" --out "$tmp/y.npy" "${on[@]}"
expect 2 "y.npy has the shape (2, 6, 4, 4), but dw of this problem is (6, 2, 3, 2)" "${weight_grad[@]}" "${on[@]}" --expect "$data/y.npy"
expect 2 "--in dy does not go with --dir FWD: conv FWD reads x, w, b and writes y" "${fwd[@]}" "${on[@]}" --in dy="$data/dy.npy"
expect 2 "--in y does not go" "${fwd[@]}" "${on[@]}" --in y="$data/y.npy"
expect 2 "--in b does not go with --dir BWD_D" "${data_grad[@]}" "${on[@]}" --in b="$data/b.npy"
expect 2 "--out db does not go with --dir FWD" "${fwd[@]}" "${on[@]}" --out y="$tmp/y.npy,db=$tmp/db.npy"
expect 2 "--in names x twice" "${fwd[@]}" "${on[@]}" --in x="$data/x.npy"
expect 2 "--in '$data/x.npy' is not of the form NAME=FILE.npy" "${fwd_in[@]}" "${on[@]}" --in "$data/x.npy"
expect 2 "--in 'x=' is not of the form" "${fwd_in[@]}" "${on[@]}" --in x=
expect 2 "--expect|NAME=FILE.npy,NAME=FILE.npy" "${weight_grad[@]}" "${on[@]}" "${both[@]}" --expect dw="$data/dw.npy,"
expect 2 "--out|is not of the form FILE.npy or NAME=FILE.npy" "${weight_grad[@]}" "${on[@]}" --out "$tmp/dw.npy,$tmp/db.npy"
expect 2 "which one is it? conv BWD_W reads x, dy and writes dw, db" "${weight_grad[@]}" "${on[@]}" --out "$tmp/dw.npy" --expect db="$data/db.npy"
expect 2 "--dir FWD needs --in w=FILE.npy: conv FWD reads x, w and writes y" "${of[@]}" --dir FWD --in x="$data/x.npy" --out "$tmp/y.npy" "${on[@]}"
expect 2 "needs --out FILE.npy" "${of[@]}" --dir FWD --in x="$data/x.npy" --in w="$data/w.npy" "${on[@]}"
expect 2 "operation" "${fwd[@]}" "${on[@]}" --op all
expect 2 "add has no direction BWD_D" --op add --problem ic2ih3 --dir BWD_D --out "$tmp/dx.npy" "${on[@]}"
expect 2 "needs --dir" "${of[@]}" "${on[@]}"
expect 2 "did you mean 'FWD'" --problem "$problem" --dir FWT "${on[@]}"
expect 2 "one --problem, not 0" --dir FWD "${on[@]}"
expect 2 "needs --impl" "${fwd[@]}"
expect 2 "one implementation" "${fwd[@]}" --impl 'cpu:*'
expect 2 "one implementation" "${fwd[@]}" --impl cpu:direct,cpu:im2col
expect 2 "did you mean 'direct'" "${fwd[@]}" --impl cpu:dirct
expect 2 "no algorithm gemm for this problem" "${fwd[@]}" --impl cpu:gemm
expect 2 "/nonexistent/y.npy" "${fwd[@]}" "${on[@]}" --out /nonexistent/y.npy
expect 2 "/nonexistent/x.npy: cannot be opened" "${fwd_in[@]}" "${on[@]}" --in x=/nonexistent/x.npy
expect 2 "not a .npy file" "${fwd_in[@]}" "${on[@]}" --in x="$data/make.py"
cp "$data/x.npy" "$tmp/kept.npy"
ln "$tmp/kept.npy" "$tmp/hard.npy"
expect 2 "--out $tmp/hard.npy would spoil --in x $tmp/kept.npy" "${fwd_in[@]}" "${on[@]}" --in x="$tmp/kept.npy" --out "$tmp/hard.npy"
expect 2 "--out $tmp/./kept.npy would spoil --in x" "${of[@]}" --dir BWD_W --in dy="$data/dy.npy" "${on[@]}" --in x="$tmp/kept.npy" --out dw="$tmp/dw.npy,db=$tmp/./kept.npy"
expect 2 "--out $tmp/kept.npy would spoil --expect" "${fwd[@]}" "${on[@]}" --expect "$tmp/kept.npy" --out "$tmp/kept.npy"
expect 2 "--out $tmp/both.npy would spoil --out" "${weight_grad[@]}" "${on[@]}" --out dw="$tmp/both.npy,db=$tmp/both.npy"
same "$data/x.npy" "$tmp/kept.npy"
echo '{"kind":"env"}' >"$tmp/records.jsonl"
expect 2 "records.jsonl is there, and is no array" "${fwd[@]}" "${on[@]}" --out "$tmp/records.jsonl"
[ "$(cat "$tmp/records.jsonl")" = '{"kind":"env"}' ] || { echo "FAILED: records were spoiled by an array"; failures=$((failures + 1)); }
expect 0 "DONE" "${weight_grad[@]}" "${on[@]}" --out dw=/dev/null,db=/dev/null
head -c 1000 "$data/x.npy" >"$tmp/cut.npy"
expect 2 "cut.npy: truncated|872 of 1344 bytes of (2, 4, 7, 6) f32" "${fwd_in[@]}" "${on[@]}" --in x="$tmp/cut.npy"
expect 2 "half.npy is f16|all arrays must have one type, or those of u8:s8:s32" "${fwd_in[@]}" "${on[@]}" --in x="$data/half.npy"

# Bytes by bytes: 200*-3 + 100*127 = 12100, and a bias; half precision, with a result of either type.
npy "$tmp/u8.npy" '|u1' '(1, 2, 1, 1)' c8 64
npy "$tmp/i8.npy" '|i1' '(1, 2, 1, 1)' fd 7f
npy "$tmp/b32.npy" '<i4' '(1,)' 40000001
npy "$tmp/y32.npy" '<i4' '(1, 1, 1, 1)' 40002f45
npy "$tmp/off32.npy" '<i4' '(1, 1, 1, 1)' 40002f44
point=(--problem mb1ic2ih1oc1kh1 --dir FWD --impl cpu)
bytes=("${point[@]}" --in x="$tmp/u8.npy" --in w="$tmp/i8.npy" --in b="$tmp/b32.npy" --out "$tmp/y.npy")
expect 0 "PASSED|u8:s8:s32" "${bytes[@]}" --expect "$tmp/y32.npy"
same "$tmp/y.npy" "$tmp/y32.npy"
expect 1 "FAILED|the expected y itself" "${bytes[@]}" --expect "$tmp/off32.npy"
expect 0 "s8:s8:s32" "${point[@]}" --in x="$tmp/i8.npy" --in w="$tmp/i8.npy" --out "$tmp/y.npy"
expect 2 "u8.npy is u8|i8.npy is s8|one type" "${point[@]}" --in x="$tmp/i8.npy" --in w="$tmp/u8.npy" --out "$tmp/y.npy"
# Quantized: (200 - 10)*-3 + (100 - 10)*127 = 10860, 10860/64 = 169.7, from 5 on; to u8 as x is, or to what is expected.
npy "$tmp/scale.npy" '<f4' '(1,)' 3c800000 # 1/64
npy "$tmp/zero32.npy" '<i4' '(1,)' 00000000
npy "$tmp/q_u8.npy" '|u1' '(1, 1, 1, 1)' af # 175
npy "$tmp/q_s8.npy" '|i1' '(1, 1, 1, 1)' 7f
npy "$tmp/q_off.npy" '|u1' '(1, 1, 1, 1)' ae
quantized=(--problem mb1ic2ih1oc1kh1zx10zy5 --dir FWD --impl cpu --in x="$tmp/u8.npy" --in w="$tmp/i8.npy" --in b="$tmp/zero32.npy")
quantized+=(--in scale="$tmp/scale.npy" --out "$tmp/y.npy")
expect 0 "DONE|u8:s8:u8" "${quantized[@]}"
same "$tmp/y.npy" "$tmp/q_u8.npy"
expect 0 "PASSED|u8:s8:u8" "${quantized[@]}" --expect "$tmp/q_u8.npy"
expect 0 "PASSED|u8:s8:s8" "${quantized[@]}" --expect "$tmp/q_s8.npy"
same "$tmp/y.npy" "$tmp/q_s8.npy"
expect 1 "FAILED|the expected y itself" "${quantized[@]}" --expect "$tmp/q_off.npy"
expect 2 "with a scale of f32, those of u8:s8:u8" "${quantized[@]}" --expect "$tmp/y32.npy"
npy "$tmp/h.npy" '<f2' '(1, 2, 1, 1)' 3c00 4000 # 1, 2
npy "$tmp/h3.npy" '<f2' '(1, 1, 1, 1)' 4500 # 5
npy "$tmp/b.npy" '<f4' '(1,)' 3f800000
npy "$tmp/y6.npy" '<f4' '(1, 1, 1, 1)' 40c00000 # 6
expect 0 "PASSED| f16 " "${point[@]}" --in x="$tmp/h.npy" --in w="$tmp/h.npy" --out "$tmp/y.npy" --expect "$tmp/h3.npy"
same "$tmp/y.npy" "$tmp/h3.npy"
expect 0 "PASSED|f16:f16:f32" "${point[@]}" --in x="$tmp/h.npy" --in w="$tmp/h.npy" --in b="$tmp/b.npy" --out "$tmp/y.npy" --expect "$tmp/y6.npy"
same "$tmp/y.npy" "$tmp/y6.npy"
expect 2 "takes no 'foo'" "${fwd[@]}" "${on[@]}" foo

finish
