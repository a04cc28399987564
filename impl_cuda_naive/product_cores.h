/* product_cores.h: version 6's multiplier: the product of a step on tensor cores, mma.sync (C++; harness/cuda/mma.h).
 *
 * A warp has 32 rows by 64 columns of the tile: 2 x 8 products of 16 rows and 8 columns, and of each two behind each
 * other, which take half of the step. What the tensor cores take is: f16 and bf16; TF32, f32 rounded to 11 bits; or, of
 * f32, two numbers of TF32, v = hi + lo, and three products, lo*hi + hi*lo + hi*hi, right to 2^-22 (cuda_tensor's way,
 * docs/conv_ladder.md).
 * Tensor cores cut their sums to 24 bits instead of rounding them, and the cut has a direction. So each step's product
 * begins at zero, small products first, and ordinary additions, which round, put the steps together.
 *
 * The tile has a step's 64 bytes of a row, or a column, side by side, as tensor cores take them. */
#ifndef IMPL_CUDA_NAIVE_PRODUCT_CORES_H
#define IMPL_CUDA_NAIVE_PRODUCT_CORES_H

#include "harness/cuda/mma.h"
#include "impl_cuda_naive/product_units.h"

/* T: what is multiplied; PRODUCTS: 3 of f32 at full accuracy, else 1. */
template <typename T, int PRODUCTS, int N> struct product_cores {
    static constexpr int DEPTH = product_depth(sizeof(T)), PACK = 16 / (int)sizeof(T), ROWS = N, R = 4, C = 16;
    static constexpr int THREADS = PRODUCT_THREADS, THREADS_BWD_W = PRODUCT_THREADS_FEW;

    typedef cuda_pack<T> line[4];
    struct tile {
        line a[ROWS], b[PRODUCT_COLUMNS];
    };

    /* Where pack q of a row is: packs of neighbouring rows, and of every fourth, are in different banks. Of a sum of
     * rows without common bits it is the one of either, and zero for q there: the compiler does not see that. */
    static __device__ inline uint32_t place(uint32_t row, uint32_t q) { return q ^ (row / 2 % 4) ^ (row / 8 % 2); }

    /* ---- What goes there, as version 5 has it. */
    static __device__ inline void put_row(tile &to, int32_t row, const cuda_pack<T> (&from)[4])
    {
#pragma unroll
        for (int q = 0; q < 4; q++) to.a[row][place((uint32_t)row, (uint32_t)q)] = from[q];
    }
    template <typename S> static __device__ inline void put(S &side, int32_t k, int32_t row, int32_t further, T v)
    {
        const uint32_t q = place((uint32_t)row, (uint32_t)k / PACK) ^ place((uint32_t)further, 0);
        side[row + further][q].v[k % PACK] = v;
    }
    template <typename S>
    static __device__ inline void put_pack(S &side, int32_t k, int32_t q, int32_t further, const cuda_pack<T> &v)
    {
#pragma unroll
        for (int i = 0; i < PACK; i++) put(side, k, q * PACK, further * PACK + i, v.v[i]);
    }
    static __device__ inline void put_laid(tile &to, int32_t q, const cuda_pack<T> &v)
    {
        to.b[q / 4][place((uint32_t)q / 4, (uint32_t)q % 4)] = v;
    }
    static __device__ inline int64_t laid_at(int32_t q, int32_t m, int64_t) { return m * DEPTH + q * PACK; }

    static __device__ inline void add_row(const tile &from, int32_t row, float *sum)
    {
#pragma unroll
        for (int k = 0; k < DEPTH; k++) *sum += cuda_load(from.a[row][place((uint32_t)row, k / PACK)].v[k % PACK]);
    }

    /* Results of product m = r / 2 and n = c / 2 of the warp. */
    static __device__ inline int32_t row(int32_t r)
    {
        const int32_t lane = (int32_t)threadIdx.x % 32;
        return (int32_t)threadIdx.x / 32 * 32 + r / 2 * 16 + r % 2 * 8 + lane / 4;
    }
    static __device__ inline int32_t column(int32_t c) { return c / 2 * 8 + (int32_t)threadIdx.x % 4 * 2 + c % 2; }

    /* Of f32 rounded, where the tensor cores cut 13 bits; and what that leaves. */
    static __device__ inline uint32_t high(uint32_t v) { return sizeof(T) == 4 ? v + 0x1000u : v; }
    static __device__ inline uint32_t low(uint32_t v)
    {
        return __float_as_uint(__uint_as_float(v) - __uint_as_float((v + 0x1000u) & 0xffffe000u));
    }

    /* What has no rows or columns is left out, by whole products: the same for all lanes of a warp. Where nothing is,
     * nothing is asked, and products are under way side by side. */
    static __device__ inline void multiply(const tile &from, int32_t rows, int32_t columns, float (&sums)[R][C])
    {
        if ((int32_t)threadIdx.x / 32 * 32 >= rows) return;
        if (columns >= PRODUCT_COLUMNS)
            multiply_these<true>(from, columns, sums);
        else
            multiply_these<false>(from, columns, sums);
    }

    /* What a lane has of 16 rows, or of 8 columns: the words of one product and of the one behind it. */
    struct rows_part {
        uint32_t of[2][4];
    };
    struct columns_part {
        uint32_t of[2][2];
    };
    static __device__ inline void load_rows(const tile &from, int m, rows_part &high_of, rows_part &low_of)
    {
        const uint32_t lane = threadIdx.x % 32, at = threadIdx.x / 32 * 32 + lane % 16;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            uint32_t v[4];
            cuda_load_matrices(v, &from.a[m * 16 + at][place(at, lane / 16) ^ (2u * h)]);
#pragma unroll
            for (int i = 0; i < 4; i++) high_of.of[h][i] = high(v[i]), low_of.of[h][i] = low(v[i]);
        }
    }
    static __device__ inline void load_columns(const tile &from, int n, columns_part &high_of, columns_part &low_of)
    {
        const uint32_t lane = threadIdx.x % 32, at = lane % 8;
        uint32_t v[4];
        cuda_load_matrices(v, &from.b[n * 8 + at][place(at, lane / 8) ^ place((uint32_t)n * 8, 0)]);
#pragma unroll
        for (int i = 0; i < 4; i++) high_of.of[i / 2][i % 2] = high(v[i]), low_of.of[i / 2][i % 2] = low(v[i]);
    }

    /* 2 x 2 products, each half of the step: four sums at a time, for one alone would wait for itself. */
    static __device__ inline void add(float (&d)[2][2][4], const rows_part (&a)[2], const columns_part (&b)[2])
    {
#pragma unroll
        for (int h = 0; h < 2; h++)
#pragma unroll
            for (int m = 0; m < 2; m++)
#pragma unroll
                for (int n = 0; n < 2; n++) cuda_mma(T{}, d[m][n], a[m].of[h], b[n].of[h]);
    }

    template <bool WHOLE>
    static __device__ inline void multiply_these(const tile &from, int32_t columns, float (&sums)[R][C])
    {
        rows_part a[2], a_low[2];
        load_rows(from, 0, a[0], a_low[0]);
        load_rows(from, 1, a[1], a_low[1]);
#pragma unroll
        for (int n = 0; n < C / 2; n += 2) {
            if (!WHOLE && n * 8 >= columns) break;
            columns_part b[2], b_low[2];
            load_columns(from, n, b[0], b_low[0]);
            load_columns(from, n + 1, b[1], b_low[1]);
            float d[2][2][4] = {};
            if (PRODUCTS == 3) {
                add(d, a_low, b);
                add(d, a, b_low);
            }
            add(d, a, b);
#pragma unroll
            for (int i = 0; i < 16; i++)
                sums[i / 8 * 2 + i / 2 % 2][2 * n + i / 4 % 2 * 2 + i % 2] += d[i / 8][i / 4 % 2][i % 4];
        }
    }
};

/* f(M{}), M being the multiplier of T and so many rows: f64 has ordinary units alone, and numbers of 16 bits tensor
 * cores alone. */
template <typename T, int ROWS, typename F> static auto product_with(product_way way, F f)
{
    if constexpr (sizeof(T) == 8)
        return f(product_units<T, ROWS>{});
    else if constexpr (sizeof(T) == 2)
        return f(product_cores<T, 1, ROWS>{});
    else
        return way == PRODUCT_UNITS ? f(product_units<T, ROWS>{})
               : way == PRODUCT_ONE ? f(product_cores<T, 1, ROWS>{})
                                    : f(product_cores<T, 3, ROWS>{});
}

#endif
