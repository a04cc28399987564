/* direct_load.h: how a lane of direct.cu reads a factor: where its rows lie, and 16 numbers of a step (C++). */
#ifndef IMPL_CUDA_TENSOR_DIRECT_LOAD_H
#define IMPL_CUDA_TENSOR_DIRECT_LOAD_H

#include "harness/cuda/real.h"
#include "impl_cuda_tensor/direct.h"
#include "impl_cuda_tensor/tensor.h"

namespace
{

/* Where element e lies. */
__device__ inline int32_t place_on(const cutensor_axis &a, int32_t e)
{
    if (!a.pixels) return e * a.step;
    int32_t n = e, p = cuda_split(&n, a.by_plane);
    const int32_t q = cuda_split(&p, a.by_wide);
    return n * a.image + p * a.line + q * a.step;
}

/* A lane's part of a factor: [row][k]. */
typedef uint32_t direct_words[4][4];

__device__ inline void load_four(const float *from, bool there, uint32_t (&to)[4])
{
    float4 four = {0, 0, 0, 0};
    if (there) four = *reinterpret_cast<const float4 *>(from);
    to[0] = __float_as_uint(four.x);
    to[1] = __float_as_uint(four.y);
    to[2] = __float_as_uint(four.z);
    to[3] = __float_as_uint(four.w);
}

/* What a lane reads of a factor, from k on: the next step's, at its rows. Rows that the tile has more than the factor
 * are the last one again: what comes out of them is stored nowhere. */
template <int WAY> struct direct_reader {
    static constexpr bool BY_ROW = WAY == CUTENSOR_ALONG_K || WAY == CUTENSOR_ONE_BY_ONE; /* a place for each row, */
    static constexpr bool BY_K = WAY == CUTENSOR_ALONG_K || WAY == CUTENSOR_ALONG_ROWS;   /* that goes on with k */
    static constexpr int PLACES = BY_ROW ? 4 : 1;
    const cutensor_factor &f;
    int32_t k;
    const float *at[PLACES];

    __device__ direct_reader(const cutensor_factor &factor, const float *from, int32_t row, int32_t first)
        : f(factor), k(first)
    {
        const int32_t last = f.rows.count - (BY_ROW ? 1 : 4);
        from += BY_K ? static_cast<int64_t>(k) * f.k.step : 0; /* k: up to 15 behind the last one */
        if (f.rows.pixels) {                                   /* one question, not four */
#pragma unroll
            for (int j = 0; j < PLACES; j++) at[j] = from + place_on(f.rows, min(row + j, last));
        } else {
#pragma unroll
            for (int j = 0; j < PLACES; j++) at[j] = from + min(row + j, last) * f.rows.step;
        }
    }

    /* LAST: of a step with fewer than 16 k: zeros are the others. */
    template <bool LAST> __device__ void load_column(int i, uint32_t (&to)[4]) const
    {
        const bool there = !LAST || k + i < f.k.count;
        const int32_t further = BY_K ? i * f.k.step : place_on(f.k, LAST ? min(k + i, f.k.count - 1) : k + i);
        if constexpr (BY_ROW) {
#pragma unroll
            for (int j = 0; j < 4; j++) to[j] = there ? __float_as_uint(at[j][further]) : 0;
        } else {
            load_four(at[0] + further, there, to);
        }
    }

    template <bool LAST> __device__ void load(direct_words &to)
    {
        if constexpr (WAY == CUTENSOR_ALONG_K) {
#pragma unroll
            for (int j = 0; j < 4; j++) load_four(at[j], !LAST || k < f.k.count, to[j]);
        } else {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                uint32_t column[4];
                load_column<LAST>(i, column);
#pragma unroll
                for (int j = 0; j < 4; j++) to[j][i] = column[j];
            }
        }
        k += DIRECT_STEP;
        if (BY_K) {
#pragma unroll
            for (int j = 0; j < PLACES; j++) at[j] += DIRECT_STEP * (WAY == CUTENSOR_ALONG_K ? 1 : f.k.step);
        }
    }
};

} // namespace

#endif
