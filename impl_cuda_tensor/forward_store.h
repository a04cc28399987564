/* forward_store.h: what a block of forward.cu does with a tile's sums (C++). */
#ifndef IMPL_CUDA_TENSOR_FORWARD_STORE_H
#define IMPL_CUDA_TENSOR_FORWARD_STORE_H

#include "impl_cuda_tensor/finish.h"
#include "impl_cuda_tensor/forward_load.h"

namespace
{

/* What a thread holds of a tile: of HIGH times 64 rows the rows `row_of(b, h)`, and of them 4 neighbouring channels of
 * each 16. Rows and channels are in an order that keeps shared memory free of conflicts. */
struct lane_place {
    int32_t warpgroup, warp, t, row;
};
/* Where it is in the rings of weights and of patches. */
struct rings {
    ring_place weights, patch;
};
__device__ inline lane_place lane_of(int32_t thread)
{
    const int32_t lane = thread & 31, g = lane >> 2;
    return {thread >> 7, thread >> 5 & 3, lane & 3, (g & 1) << 2 | g >> 1};
}
template <int HIGH> __device__ inline int32_t row_of(const lane_place &l, int b, int h)
{
    return (l.warpgroup * HIGH + b) * 64 + l.warp * 16 + h * 8 + l.row;
}

/* The other blocks' sums of this tile, in their order, once all are there: so no block's is waited for behind
 * another's. Values lie as the threads hold them: thread next to thread. */
template <int N>
__device__ inline void add_partials(const cutensor_forward &f, const operands &o, float (&sum)[N], int32_t threads,
                                    int32_t rank, int32_t tile)
{
    int32_t end = rank + 1;
    while (first_piece(f, end) < (tile + 1) * f.pieces) end++;
    for (int32_t other = rank + 1 + static_cast<int32_t>(threadIdx.x); other < end; other += threads)
        flag_wait(o.flags + other);
    barrier_of(2, threads);
    for (int32_t other = rank + 1; other < end; other++) {
        const float4 *from =
            reinterpret_cast<const float4 *>(o.partials) + static_cast<size_t>(other) * (N / 4) * threads;
#pragma unroll
        for (int i = 0; i < N / 4; i++) {
            const float4 v = __ldcg(from + i * threads + threadIdx.x);
            sum[4 * i] += v.x, sum[4 * i + 1] += v.y, sum[4 * i + 2] += v.z, sum[4 * i + 3] += v.w;
        }
    }
}
template <int N>
__device__ inline void leave_partials(const operands &o, const float (&sum)[N], int32_t threads, int32_t rank)
{
    float4 *to = reinterpret_cast<float4 *>(o.partials) + static_cast<size_t>(rank) * (N / 4) * threads;
#pragma unroll
    for (int i = 0; i < N / 4; i++)
        __stcg(to + i * threads + threadIdx.x, float4{sum[4 * i], sum[4 * i + 1], sum[4 * i + 2], sum[4 * i + 3]});
    __threadfence();
    barrier_of(2, threads);
    if (threadIdx.x == 0) flag_set(o.flags + rank);
}

/* Where in the output's image the pixel of this number is. */
__device__ inline int32_t spread_to(const cutensor_forward &f, int32_t pixel)
{
    if (f.spread.step_w == 0) return pixel;
    const int32_t p = divided(pixel, f.window.by_ow), q = pixel - p * f.window.ow;
    return (p * f.spread.step_h + f.spread.first_h) * f.spread.wide + q * f.spread.step_w + f.spread.first_w;
}

/* Where a thread's results begin, a row each, in NHWC and NCHW; NULL: the tile has no such pixel. */
template <typename R, int HIGH>
__device__ inline void rows_of(const cutensor_forward &f, const operands &o, const lane_place &l, int32_t pixel,
                               int32_t channel, R *(&to)[HIGH * 2])
{
#pragma unroll
    for (int r = 0; r < HIGH * 2; r++) {
        const int32_t m = pixel + row_of<HIGH>(l, r / 2, r % 2);
        const int32_t n = divided(min(m, f.pixels - 1), f.window.by_plane);
        const int32_t of_image = spread_to(f, m - n * f.window.by_plane.d);
        const size_t at = f.nchw ? (static_cast<size_t>(n) * f.oc + channel) * f.out_plane + of_image
                                 : (static_cast<size_t>(n) * f.out_plane + of_image) * f.oc + channel;
        to[r] = m < f.pixels ? static_cast<R *>(o.out) + at : nullptr;
    }
}

/* A thread's results, and where they go: of ROWS rows 4 neighbouring channels of each 16. FOURS: they lie side by side,
 * and their number is a multiple of 4. Of numbers that are added 16 are on their way at once: more do not fit beside
 * the sums, so pin() keeps the next loads behind these. */
template <typename R, int ROWS, int WIDE, bool FOURS> struct results_of {
    float (&sum)[ROWS * WIDE / 4];
    R *at[ROWS];         /* NULL: the tile has no such pixel */
    int32_t count, step; /* channels of the group from the first on; elements from one to the next */

    __device__ inline bool is(int i, int e) const { return 16 * i + e < count; }
    __device__ inline float &value(int r, int i, int e) const
    {
        return sum[r / 2 * (WIDE / 2) + 8 * i + 2 * (r % 2) + (e >> 1) * 4 + (e & 1)];
    }
    /* Behind element (i, 3) of a row the next one is 13 further. */
    __device__ inline int64_t behind(int e) const { return static_cast<int64_t>(step) * (e == 3 ? 13 : 1); }

    __device__ inline void add_bias(const R *bias) const
    {
#pragma unroll
        for (int first = 0; first < WIDE / 16; first += 4) {
            float offset[16];
#pragma unroll
            for (int k = 0; k < 16; k++) {
                const int i = first + k / 4;
                offset[k] = is(i, k % 4) ? cuda_load(bias[16 * i + k % 4]) : 0.0f;
            }
#pragma unroll
            for (int k = 0; k < 16 * ROWS; k++) value(k % ROWS, first + k / ROWS / 4, k / ROWS % 4) += offset[k / ROWS];
            pin(sum);
        }
    }
    __device__ inline void add_row(const cutensor_finish &last, int r) const
    {
        const R *from = added_to(last, at[r]);
#pragma unroll
        for (int first = 0; first < WIDE / 16; first += 4) {
            together<R, 4> there[4];
#pragma unroll
            for (int k = 0; k < 16; k++) {
                const int i = first + k / 4, e = k % 4;
                if (e == 0) there[k / 4] = {};
                if (FOURS && e == 0 && is(i, 0))
                    there[k / 4] = *reinterpret_cast<const together<R, 4> *>(from + 16 * i);
                if (!FOURS && is(i, e)) there[k / 4].v[e] = *from;
                if (!FOURS) from += behind(e);
            }
#pragma unroll
            for (int k = 0; k < 16; k++) value(r, first + k / 4, k % 4) += cuda_load(there[k / 4].v[k % 4]);
            pin(sum);
        }
    }
    __device__ inline void store_row(const cutensor_finish &last, int r) const
    {
        R *to = at[r];
        float v[WIDE / 4];
#pragma unroll
        for (int k = 0; k < WIDE / 4; k++) v[k] = value(r, k / 4, k % 4);
        activate(last, v);
#pragma unroll
        for (int k = 0; k < WIDE / 4; k++) {
            if (FOURS && k % 4 == 0 && is(k / 4, 0))
                *reinterpret_cast<together<R, 4> *>(to + 4 * k) = {{cuda_stored<R>(v[k]), cuda_stored<R>(v[k + 1]),
                                                                    cuda_stored<R>(v[k + 2]),
                                                                    cuda_stored<R>(v[k + 3])}};
            if (!FOURS && is(k / 4, k % 4)) *to = cuda_stored<R>(v[k]);
            if (!FOURS) to += behind(k % 4);
        }
    }
    __device__ inline void finish(const cutensor_finish &last) const
    {
        if (last.adds != 0) {
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                if (at[r] != nullptr) add_row(last, r);
            }
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (at[r] != nullptr) store_row(last, r);
        }
    }
};

/* In NCHW a warp writes 8 neighbouring pixels of 4 channels, in NHWC 4 neighbouring channels a thread. */
template <typename R, int HIGH, int WIDE>
__device__ inline void store_tile(const cutensor_forward &f, const operands &o, float (&sum)[HIGH * WIDE / 2],
                                  const lane_place &l, int32_t tile, int32_t pixel)
{
    const int32_t column = tile - divided(tile, f.by_tiles) * f.by_tiles.d, group = divided(column, f.by_group_tiles);
    const int32_t channel = (column - group * f.group_tiles) * WIDE + 4 * l.t, first = group * f.group_oc;
    const int32_t count = f.group_oc - channel, step = f.nchw ? f.out_plane : 1;
    results_of<R, HIGH * 2, WIDE, true> fours = {sum, {}, count, step};
    rows_of<R, HIGH>(f, o, l, pixel, first + channel, fours.at);
    if (f.has_bias) fours.add_bias(static_cast<const R *>(o.bias) + first + channel);
    if (!f.nchw && (f.oc | f.group_oc) % 4 == 0) {
        fours.finish(o.finish);
        return;
    }
    results_of<R, HIGH * 2, WIDE, false> each = {sum, {}, count, step};
#pragma unroll
    for (int r = 0; r < HIGH * 2; r++) each.at[r] = fours.at[r];
    each.finish(o.finish);
}

} // namespace

#endif
