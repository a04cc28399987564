#!/usr/bin/env bash
# test_kernel.sh BENCHCNN CC: --kernel FILE.c:NAME: the examples of impl_template/kernels are verified, timed, swept; kernels that do
# not compile, are wrong or crash, and arguments that are none, are named in a sentence; nothing is left behind.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
export CC=$2
unset CFLAGS
# A deliberate crash is to end its process, not to be reported by a sanitizer, which would exit.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0
export TMPDIR=$tmp/tmp # where it is compiled
mkdir "$TMPDIR"
kernels=impl_template/kernels
conv=x,w,b,y,mb,ic,ih,iw,oc,oh,ow,kh,kw,sh,sw,ph,pw,dh,dw
problem=mb2ic3ih5oc4oh5kh3ph1

# says STATUS PATTERN ARGUMENTS...: the exit status, and a line that matches
says() {
    local status=$1 pattern=$2 got
    shift 2
    tests=$((tests + 1))
    "$benchcnn" "$@" >"$tmp/out" 2>&1 </dev/null
    got=$?
    [ $got -eq "$status" ] || fail "'benchcnn $*' ended with $got, not $status: $(tail -c 600 "$tmp/out")"
    grep -qE -- "$pattern" "$tmp/out" || fail "'benchcnn $*' does not say '$pattern': $(tail -c 600 "$tmp/out")"
}
# changed NAME SED-SCRIPT: the example, changed
changed() { sed -E "$2" "$kernels/conv.c" >"$tmp/$1.c"; }
try() { # STATUS PATTERN NAME OPTIONS...: verify it, on one problem
    says "$1" "$2" verify --kernel "$tmp/$3.c:conv" --args $conv --problem $problem --quiet "${@:4}"
}

# ---- The examples, by the lines in their comments.
few=()
for one in $problem mb2g2ic4ih8oc6kh3 ic3ih8oc4kh3dh1 ic3ih5oc4oh3kh3sh2ph1 ic3ih6iw4oc2oh5ow3kh2kw3pw1; do few+=(--problem "$one"); done
says 0 ' 0 FAILED 4 PASSED 1 UNSUPPORTED' verify --kernel $kernels/conv.c:conv --args $conv --quiet "${few[@]}"
grep -q 'g is not among --args, so it must be 1, not 2' "$tmp/out" || fail "no groups are asked of what takes none: $(cat "$tmp/out")"
says 0 ' 0 FAILED [0-9]+ PASSED' verify --op fc --kernel $kernels/fc.c:fc --args 'x,w,b,y,mb,ic*ih*iw,oc' --quiet
for file in conv.c fc.c; do
    grep -q -- "--kernel $file:" $kernels/$file || fail "$file does not say how it is tried"
done
timed=(--peaks none --max-time 0.01 --min-time 0.001 --quiet)
says 0 'kernel:conv .*PASSED' bench --kernel $kernels/conv.c:conv --args $conv --problem $problem "${timed[@]}"
says 0 '2 timed and verified' bench --kernel $kernels/conv.c:conv --args $conv --impl kernel,cpu:naive --problem $problem "${timed[@]}"
says 0 'conv +0 +0 +20 ' verify --kernel $kernels/conv.c:conv --args $conv --fuzz 20 --seed 1 --quiet
says 0 ' 1 PASSED' verify --kernel $kernels/conv.c:conv --args $conv --impl kernel+cpu --net thesis
changed wrong 's/i < kh/i < kh - 1/'
says 1 'conv1.*FAILED|1 FAILED' verify --kernel "$tmp/wrong.c:conv" --args $conv --impl kernel+cpu --net thesis
says 1 'conv1.*FAILED|1 FAILED' verify --kernel "$tmp/wrong.c:conv" --args $conv --impl kernel+cpu --net thesis --fuse
says 0 'conv2 +FWD +kernel:conv' train --kernel $kernels/conv.c:conv --args $conv --impl kernel+cpu --net thesis --images 60,20 --batch 20 \
    --data synthetic --profile --quiet
says 0 'kernel:conv' list --kernel $kernels/conv.c:conv --args $conv

# ---- Types, another direction, no bias, what is included, what the environment says.
changed double 's/float/double/g'
try 0 ' 0 FAILED 1 PASSED' double --dtype f64
try 2 "double.c:6:.*float|double.c was not compiled" double
try 2 'one --dtype and one --layout' double --dtype f32,f64
# Types of 16 bits: the example, timed, too; results that are cut off, a bias that is added to what is stored, each named.
half=(verify --args $conv --problem $problem --dtype bf16 --quiet)
says 0 ' 0 FAILED 1 PASSED' "${half[@]}" --kernel $kernels/conv_bf16.c:conv
says 0 'kernel:conv .*PASSED' bench --kernel $kernels/conv_bf16.c:conv --args $conv --problem $problem --dtype bf16 "${timed[@]}"
sed 's/bits + 0x7fff + (bits >> 16 & 1)/bits/' $kernels/conv_bf16.c >"$tmp/cut.c"
says 1 'results are cut when they are stored' "${half[@]}" --kernel "$tmp/cut.c:conv"
sed 's/to_bf16(sum)/to_bf16(from_bf16(to_bf16(sum - (b ? from_bf16(b[k]) : 0))) + (b ? from_bf16(b[k]) : 0))/' $kernels/conv_bf16.c >"$tmp/later.c"
says 1 'stored before the bias is added, and so rounded twice' "${half[@]}" --kernel "$tmp/later.c:conv"
grep -q -- '--kernel conv_bf16.c:conv --dtype bf16' $kernels/conv_bf16.c || fail "conv_bf16.c does not say how it is tried"
# Integers: the example, timed, too; a result of 16 bits, which is named; an x of another type.
whole=(--args ${conv/b,y/b,y,beta} --problem $problem --dtype u8:s8:s32)
drawn=(--args ${conv/b,y/b,y,beta} --fuzz 30 --seed 1 --quiet --dtype u8:s8:s32)
says 0 ' 0 FAILED 1 PASSED' verify "${whole[@]}" --kernel $kernels/conv_s8.c:conv
says 0 '30 of 30 cases: 0 FAILED 30 PASSED' verify "${drawn[@]}" --kernel $kernels/conv_s8.c:conv
says 0 'kernel:conv .*PASSED' bench "${whole[@]}" --kernel $kernels/conv_s8.c:conv "${timed[@]}"
sed 's/\*to = sum/*to = (int16_t)sum/' $kernels/conv_s8.c >"$tmp/short.c"
says 1 'the sum has 16 bits, and wraps: keep it in 32' verify "${whole[@]}" --kernel "$tmp/short.c:conv"
sed 's/const uint8_t \*x/const int8_t *x/' $kernels/conv_s8.c >"$tmp/signed.c"
says 1 'it is what comes of x read as s8' verify "${whole[@]}" --kernel "$tmp/signed.c:conv"
says 2 "signed.c was not compiled|float" verify "${whole[@]/u8:s8:s32/f32}" --kernel "$tmp/signed.c:conv"
grep -q -- '--kernel conv_s8.c:conv --dtype u8:s8:s32' $kernels/conv_s8.c || fail "conv_s8.c does not say how it is tried"
# Quantized results: the example, timed, too; what it does not say of rounding and zero points, named; no scale.
q8=${conv/b,y/b,scale,y,per_oc,zero_x,zero_y}
quantized=(--args $q8 --problem ${problem}zx3zy128soc1 --dtype u8:s8:u8)
says 0 ' 0 FAILED 1 PASSED' verify "${quantized[@]}" --kernel $kernels/conv_q8.c:conv
says 0 '30 of 30 cases: 0 FAILED' verify --args $q8 --fuzz 30 --seed 1 --quiet --dtype u8:s8:u8 --kernel $kernels/conv_q8.c:conv
says 0 'kernel:conv .*PASSED' bench "${quantized[@]}" --kernel $kernels/conv_q8.c:conv "${timed[@]}"
sed 's/rintf(/truncf(/' $kernels/conv_q8.c >"$tmp/cut.c"
says 1 'fractions are cut off' verify "${quantized[@]}" --kernel "$tmp/cut.c:conv"
says 1 'kernel:conv .*y is not equal' bench "${quantized[@]}" --kernel "$tmp/cut.c:conv" "${timed[@]}"
says 3 'zero_x is not among --args, so it must be 0, not 3' verify "${quantized[@]/zero_x,/0,}" --kernel $kernels/conv_q8.c:conv
says 3 'per_oc is not among --args, so it must be 0, not 1' verify "${quantized[@]/per_oc,/0,}" --kernel $kernels/conv_q8.c:conv
says 2 '--args does not name scale' verify "${quantized[@]/scale,/}" --kernel $kernels/conv_q8.c:conv
grep -q -- '--kernel conv_q8.c:conv --dtype u8:s8:u8' $kernels/conv_q8.c || fail "conv_q8.c does not say how it is tried"
changed no_bias 's/const float \*b, //; s/b \? b\[k\] : 0/0/'
says 0 ' 0 FAILED 1 PASSED' verify --kernel "$tmp/no_bias.c:conv" --args ${conv/b,/} --problem $problem --quiet
cat >"$tmp/weights.c" <<'END'
#include "helper.h"
void weights(const float *x, const float *dy, float *dw, float *db, int mb, int ic, int ih, int oc, int oh, int kh)
{
    for (int k = 0; k < oc; k++) db[k] = bias(dy + k * oh * oh, mb, oc * oh * oh, oh * oh);
    for (int k = 0; k < oc; k++)
        for (int t = 0; t < ic * kh * kh; t++) {
            const int c = t / (kh * kh), i = t / kh % kh, j = t % kh;
            float sum = 0;
            for (int n = 0; n < mb; n++)
                for (int o = 0; o < oh * oh; o++)
                    sum += x[((n * ic + c) * ih + o / oh + i) * ih + o % oh + j] * dy[(n * oc + k) * oh * oh + o];
            dw[k * ic * kh * kh + t] = sum;
        }
}
END
cat >"$tmp/helper.h" <<'END'
static float bias(const float *dy, int mb, int step, int count)
{
    float sum = 0;
    for (int n = 0; n < mb; n++)
        for (int i = 0; i < count; i++) sum += dy[n * step + i];
    return sum;
}
END
square=()
for one in mb3ic3ih5oc4kh3 $problem ic3ih5iw6oc4oh3ow4kh3kw3 ic3ih5oc4kh3sh2 ic3ih8oc4kh3dh1; do square+=(--problem "$one"); done
says 0 ' 0 FAILED 1 PASSED 4 UNSUPPORTED' verify --kernel "$tmp/weights.c:weights" --args x,dy,dw,db,mb,ic,ih,oc,oh,kh --quiet "${square[@]}"
for why in 'iw is not among --args, so it must equal ih' 'ph is not among --args, so it must be 0' 'sh is not among --args, so it must be 1' 'dh is not among --args, so it must be 0, not 1'; do
    grep -q -- "$why" "$tmp/out" || fail "square kernels: no '$why': $(cat "$tmp/out")"
done
says 0 ' 0 FAILED 1 PASSED 1 UNSUPPORTED' verify --op conv3d --kernel $kernels/conv.c:conv --args $conv --problem mb2ic3id1ih5iw5oc4kd1kh3kw3 \
    --problem mb2ic3id2ih5iw5oc4kd1kh3kw3 --quiet
grep -q 'id is not among --args, so it must be 1, not 2' "$tmp/out" || fail "depth: $(cat "$tmp/out")"
changed flags 's/float sum = .*/float sum = VALUE;/'
CFLAGS='-O1 -DVALUE=(b?b[k]:0)' try 0 ' 0 FAILED 1 PASSED' flags
CC=/nonsense/cc try 2 'CC=/nonsense/cc cannot be started' double

{
    printf '#define a 1\n#define n 2\n#define beta 3\n#define s 4\n'
    tr -d '\n' <$kernels/fc.c # no line's end behind it
} >"$tmp/macros.c"
sed -i 's/\<n\>/m/g; s/#define m/#define n/' "$tmp/macros.c"
says 0 ' 0 FAILED [1-9]' verify --op fc --kernel "$tmp/macros.c:fc" --args 'x,w,b,y,mb,ic*ih*iw,oc' --quiet

# ---- Beta: a kernel that adds by itself, and one that says it does and does not.
changed adds 's/int dw\)/int dw, float beta)/; s/\] = sum;/] = beta ? y[((n * oc + k) * oh + p) * ow + q] + sum : sum;/'
says 0 ' 0 FAILED 1 PASSED' verify --kernel "$tmp/adds.c:conv" --args $conv,beta --problem $problem --quiet
changed forgets 's/int dw\)/int dw, float beta)/'
says 1 'only with beta 1' verify --kernel "$tmp/forgets.c:conv" --args $conv,beta --problem $problem --quiet

# ---- Values of its own are knobs: set, swept, and in the line that repeats it.
changed tile 's/int dw\)/int dw, int tile)/; s/float sum = /float sum = tile == 7 ? 1 : /'
says 0 ' 0 FAILED 1 PASSED' verify --kernel "$tmp/tile.c:conv" --args "$conv,2*tile" --set kernel.tile=4 --problem $problem --quiet
says 1 'set kernel.tile=7 ' verify --kernel "$tmp/tile.c:conv" --args $conv,tile --set kernel.tile=7 --problem $problem --quiet
repeat=$(sed -n 's/.*repeat with: //p' "$tmp/out" | head -n 1)
eval "$repeat" >"$tmp/again" 2>&1
grep -q ' 1 FAILED 0 PASSED' "$tmp/again" || fail "what repeats it does not fail: $repeat: $(cat "$tmp/again")"
says 1 '3 points: 2 timed and verified, 1 could not run or were wrong' sweep kernel.tile=1,7,2 --kernel "$tmp/tile.c:conv" --args $conv,tile \
    --problem $problem "${timed[@]}"
says 2 'kernel.tile: no expression' verify --kernel "$tmp/tile.c:conv" --args $conv,1 --set kernel.tile=7 --problem $problem

# ---- What is wrong with a kernel: each in a sentence, at its place.
changed text 's/float sum = /flot sum = /'
try 2 'text.c:13:.*flot' text
try 2 'text.c was not compiled \(`' text
changed few 's/, int dw\)/)/; s/ \* \(dw \+ 1\)//'
try 2 'too many arguments' few
try 2 "there is no function 'none' in it" text --kernel "$tmp/text.c:none"
try 1 'exact FAILED: y is not equal' wrong
grep -q 'y\[n=0,c=0,h=0,w=0\]: expected' "$tmp/out" || fail "a wrong kernel without its place: $(cat "$tmp/out")"
changed crash 's/float sum = .*/*(volatile int *)4096 = 1; float sum = 0;/'
try 1 'survival FAILED: .*signal 11' crash
says 1 'cpu:naive .*PASSED' bench --isolate --kernel "$tmp/crash.c:conv" --args $conv --impl kernel,cpu:naive --problem $problem "${timed[@]}"
changed hang 's/float sum = .*/for (volatile int z = 0;; z = 1) { } float sum = 0;/'
try 1 'survival FAILED: .*did not finish in 1 s' hang --isolate-limit 1
changed beyond 's/^}$/y[mb * oc * oh * ow] = 1; }/'
try 1 'FAILED.*kernel:conv' beyond

# ---- What is wrong with the arguments.
given=(verify --kernel "$kernels/conv.c:conv" --problem "$problem")
refused "there is no 'zz'; there are g mb ic ih|--set kernel.NAME=VALUE" "${given[@]}" --args $conv,zz
refused "no function 'sqrt'" "${given[@]}" --args "$conv,sqrt(ih)"
refused "a ')' is missing at its end" "${given[@]}" --args "$conv,(ih"
refused 'nothing between two commas' "${given[@]}" --args "$conv,"
refused 'x is named twice' "${given[@]}" --args "$conv,x"
refused 'db is no operand' "${given[@]}" --args "$conv,db"
refused 'names no output' "${given[@]}" --args x,w,mb
refused 'a kernel is of one direction' "${given[@]}" --args x,w,y,dx
refused '--args has ' "${given[@]}" --args "$(printf 'mb+%.0s' {1..1000})1"
refused 'goes with --args' "${given[@]}"
refused 'goes with --kernel' verify --args $conv
refused 'goes with --kernel' verify --grid 1
refused '--grid is of kernels that are launched' "${given[@]}" --args $conv --grid 1
refused 'of the form FILE:NAME' verify --kernel conv.c --args $conv
refused 'must end in .c or .cu' verify --kernel conv.f90:conv --args $conv
refused 'none.c: No such file' verify --kernel none.c:conv --args $conv
refused 'must end in .c or .cu' verify --kernel /dev/zero:conv --args $conv
refused 'conv, conv3d or fc' "${given[@]}" --args $conv --op pool
refused 'of one operation' "${given[@]}" --args $conv --op conv,fc
says 3 'UNSUPPORTED.*a division by zero' "${given[@]}" --args "${conv%dw}dw/(kh-3)"
says 3 'UNSUPPORTED.*more than 64 bits' "${given[@]}" --args "${conv%dw}mb*9223372036854775807"
says 3 'UNSUPPORTED.*more than an int holds' "${given[@]}" --args "${conv%dw}mb*2147483647"
says 3 'UNSUPPORTED.*direction FWD, only' "${given[@]}" --args $conv --dir BWD_D

# ---- A run that was stopped goes on with the same kernel, and not with another one.
again() { # PATTERN
    sed -i '/"kind":"end"/d' "$tmp/left" 2>/dev/null
    says 0 "$1" verify --kernel "$tmp/same.c:conv" --args $conv --problem $problem --out "$tmp/left"
}
changed same ''
again ' 1 PASSED'
again 'finished before'
changed same 's/float sum = /if (mb == 4711) y[0] = 1;\n&/'
again ' 1 PASSED'
grep -q 'finished before' "$tmp/out" && fail "another kernel's cases are kept"
grep -q '"kernel_source":"[^"]*same.c:conv, [0-9a-f]*"' "$tmp/left" || fail "no record says which kernel it was"

# ---- An epilogue: asked of what names z and act.
fused=(--args x,w,b,z,y,mb,ic,ih,iw,oc,oh,ow,kh,kw,sh,sw,ph,pw,dh,dw,act,alpha)
says 0 ' 2 PASSED' verify "${fused[@]}" --kernel $kernels/conv_fused.c:conv --problem add+relu:mb2ic3ih7oc4kh3ph1 --problem mb1ic3ih7oc4kh3
says 0 '40 of 40 cases: 0 FAILED' verify "${fused[@]}" --fuzz 40 --epilogue add+relu --seed 1 --quiet --kernel $kernels/conv_fused.c:conv
says 0 '40 of 40 cases: 0 FAILED' verify "${fused[@]}" --fuzz 40 --epilogue leaky_relu=0.3 --seed 1 --quiet --kernel $kernels/conv_fused.c:conv
says 0 ' 1 PASSED' verify "${fused[@]}" --kernel $kernels/conv_fused.c:conv --problem clipped_relu=6:mb2ic3ih7oc4kh3ph1
sed 's/if (z) sum += z\[at\];//; s/= activation(.*;/= activation(sum, act, alpha) + (z ? z[at] : 0);/' $kernels/conv_fused.c >"$tmp/late.c"
says 1 'z is added behind the activation' verify "${fused[@]}" --kernel "$tmp/late.c:conv" --problem add+relu:mb2ic3ih7oc4kh3ph1 --seed 1
says 3 'z is not among --args' verify --args $conv --kernel $kernels/conv.c:conv --problem add:mb2ic3ih7oc4kh3ph1
says 3 'act is not among --args, so it must be 0, not 1' verify --args $conv --kernel $kernels/conv.c:conv --problem relu:mb2ic3ih7oc4kh3ph1
sed 's/alpha \* v/0.01f * v/' $kernels/conv_fused.c >"$tmp/slope.c"
says 1 FAILED verify "${fused[@]}" --kernel "$tmp/slope.c:conv" --problem leaky_relu=0.3:mb2ic3ih7oc4kh3ph1
sed 's/int act, float alpha)$/int act)/; s/activation(sum, act, alpha)/activation(sum, act, 0)/' $kernels/conv_fused.c | sed '1,/^static/s/int act)$/int act, float alpha)/' >"$tmp/plain.c"
says 0 ' 1 PASSED' verify "${fused[0]}" "${fused[1]%,alpha}" --kernel "$tmp/plain.c:conv" --problem relu:mb2ic3ih7oc4kh3ph1
says 3 'alpha is not among --args: leaky_relu has a parameter' verify "${fused[0]}" "${fused[1]%,alpha}" --kernel "$tmp/plain.c:conv" --problem leaky_relu:mb2ic3ih7oc4kh3ph1

# ---- Again when the file changes: put in its place, and written anew; not for anything else.
comes() { # PATTERN COUNT
    for _ in {1..200}; do
        [ "$(grep -cE -- "$1" "$tmp/watched")" -ge "$2" ] && return
        sleep 0.1
    done
    fail "--watch: not $2 times '$1': $(tail -c 600 "$tmp/watched")"
}
cp $kernels/conv.c "$tmp/seen.c"
: >"$tmp/watched"
"$benchcnn" verify --watch --kernel "$tmp/seen.c:conv" --args $conv --problem $problem --threads 1 >"$tmp/watched" 2>&1 &
watcher=$!
comes 'again when .*seen.c changes' 1
changed text 's/float sum = /flot sum = /' && mv "$tmp/text.c" "$tmp/seen.c"
comes 'seen.c was not compiled' 1
comes 'again when .*seen.c changes' 2
changed wrong 's/i < kh/i < kh - 1/' && cat "$tmp/wrong.c" >"$tmp/seen.c"
comes 'exact FAILED' 1
comes 'again when .*seen.c changes' 3
cat $kernels/conv.c >"$tmp/seen.c"
comes '^PASSED' 2
comes 'again when .*seen.c changes' 4
kill -TERM $watcher
wait $watcher
got=$?
[ $got -eq 130 ] || fail "--watch ended with $got, not 130: $(tail -c 300 "$tmp/watched")"
tests=$((tests + 1))
refused 'goes with --kernel' verify --watch
echo "verify --watch --kernel $kernels/conv.c:conv --args $conv" >"$tmp/recipe"
refused 'does not go into a recipe' run "$tmp/recipe" --out "$tmp/never.jsonl"

# ---- In a recipe; and nothing stays behind.
echo "verify --kernel $kernels/conv.c:conv --args $conv --problem $problem" >"$tmp/recipe"
says 0 ' 1 PASSED' run "$tmp/recipe" --out "$tmp/records.jsonl"
[ -z "$(ls "$TMPDIR")" ] || fail "left behind: $(ls "$TMPDIR")"
finish
