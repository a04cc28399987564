/* product_units.h: version 5's multiplier: the product of a step by ordinary multiply-adds, in T (C++; product.h).
 *
 * A thread has 8 x 8 results: rows 4*y to 4*y + 3 of the upper half of the tile and of the lower one, and columns 4*x
 * likewise. So it reads 16 numbers of shared memory for 64 multiply-adds. A warp has 4 y and 8 x. Neighbouring lanes
 * have the same y, and lanes two apart the same x: shared memory brings what half a warp reads at once where one of
 * these holds, else what a quarter does. */
#ifndef IMPL_CUDA_NAIVE_PRODUCT_UNITS_H
#define IMPL_CUDA_NAIVE_PRODUCT_UNITS_H

#include "impl_cuda_naive/product.h"

template <typename T, int N> struct product_units {
    static constexpr int DEPTH = product_depth(sizeof(T)), PACK = product_pack(sizeof(T)), ROWS = N, R = 8, C = 8;
    /* Threads a multiprocessor: 384 have 168 registers each, as much as f32 needs. */
    static constexpr int THREADS = sizeof(T) > 4 ? PRODUCT_THREADS_FEW : PRODUCT_THREADS, THREADS_BWD_W = THREADS;

    /* A line for each number of the step, rows or columns side by side; one pack more, so that lines begin in different
     * banks. */
    struct tile {
        cuda_pack<T, 4> a[DEPTH][ROWS / 4 + 1], b[DEPTH][PRODUCT_COLUMNS / 4 + 1];
    };

    /* ---- What goes there: the step's numbers of a row, */
    static __device__ inline void put_row(tile &to, int32_t row, const cuda_pack<T, PACK> (&from)[DEPTH / PACK])
    {
#pragma unroll
        for (int k = 0; k < DEPTH; k++) to.a[k][row / 4].v[row % 4] = from[k / PACK].v[k % PACK];
    }
    /* number k of row (or column) `row + further`, or of its pack `q + further`, where both have no common bits, */
    template <typename S> static __device__ inline void put(S &side, int32_t k, int32_t row, int32_t further, T v)
    {
        side[k][row / 4 + further / 4].v[row % 4 + further % 4] = v;
    }
    template <typename S>
    static __device__ inline void put_pack(S &side, int32_t k, int32_t q, int32_t further, const cuda_pack<T, PACK> &v)
    {
        side[k][q + further] = v;
    }
    /* and pack q of the step's columns, which lie there in the laid out weights, from column m on. */
    static __device__ inline void put_laid(tile &to, int32_t q, const cuda_pack<T, PACK> &v)
    {
        to.b[q / (PRODUCT_COLUMNS / 4)][q % (PRODUCT_COLUMNS / 4)] = v;
    }
    static __device__ inline int64_t laid_at(int32_t q, int32_t m, int64_t width)
    {
        return q / (PRODUCT_COLUMNS / 4) * width + m + q % (PRODUCT_COLUMNS / 4) * 4;
    }

    /* ---- And what becomes of it. */
    static __device__ inline void add_row(const tile &from, int32_t row, T *sum)
    {
#pragma unroll
        for (int k = 0; k < DEPTH; k++) *sum += from.a[k][row / 4].v[row % 4];
    }

    static __device__ inline int32_t y()
    {
        const int32_t t = (int32_t)threadIdx.x;
        return t / 16 * 2 + t / 2 % 2;
    }
    static __device__ inline int32_t x()
    {
        const int32_t t = (int32_t)threadIdx.x;
        return t / 4 % 4 * 2 + t % 2;
    }
    static __device__ inline int32_t row(int32_t r) { return 4 * y() + r + (r < 4 ? 0 : ROWS / 2 - 4); }
    static __device__ inline int32_t column(int32_t c) { return 4 * x() + c + (c < 4 ? 0 : PRODUCT_COLUMNS / 2 - 4); }

    /* What a thread multiplies of line k of a tile. */
    struct line {
        cuda_pack<T, 4> a[2], b[2];
    };
    static __device__ inline line line_of(const tile &from, int k)
    {
        return {{from.a[k][y()], from.a[k][ROWS / 8 + y()]}, {from.b[k][x()], from.b[k][PRODUCT_COLUMNS / 8 + x()]}};
    }

    /* A multiplier gets how many rows and columns of the tile there are: this one does all. While a line is multiplied
     * the next one is on its way. */
    static __device__ inline void multiply(const tile &from, int32_t, int32_t, T (&sums)[R][C])
    {
        line lines[2] = {line_of(from, 0)};
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            const line &l = lines[k % 2];
            if (k + 1 < DEPTH) lines[(k + 1) % 2] = line_of(from, k + 1);
#pragma unroll
            for (int r = 0; r < R; r++)
#pragma unroll
                for (int c = 0; c < C; c++) sums[r][c] += l.a[r / 4].v[r % 4] * l.b[c / 4].v[c % 4];
        }
    }
};

#endif
