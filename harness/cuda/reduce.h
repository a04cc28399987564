/* reduce.h: sums over a block, always the same tree, so always the same bits for the same block size. */
#ifndef HARNESS_CUDA_REDUCE_H
#define HARNESS_CUDA_REDUCE_H

#include "harness/cuda/platform.h"

/* The sum over a warp, in every lane. */
template <typename T> __device__ inline T cuda_warp_sum(T value)
{
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

/* The sum over a block of whole warps, in every thread. All of them must come. `shared` holds 32 values. */
template <typename T> __device__ inline T cuda_block_sum(T value, T *shared)
{
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;
    value = cuda_warp_sum(value);
    __syncthreads(); /* the last use of `shared` is over */
    if (lane == 0) shared[warp] = value;
    __syncthreads();
    return cuda_warp_sum(lane < warps ? shared[lane] : T(0));
}

#endif
