#!/usr/bin/env bash
# test_kernel_cuda.sh BENCHCNN [CXX]: --kernel FILE.cu:NAME. Without CUDA in the build it is refused in words; emulated, the example and
# kernels with shared memory are verified, and what is wrong is named in a sentence.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
export CXX=${2:-}
unset CXXFLAGS
export TMPDIR=$tmp/tmp # where it is compiled
mkdir "$TMPDIR"
kernels=impl_template/kernels
conv=x,w,b,y,ic,ih,iw,oc,oh,ow,kh,kw,sh,sw,ph,pw,dh,dw
launch=(--grid 'cdiv(oh*ow,tile),oc,mb' --block tile)
problem=(--problem mb2ic3ih5oc4oh5kh3ph1)

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

if ! "$benchcnn" list | grep -q '(emulated'; then
    [ -n "$("$benchcnn" list | grep 'cuda_naive: not built')" ] || exit 77 # on a GPU, or for one
    refused 'CUDA is not in this build|BENCHCNN_CUDA=ON' verify --kernel $kernels/conv.cu:conv --args $conv "${launch[@]}" --set kernel.tile=32
    finish
    exit
fi
try() { # STATUS PATTERN FILE OPTIONS...: verify it
    says "$1" "$2" verify --kernel "$3:conv" --args $conv "${launch[@]}" --set kernel.tile=32 --quiet "${@:4}"
}
changed() { sed -E "$2" "$kernels/conv.cu" >"$tmp/$1.cu"; }

# ---- The example; other tiles; in a network; not timed.
few=()
for one in mb2ic3ih5oc4oh5kh3ph1 mb2g2ic4ih8oc6kh3 ic3ih8oc4kh3dh1 ic3ih6iw4oc2oh5ow3kh2kw3pw1; do few+=(--problem "$one"); done
try 0 ' 0 FAILED 3 PASSED 1 UNSUPPORTED' $kernels/conv.cu "${few[@]}"
grep -q -- "--kernel conv.cu:conv --grid 'cdiv(oh\*ow,tile),oc,mb' --block tile" $kernels/conv.cu || fail "conv.cu does not say how it is tried"
try 0 ' 1 PASSED' $kernels/conv.cu "${problem[@]}" --no-bias
says 3 'kernel is emulated in this build' bench --kernel $kernels/conv.cu:conv --args $conv "${launch[@]}" --set kernel.tile=32 "${problem[@]}"
try 0 ' 0 FAILED 3 PASSED 1 UNSUPPORTED' $kernels/conv_half.cu "${few[@]}" --dtype f16
try 2 'the parameters of conv are not what --args lists: float' $kernels/conv_half.cu "${few[@]}"
sed 's/__half\b/__nv_bfloat16/g; s/__half2float/__bfloat162float/g; s/__float2half_rn/__float2bfloat16_rn/; s/cuda_fp16/cuda_bf16/' $kernels/conv_half.cu >"$tmp/brain.cu"
try 0 ' 0 FAILED 3 PASSED 1 UNSUPPORTED' "$tmp/brain.cu" "${few[@]}" --dtype bf16
changed whole 's/const float \*x, const float \*w, const float \*b, float \*y/const unsigned char *x, const signed char *w, const int *b, int *y/; s/float sum/int sum/'
try 0 ' 0 FAILED 3 PASSED 1 UNSUPPORTED' "$tmp/whole.cu" "${few[@]}" --dtype u8:s8:s32
try 2 'not what --args lists: unsigned char \* for x, signed char \* for w, int \* for b, int \* for y, const' $kernels/conv.cu "${few[@]}" --dtype u8:s8:s32
grep -q -- "--kernel conv_half.cu:conv --dtype f16" $kernels/conv_half.cu || fail "conv_half.cu does not say how it is tried"
changed wrong 's/i < kh/i < kh - 1/'
says 1 ' 1 FAILED' verify --impl kernel+cuda_naive --net thesis --kernel "$tmp/wrong.cu:conv" --args $conv "${launch[@]}" --set kernel.tile=64
says 0 ' 1 PASSED' verify --impl kernel+cuda_naive --net thesis --kernel $kernels/conv.cu:conv --args $conv "${launch[@]}" --set kernel.tile=64
says 0 ' 1 PASSED' verify --kernel $kernels/conv.cu:conv --args $conv "${launch[@]}" --set kernel.tile=7 --set kernel.sync_launches=1 "${problem[@]}" \
    --out "$tmp/records.jsonl"
grep -q '"kernel_source":"[^"]*conv.cu:conv, ' "$tmp/records.jsonl" || fail "no record says which kernel it was"

# ---- Shared memory, static and dynamic; f64; another direction, which adds by itself.
cat >"$tmp/sum.cu" <<'END'
#include <cuda_runtime.h>
#include "sum.h"
__global__ void fc(const REAL *__restrict__ x, const REAL *__restrict__ w, REAL *y, int in, int oc)
{
    extern __shared__ __align__(16)
        REAL parts[];
    __shared__ int lanes;
    REAL sum = 0;
    if (threadIdx.x == 0) lanes = blockDim.x;
    for (int i = threadIdx.x; i < in; i += blockDim.x) sum += __ldg(x + blockIdx.y * in + i) * w[blockIdx.x * in + i];
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (int i = 1; threadIdx.x == 0 && i < lanes; i++) sum += parts[i];
    if (threadIdx.x == 0) y[blockIdx.y * oc + blockIdx.x] = sum;
}
END
fc=(verify --op fc --kernel "$tmp/sum.cu:fc" --args 'x,w,y,ic*ih*iw,oc' --grid oc,mb --block 'min(ic*ih*iw,48)' --quiet)
echo '#define REAL float' >"$tmp/sum.h"
says 0 ' 0 FAILED [1-9]' "${fc[@]}" --shared 'min(ic*ih*iw,48)*4'
says 2 'the parameters of fc are not what --args lists: double' "${fc[@]}" --shared 'min(ic*ih*iw,48)*8' --dtype f64
echo '#define REAL double' >"$tmp/sum.h"
says 0 ' 0 FAILED [1-9]' "${fc[@]}" --shared 'min(ic*ih*iw,48)*8' --dtype f64
says 3 'shared is 300000 bytes, but must be from 0 to' "${fc[@]}" --shared 300000 --dtype f64
cat >"$tmp/back.cu" <<'END'
__global__ void back(const float *dy, const float *w, float *dx, float beta, int mb, int in, int oc)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = i / in, k = i % in;
    if (n >= mb) return;
    float sum = beta != 0 ? dx[i] : 0;
    for (int o = 0; o < oc; o++) sum += dy[n * oc + o] * w[o * in + k];
    dx[i] = sum;
}
END
says 0 ' 0 FAILED [1-9]' verify --op fc --kernel "$tmp/back.cu:back" --args 'dy,w,dx,beta,mb,ic*ih*iw,oc' --grid 'cdiv(mb*ic*ih*iw,64)' --block 64 --quiet

cat >"$tmp/leaky.cu" <<'END'
__global__ void leaky(const float *x, const float *w, float *y, float alpha, int act, int mb, int in, int oc)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = i / oc, o = i % oc;
    if (n >= mb) return;
    float sum = 0;
    for (int k = 0; k < in; k++) sum += x[n * in + k] * w[o * in + k];
    y[i] = sum < 0 && act == 2 ? alpha * sum : sum;
}
END
leaky=(verify --op fc --args 'x,w,y,alpha,act,mb,ic*ih*iw,oc' --grid 'cdiv(mb*oc,64)' --block 64 --quiet --no-bias --problem leaky_relu=0.3:mb3ic20oc7)
says 0 ' 1 PASSED' "${leaky[@]}" --kernel "$tmp/leaky.cu:leaky"
sed 's/alpha \* sum/0.01f * sum/' "$tmp/leaky.cu" >"$tmp/slope.cu"
says 1 ' 1 FAILED' "${leaky[@]}" --kernel "$tmp/slope.cu:leaky"

# ---- What is wrong.
changed text 's/float sum = /flot sum = /'
try 2 'text.cu:13:.*flot' "$tmp/text.cu" "${problem[@]}"
changed few 's/, int dw\)/)/; s/ \* \(dw \+ 1\)//'
try 2 'the parameters of conv are not what --args lists' "$tmp/few.cu" "${problem[@]}"
try 1 'exact FAILED: y is not equal' "$tmp/wrong.cu" "${problem[@]}"
grep -q 'y\[n=0,c=0,h=0,w=0\]: expected' "$tmp/out" || fail "a wrong kernel without its place: $(cat "$tmp/out")"
grep -qF -- "--grid 'cdiv(oh*ow,tile),oc,mb' --block tile" "$tmp/out" || fail "what repeats it lacks its launch: $(cat "$tmp/out")"
changed diverges 's/if \(p >= oh\) return;/if (p >= oh) return; __syncthreads();/'
try 1 'survival FAILED' "$tmp/diverges.cu" "${problem[@]}"
try 3 '--block is 2000 in x, but must be from 1 to 1024' $kernels/conv.cu "${problem[@]}" --set kernel.tile=2000
try 3 'a division by zero' $kernels/conv.cu "${problem[@]}" --set kernel.tile=0
given=(verify --kernel $kernels/conv.cu:conv --args $conv "${problem[@]}")
refused 'is launched: --grid and --block' "${given[@]}"
refused 'is launched: --grid and --block' "${given[@]}" --grid 1
refused "there is no 'tile'; there are|kernel.NAME=VALUE" "${given[@]}" "${launch[@]}"
refused 'more than 3 values' "${given[@]}" --grid 1,2,3,4 --block 1
refused 'more than 1 value' "${given[@]}" --grid 1 --block 1 --shared 1,2
[ -z "$(ls "$TMPDIR")" ] || fail "left behind: $(ls "$TMPDIR")"
finish
