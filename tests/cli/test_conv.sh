#!/usr/bin/env bash
# test_conv.sh BENCHCNN: `benchcnn conv` on arrays that NumPy made (tests/data/conv/make.py), in every direction;
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
    "$benchcnn" conv "$@" >"$tmp/said" 2>&1
    status=$?
    [ $status -eq "$wanted" ] || fail "'benchcnn conv $*' ended with $status, not $wanted: $(head -c 400 "$tmp/said")"
    holds "'benchcnn conv $*'" "$tmp/said" "$words"
}

# same A B: two files hold the same bytes.
same() {
    tests=$((tests + 1))
    cmp -s "$1" "$2" || fail "$1 and $2 differ"
}

fwd=(--problem "$problem" --dir FWD --x "$data/x.npy" --w "$data/w.npy" --b "$data/b.npy" --out "$tmp/y.npy")
data_grad=(--problem "$problem" --dir BWD_D --dy "$data/dy.npy" --w "$data/w.npy" --out "$tmp/dx.npy")
weight_grad=(--problem "$problem" --dir BWD_W --x "$data/x.npy" --dy "$data/dy.npy" --out "$tmp/dw.npy")

# What NumPy computed holds, whatever the algorithm and the layout it works in.
for impl in cpu cpu:direct cpu:im2col cpu:naive; do
    for layout in nchw nhwc; do
        on=(--impl "$impl" --layout "$layout")
        expect 0 "PASSED|FWD|f32 $layout|of the bound" "${fwd[@]}" "${on[@]}" --expect "$data/y.npy"
        expect 0 "PASSED" "${fwd[@]}" "${on[@]}" --expect "$data/y_f32.npy"
        expect 0 "PASSED|BWD_D" "${data_grad[@]}" "${on[@]}" --expect "$data/dx.npy"
        expect 0 "PASSED|BWD_W" "${weight_grad[@]}" "${on[@]}" --out "$tmp/dw.npy,$tmp/db.npy" --expect "$data/dw.npy,$data/db.npy"
    done
done
expect 0 "PASSED" "${weight_grad[@]}" --impl cpu --expect "$data/dw.npy"

# A result is an expectation of the next run; --json says the same.
expect 0 "DONE" "${fwd[@]}" --impl cpu:direct
cp "$tmp/y.npy" "$tmp/first.npy"
expect 0 '"state":"PASSED"|"check":"expect"|"repro":"benchcnn conv' "${fwd[@]}" --impl cpu:direct --expect "$tmp/first.npy" --json
same "$tmp/y.npy" "$tmp/first.npy"
[ "$(head -c 128 "$tmp/y.npy" | tail -c 118 | head -c 60)" = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 6, 4, " ] ||
    fail "the header of y.npy is not NumPy's"

# f64 arrays, f64 arithmetic: NumPy's dx and dw have the shapes of x and w. One algorithm is what the other expects.
f64=(--problem "$problem" --dir FWD --x "$data/dx.npy" --w "$data/dw.npy" --out "$tmp/y64.npy")
expect 0 "DONE|f64 nchw" "${f64[@]}" --impl cpu:naive
cp "$tmp/y64.npy" "$tmp/naive64.npy"
expect 0 "PASSED|f64 nhwc" "${f64[@]}" --impl cpu:im2col --layout nhwc --expect "$tmp/naive64.npy"
expect 2 "w.npy is f32, but $data/dx.npy is f64" "${fwd[@]}" --impl cpu --x "$data/dx.npy"
expect 2 "one type" "${data_grad[@]}" --impl cpu --dy "$data/y.npy"

# Expectations that do not hold: who is wrong, and where.
expect 1 "FAILED|the expected y itself|every element is wrong" "${fwd[@]}" --impl cpu --expect "$data/y.npy" --mode convolution
cp "$data/y_f32.npy" "$tmp/one.npy"
printf '\x00\x00\x80\x7f' | dd of="$tmp/one.npy" bs=1 seek=$((128 + 4 * 191)) conv=notrunc status=none
expect 1 "1 of 192 elements|y[n=1,c=5,h=3,w=3]" "${fwd[@]}" --impl cpu:direct --expect "$tmp/one.npy"
expect 1 "the expected db itself|db[" "${weight_grad[@]}" --impl cpu --out "$tmp/dw.npy,$tmp/db.npy" \
    --expect "$data/dw.npy,$data/b.npy"

# What is refused.
on=(--impl cpu)
expect 2 "x.npy has the shape (2, 4, 7, 6), but w of this problem is (6, 2, 3, 2)" "${fwd[@]}" "${on[@]}" --w "$data/x.npy"
expect 2 "y.npy has the shape (2, 6, 4, 4), but dw of this problem is (6, 2, 3, 2)" "${weight_grad[@]}" "${on[@]}" --expect "$data/y.npy"
expect 2 "--dy does not go with --dir FWD" "${fwd[@]}" "${on[@]}" --dy "$data/dy.npy"
expect 2 "--b does not go with --dir BWD_D" "${data_grad[@]}" "${on[@]}" --b "$data/b.npy"
expect 2 "--out needs a second file" "${weight_grad[@]}" "${on[@]}" --expect "$data/dw.npy,$data/db.npy"
expect 2 "--out|two files|--dir FWD" "${fwd[@]}" "${on[@]}" --out "$tmp/y.npy,$tmp/db.npy"
expect 2 "--expect|DW.npy,DB.npy" "${weight_grad[@]}" "${on[@]}" --out "$tmp/dw.npy,$tmp/db.npy" --expect "$data/dw.npy,"
expect 2 "--out|DW.npy,DB.npy" "${weight_grad[@]}" "${on[@]}" --out "$tmp/dw.npy,$tmp/db.npy,$tmp/dx.npy"
expect 2 "--dir FWD needs --w FILE.npy" --problem "$problem" --dir FWD --x "$data/x.npy" --out "$tmp/y.npy" "${on[@]}"
expect 2 "needs --out FILE.npy" --problem "$problem" --dir FWD --x "$data/x.npy" --w "$data/w.npy" "${on[@]}"
expect 2 "needs --dir" --problem "$problem" "${on[@]}"
expect 2 "did you mean 'FWD'" --problem "$problem" --dir FWT "${on[@]}"
expect 2 "one --problem, not 0" --dir FWD "${on[@]}"
expect 2 "needs --impl" "${fwd[@]}"
expect 2 "one implementation" "${fwd[@]}" --impl 'cpu:*'
expect 2 "one implementation" "${fwd[@]}" --impl cpu:direct,cpu:im2col
expect 2 "did you mean 'direct'" "${fwd[@]}" --impl cpu:dirct
expect 2 "no algorithm gemm for this problem" "${fwd[@]}" --impl cpu:gemm
expect 2 "/nonexistent/y.npy" "${fwd[@]}" "${on[@]}" --out /nonexistent/y.npy
expect 2 "/nonexistent/x.npy: cannot be opened" "${fwd[@]}" "${on[@]}" --x /nonexistent/x.npy
expect 2 "not a .npy file" "${fwd[@]}" "${on[@]}" --x "$data/make.py"
cp "$data/x.npy" "$tmp/kept.npy"
ln "$tmp/kept.npy" "$tmp/hard.npy"
expect 2 "--out $tmp/hard.npy would spoil --x $tmp/kept.npy" "${fwd[@]}" "${on[@]}" --x "$tmp/kept.npy" --out "$tmp/hard.npy"
expect 2 "--out $tmp/./kept.npy would spoil --x" "${weight_grad[@]}" "${on[@]}" --x "$tmp/kept.npy" --out "$tmp/dw.npy,$tmp/./kept.npy"
expect 2 "--out $tmp/kept.npy would spoil --expect" "${fwd[@]}" "${on[@]}" --expect "$tmp/kept.npy" --out "$tmp/kept.npy"
expect 2 "--out $tmp/both.npy would spoil --out" "${weight_grad[@]}" "${on[@]}" --out "$tmp/both.npy,$tmp/both.npy"
same "$data/x.npy" "$tmp/kept.npy"
echo '{"kind":"env"}' >"$tmp/records.jsonl"
expect 2 "records.jsonl is there, and is no array" "${fwd[@]}" "${on[@]}" --out "$tmp/records.jsonl"
[ "$(cat "$tmp/records.jsonl")" = '{"kind":"env"}' ] || { echo "FAILED: records were spoiled by an array"; failures=$((failures + 1)); }
expect 0 "DONE" "${weight_grad[@]}" "${on[@]}" --out /dev/null,/dev/null
head -c 1000 "$data/x.npy" >"$tmp/cut.npy"
expect 2 "cut.npy: truncated|872 of 1344 bytes of (2, 4, 7, 6) f32" "${fwd[@]}" "${on[@]}" --x "$tmp/cut.npy"
expect 2 "takes no 'foo'" "${fwd[@]}" "${on[@]}" foo

finish
