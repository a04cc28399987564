/* product_cores.h: version 6's multiplier: the product of a step on tensor cores, mma.sync (C++; harness/cuda/mma.h).
 *
 * A warp has 32 rows by 64 columns of the tile: 2 x 8 products of 16 rows, 8 columns and the step's 8 numbers each. The
 * tile holds f32, as version 5's; what the tensor cores take is made of it in registers: f16 and bf16, which are exact;
 * TF32, rounded to 11 bits; or, of f32, two numbers of TF32, v = hi + lo, and three products, lo*hi + hi*lo + hi*hi,
 * right to 2^-22 (cuda_tensor's way, docs/conv_ladder.md).
 * Tensor cores cut their sums to 24 bits instead of rounding them, and the cut has a direction. So each step's product
 * begins at zero, and ordinary additions, which round, put the steps together. */
#ifndef IMPL_CUDA_NAIVE_PRODUCT_CORES_H
#define IMPL_CUDA_NAIVE_PRODUCT_CORES_H

#include "harness/cuda/mma.h"
#include "impl_cuda_naive/product.h"

/* Word `word` of a row or column: of TF32 the number at k = t + 4*word; of 16 bits those at 2t and 2t + 1. */
template <typename T, typename L> static __device__ inline uint32_t product_word(const L &line, int32_t row, int word)
{
    const int32_t t = (int32_t)threadIdx.x % 4;
    if constexpr (sizeof(T) == 4) {
        return __float_as_uint(line[t + 4 * word][row / 4].v[row % 4]);
    } else {
        const T pair[2] = {cuda_stored<T>(line[2 * t][row / 4].v[row % 4]),
                           cuda_stored<T>(line[2 * t + 1][row / 4].v[row % 4])};
        uint32_t both;
        memcpy(&both, pair, sizeof both);
        return both;
    }
}

/* Of TF32: rounded, as the tensor cores would cut it; and what that leaves. Of 16 bits: as they are. */
template <typename T> static __device__ inline uint32_t product_high(uint32_t v)
{
    return sizeof(T) == 4 ? (v + 0x1000u) & 0xffffe000u : v;
}
static __device__ inline uint32_t product_low(uint32_t v)
{
    return __float_as_uint(__uint_as_float(v) - __uint_as_float(product_high<float>(v)));
}

/* T: what is multiplied; PRODUCTS: 3 of f32 at full accuracy, else 1. */
template <typename T, int PRODUCTS, int N> struct product_cores {
    typedef float real;
    static constexpr int DEPTH = 8, ROWS = N, R = 4, C = 16, PAD = 2, THREADS = 384, THREADS_BWD_W = 256,
                         WORDS = cuda_mma_words<T>::B;

    /* Results of product m = r / 2 and n = c / 2 of the warp. */
    static __device__ inline int32_t row(int32_t r)
    {
        const int32_t lane = (int32_t)threadIdx.x % 32;
        return (int32_t)threadIdx.x / 32 * 32 + r / 2 * 16 + r % 2 * 8 + lane / 4;
    }
    static __device__ inline int32_t column(int32_t c) { return c / 2 * 8 + (int32_t)threadIdx.x % 4 * 2 + c % 2; }

    /* What has no rows or columns is left out, by whole products: the same for all lanes of a warp. Where nothing is,
     * nothing is asked, and products are under way side by side. */
    static __device__ inline void multiply(const product_tile<product_cores> &tile, int32_t rows, int32_t columns,
                                           float (&sums)[R][C])
    {
        const int32_t first = (int32_t)threadIdx.x / 32 * 32;
        if (first + 32 <= rows && columns >= PRODUCT_COLUMNS)
            multiply_these<true>(tile, 32, columns, sums);
        else if (first < rows)
            multiply_these<false>(tile, rows - first, columns, sums);
    }

    /* `rows`: of the warp's. */
    template <bool WHOLE>
    static __device__ inline void multiply_these(const product_tile<product_cores> &tile, int32_t rows, int32_t columns,
                                                 float (&sums)[R][C])
    {
        uint32_t high[2][2 * WORDS], low[2][2 * WORDS];
#pragma unroll
        for (int m = 0; m < 2; m++)
#pragma unroll
            for (int i = 0; i < 2 * WORDS; i++) {
                const uint32_t v = product_word<T>(tile.a, row(2 * m + i % 2), i / 2);
                high[m][i] = product_high<T>(v);
                low[m][i] = PRODUCTS == 3 ? product_low(v) : 0;
            }
#pragma unroll
        for (int n = 0; n < C / 2; n++) {
            if (!WHOLE && n * 8 >= columns) break;
            const int32_t at = n * 8 + (int32_t)threadIdx.x % 32 / 4;
            uint32_t of_b[WORDS], rest[WORDS];
#pragma unroll
            for (int i = 0; i < WORDS; i++) {
                const uint32_t v = product_word<T>(tile.b, at, i);
                of_b[i] = product_high<T>(v);
                rest[i] = PRODUCTS == 3 ? product_low(v) : 0;
            }
#pragma unroll
            for (int m = 0; m < 2; m++) {
                if (!WHOLE && 16 * m >= rows) break;
                float d[4] = {};
                if (PRODUCTS == 3) {
                    cuda_mma(T{}, d, low[m], of_b);
                    cuda_mma(T{}, d, high[m], rest);
                }
                cuda_mma(T{}, d, high[m], of_b);
#pragma unroll
                for (int i = 0; i < 4; i++) sums[2 * m + i / 2][2 * n + i % 2] += d[i];
            }
        }
    }
};

#endif
