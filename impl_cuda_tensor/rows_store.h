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

/* bias: of the first column; of an even number of columns. */
template <typename R, int N>
__device__ inline void add_bias(int32_t columns, const R *bias, int32_t first, float (&sum)[N])
{
    const int32_t t = static_cast<int32_t>(threadIdx.x & 3);
#pragma unroll
    for (int32_t i = 0; i < N / 4; i++) {
        const int32_t column = first + 8 * i + 2 * t;
        if (column >= columns) continue;
        const together<R, 2> two = *reinterpret_cast<const together<R, 2> *>(bias + column);
#pragma unroll
        for (int32_t h = 0; h < 2; h++) {
            sum[4 * i + 2 * h] += cuda_load(two.v[0]);
            sum[4 * i + 2 * h + 1] += cuda_load(two.v[1]);
        }
    }
}

/* What is added to both rows, read as store_row() writes: 16 bits by way of exchange(), 16 bytes a thread. */
template <typename R, int N>
__device__ inline void add_rows(const cutensor_finish &last, int32_t columns, R *const (&row)[2],
                                const bool (&there)[2], int32_t first, float (&sum)[N])
{
    const int32_t t = static_cast<int32_t>(threadIdx.x & 3);
#pragma unroll
    for (int32_t h = 0; h < 2; h++) {
        int4 words[N / 16];
#pragma unroll
        for (int32_t i = 0; i < N / 16; i++) {
            const int32_t column = first + 8 * (4 * i + t);
            words[i] = {0, 0, 0, 0};
            if (there[h] && column < columns)
                words[i] = *reinterpret_cast<const int4 *>(added_to(last, row[h] + column));
        }
#pragma unroll
        for (int32_t i = 0; i < N / 16; i++) {
            uint32_t word[4] = {static_cast<uint32_t>(words[i].x), static_cast<uint32_t>(words[i].y),
                                static_cast<uint32_t>(words[i].z), static_cast<uint32_t>(words[i].w)};
            exchange(word);
#pragma unroll
            for (int32_t j = 0; j < 4; j++) {
                together<R, 2> two;
                memcpy(&two, &word[j], sizeof two);
                sum[4 * (4 * i + j) + 2 * h] += cuda_load(two.v[0]);
                sum[4 * (4 * i + j) + 2 * h + 1] += cuda_load(two.v[1]);
            }
        }
    }
}
template <int N>
__device__ inline void add_rows(const cutensor_finish &last, int32_t columns, float *const (&row)[2],
                                const bool (&there)[2], int32_t first, float (&sum)[N])
{
    const int32_t t = static_cast<int32_t>(threadIdx.x & 3);
#pragma unroll
    for (int32_t h = 0; h < 2; h++) {
        together<float, 2> two[N / 4];
#pragma unroll
        for (int32_t i = 0; i < N / 4; i++) {
            const int32_t column = first + 8 * i + 2 * t;
            two[i] = {{0, 0}};
            if (there[h] && column < columns)
                two[i] = *reinterpret_cast<const together<float, 2> *>(added_to(last, row[h] + column));
        }
#pragma unroll
        for (int32_t i = 0; i < N / 4; i++) {
            sum[4 * i + 2 * h] += two[i].v[0];
            sum[4 * i + 2 * h + 1] += two[i].v[1];
        }
    }
}

/* Two rows of results, of which some may be missing. */
template <typename R, int N>
__device__ inline void store_rows(const cutensor_finish &last, int32_t columns, R *const (&row)[2],
                                  const bool (&there)[2], int32_t first, float (&sum)[N])
{
    if (last.adds != 0) add_rows(last, columns, row, there, first, sum);
    activate(last, sum);
#pragma unroll
    for (int32_t h = 0; h < 2; h++) store_row(columns, row[h], there[h], first, h, sum);
}

} // namespace

#endif
