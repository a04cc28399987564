/* rows_store.h: sums of wgmma as rows of channels in memory (C++). */
#ifndef IMPL_CUDA_TENSOR_ROWS_STORE_H
#define IMPL_CUDA_TENSOR_ROWS_STORE_H

#include "impl_cuda_tensor/asm.h"
#include "impl_cuda_tensor/finish.h"

namespace
{

/* What a thread holds of a product of 64 rows: of 16 rows of its warp row lane/4 and the 8th behind it, of each 8
 * columns two from 2*(lane%4) on: sum[4*i + 2*h + e] is row h, column 8*i + e. */

template <typename R> __device__ inline uint32_t word_of(float first, float second)
{
    const together<R, 2> pair = {{cuda_stored<R>(first), cuda_stored<R>(second)}};
    uint32_t word;
    memcpy(&word, &pair, sizeof word);
    return word;
}

/* Of four threads' four words each: thread t gets every one's word t. */
__device__ inline void exchange(uint32_t (&v)[4])
{
    const uint32_t lane = threadIdx.x & 31;
#pragma unroll
    for (uint32_t bit = 1; bit < 4; bit <<= 1) {
        const bool upper = (lane & bit) != 0;
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) {
            if ((i & bit) != 0) continue;
            const uint32_t mine = upper ? v[i | bit] : v[i];
            const uint32_t other = __shfl_xor_sync(0xffffffffu, upper ? v[i] : v[i | bit], bit);
            v[i] = upper ? other : mine;
            v[i | bit] = upper ? mine : other;
        }
    }
}

/* 16 bits: of each 32 columns, 4 threads write 16 bytes each, side by side. */
template <typename R, int N>
__device__ inline void store_row(int32_t columns, R *row, bool there, int32_t first, int32_t h, const float (&sum)[N])
{
    const int32_t t = static_cast<int32_t>(threadIdx.x & 3);
#pragma unroll
    for (int32_t i = 0; i < N / 4; i += 4) {
        uint32_t word[4];
#pragma unroll
        for (int32_t j = 0; j < 4; j++) word[j] = word_of<R>(sum[4 * (i + j) + 2 * h], sum[4 * (i + j) + 2 * h + 1]);
        exchange(word);
        const int32_t column = first + 8 * (i + t);
        if (there && column < columns) {
            const int4 four = {static_cast<int>(word[0]), static_cast<int>(word[1]), static_cast<int>(word[2]),
                               static_cast<int>(word[3])};
            *reinterpret_cast<int4 *>(row + column) = four;
        }
    }
}
template <int N>
__device__ inline void store_row(int32_t columns, float *row, bool there, int32_t first, int32_t h,
                                 const float (&sum)[N])
{
    const int32_t t = static_cast<int32_t>(threadIdx.x & 3);
#pragma unroll
    for (int32_t i = 0; i < N / 4; i++) {
        const int32_t column = first + 8 * i + 2 * t;
        if (there && column < columns)
            *reinterpret_cast<together<float, 2> *>(row + column) = {{sum[4 * i + 2 * h], sum[4 * i + 2 * h + 1]}};
    }
}

/* Adds the bias, where there is one, and finishes what will be stored at `row`. */
template <typename R, int N>
__device__ inline void finish_row(int32_t columns, const R *bias, const cutensor_finish &last, const R *row, bool there,
                                  int32_t first, int32_t h, float (&sum)[N])
{
    const int32_t t = static_cast<int32_t>(threadIdx.x & 3);
#pragma unroll
    for (int32_t i = 0; i < N / 4; i++) {
        const int32_t column = first + 8 * i + 2 * t;
        if (column >= columns || !there) continue;
        float two[2] = {sum[4 * i + 2 * h], sum[4 * i + 2 * h + 1]};
        if (bias != nullptr) two[0] += cuda_load(bias[column]), two[1] += cuda_load(bias[column + 1]);
        finish(last, row + column, two);
        sum[4 * i + 2 * h] = two[0], sum[4 * i + 2 * h + 1] = two[1];
    }
}

} // namespace

#endif
