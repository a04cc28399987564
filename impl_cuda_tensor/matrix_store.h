/* matrix_store.h: a block of matrix.cu and its tiles, and what becomes of their sums (C++). */
#ifndef IMPL_CUDA_TENSOR_MATRIX_STORE_H
#define IMPL_CUDA_TENSOR_MATRIX_STORE_H

#include "impl_cuda_tensor/matrix.h"
#include "impl_cuda_tensor/rows_store.h"

namespace
{

template <int HIGH, int WIDE> constexpr int32_t STEP_BYTES = (HIGH + WIDE) / MATRIX_SIDE *MATRIX_BOX;

struct block_of {
    uint32_t steps, full, free;
};
template <int HIGH, int WIDE> __device__ inline block_of open_block(const cutensor_matrix &g)
{
    block_of b;
    b.steps = first_address();
    b.full = b.steps + static_cast<uint32_t>(g.depth * STEP_BYTES<HIGH, WIDE>);
    b.free = b.full + MATRIX_STEPS * 8;
    if (threadIdx.x == 0) {
        for (uint32_t i = 0; i < static_cast<uint32_t>(g.depth); i++) {
            barrier_init(b.full + 8 * i, 1);
            barrier_init(b.free + 8 * i, MATRIX_MULTIPLIERS / 32);
        }
        barriers_are_made();
    }
    __syncthreads();
    return b;
}

/* Its image, its first row and column in there, and its steps, or this split's share of them. Blocks of one split
 * follow one another: they read the same pixels; so do tiles of the same pixels. */
struct tile_place {
    int32_t image, m, n, split, first, last;
};
template <int DIR, bool PLANES, int HIGH, int WIDE>
__device__ inline tile_place tile_at(const cutensor_matrix &g, int32_t unit)
{
    const int32_t split = unit / g.tiles, tile = unit - split * g.tiles, line = tile / g.across;
    tile_place at = {0,
                     line * HIGH,
                     (tile - line * g.across) * WIDE,
                     split,
                     static_cast<int32_t>(static_cast<int64_t>(split) * g.steps / g.splits),
                     static_cast<int32_t>((static_cast<int64_t>(split) + 1) * g.steps / g.splits)};
    if (PLANES && DIR != CNN_BWD_W) {
        at.image = line / g.image_tiles;
        at.m = (tile - line * g.across) * HIGH;
        at.n = (line - at.image * g.image_tiles) * WIDE;
    }
    return at;
}

/* Rows of channels in eights, or, of PLANES, of pixels in eights, a channel each. */
template <typename R, bool PLANES, int N>
__device__ inline void store_tile(const cutensor_matrix &g, const cutensor_matrices &o, const tile_place &at,
                                  float (&sum)[N])
{
    const int32_t thread = static_cast<int32_t>(threadIdx.x & 127);
    const R *bias = static_cast<const R *>(o.bias);
    R *row[2];
    bool there[2];
#pragma unroll
    for (int32_t h = 0; h < 2; h++) {
        const int32_t m = at.m + (thread >> 5) * 16 + (thread >> 2 & 7) + 8 * h;
        there[h] = m < g.m;
        row[h] = static_cast<R *>(o.out) + static_cast<size_t>(there[h] ? at.image * g.m + m : 0) * g.n;
        if (!PLANES || !g.has_bias || !there[h]) continue;
        const float of_row = cuda_load(bias[m]);
#pragma unroll
        for (int32_t i = 0; i < N / 2; i++) sum[i / 2 * 4 + 2 * h + i % 2] += of_row;
    }
    if (!PLANES && g.has_bias) add_bias(g.n, bias, at.n, sum);
    store_rows(o.finish, g.n, row, there, at.n, sum);
}

template <int N>
__device__ inline void store_partials(const cutensor_matrix &g, float *partials, const tile_place &at,
                                      const float (&sum)[N])
{
    const int32_t thread = static_cast<int32_t>(threadIdx.x & 127);
#pragma unroll
    for (int32_t h = 0; h < 2; h++) {
        const int32_t m = at.m + (thread >> 5) * 16 + (thread >> 2 & 7) + 8 * h;
        store_row(g.n, partials + static_cast<size_t>(m < g.m ? m : 0) * g.n, m < g.m, at.n, h, sum);
    }
}

} // namespace

#endif
