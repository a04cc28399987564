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

/* The other blocks' sums of this tile, in their order. Values lie as the threads hold them: thread next to thread. */
template <int N>
__device__ inline void add_partials(const cutensor_forward &f, const operands &o, float (&sum)[N], int32_t threads,
                                    int32_t rank, int32_t tile)
{
    for (int32_t other = rank + 1; first_piece(f, other) < (tile + 1) * f.pieces; other++) {
        if (threadIdx.x == 0) flag_wait(o.flags + other);
        barrier_of(2, threads);
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

/* Where a thread's results begin, a row each, in NHWC and NCHW; NULL: the tile has no such pixel. */
template <typename R, int HIGH>
__device__ inline void rows_of(const cutensor_forward &f, const operands &o, const lane_place &l, int32_t pixel,
                               int32_t channel, R *(&to)[HIGH * 2])
{
    const int32_t plane = f.window.by_plane.d;
#pragma unroll
    for (int r = 0; r < HIGH * 2; r++) {
        const int32_t m = pixel + row_of<HIGH>(l, r / 2, r % 2);
        const int32_t n = divided(min(m, f.pixels - 1), f.window.by_plane);
        const size_t at = f.nchw ? (static_cast<size_t>(n) * f.oc + channel) * plane + (m - n * plane)
                                 : static_cast<size_t>(m) * f.oc + channel;
        to[r] = m < f.pixels ? static_cast<R *>(o.out) + at : nullptr;
    }
}

/* Of a thread's sums 4 channels of all its rows, by turns: as many as there are registers for, and loads under way. */
template <typename R, int ROWS> struct four_channels {
    float v[ROWS * 4];
    R *at[ROWS];
    int32_t count, step; /* channels of the group from here on; elements from one to the next */
    bool fours;          /* they lie side by side, and their number is a multiple of 4 */

    __device__ inline bool is(int r, int e) const { return at[r] != nullptr && e < count; }

    __device__ inline void add_bias(const R *bias)
    {
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const float offset = e < count ? cuda_load(bias[e]) : 0.0f;
#pragma unroll
            for (int r = 0; r < ROWS; r++) v[r * 4 + e] += offset;
        }
    }
    __device__ inline void add(const cutensor_finish &last)
    {
        together<R, 4> there[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            there[r] = {};
            if (fours) {
                if (is(r, 0)) there[r] = *reinterpret_cast<const together<R, 4> *>(added_to(last, at[r]));
                continue;
            }
#pragma unroll
            for (int e = 0; e < 4; e++)
                if (is(r, e)) there[r].v[e] = *added_to(last, at[r] + static_cast<int64_t>(e) * step);
        }
#pragma unroll
        for (int k = 0; k < ROWS * 4; k++) v[k] += cuda_load(there[k / 4].v[k % 4]);
    }
    __device__ inline void store() const
    {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const float *s = v + r * 4;
            if (fours) {
                if (is(r, 0))
                    *reinterpret_cast<together<R, 4> *>(at[r]) = {
                        {cuda_stored<R>(s[0]), cuda_stored<R>(s[1]), cuda_stored<R>(s[2]), cuda_stored<R>(s[3])}};
                continue;
            }
#pragma unroll
            for (int e = 0; e < 4; e++)
                if (is(r, e)) at[r][static_cast<int64_t>(e) * step] = cuda_stored<R>(s[e]);
        }
    }
};

/* In NCHW a warp writes 8 neighbouring pixels of 4 channels, in NHWC 4 neighbouring channels a thread. */
template <typename R, int HIGH, int WIDE>
__device__ inline void store_tile(const cutensor_forward &f, const operands &o, const float (&sum)[HIGH * WIDE / 2],
                                  const lane_place &l, int32_t tile, int32_t pixel)
{
    const int32_t column = tile - divided(tile, f.by_tiles) * f.by_tiles.d, group = divided(column, f.by_group_tiles);
    const int32_t channel = (column - group * f.group_tiles) * WIDE + 4 * l.t, first = group * f.group_oc;
    four_channels<R, HIGH * 2> part;
    part.step = f.nchw ? f.window.by_plane.d : 1;
    part.fours = !f.nchw && (f.oc | f.group_oc) % 4 == 0;
    R *to[HIGH * 2];
    rows_of<R, HIGH>(f, o, l, pixel, first + channel, to);
#pragma unroll
    for (int i = 0; i < WIDE / 16; i++) {
        part.count = f.group_oc - channel - 16 * i;
#pragma unroll
        for (int r = 0; r < HIGH * 2; r++) {
            part.at[r] = to[r] != nullptr ? to[r] + static_cast<int64_t>(16 * i) * part.step : nullptr;
#pragma unroll
            for (int e = 0; e < 4; e++)
                part.v[r * 4 + e] = sum[r / 2 * (WIDE / 2) + 8 * i + 2 * (r % 2) + (e >> 1) * 4 + (e & 1)];
        }
        if (f.has_bias) part.add_bias(static_cast<const R *>(o.bias) + first + channel + 16 * i);
        if (o.finish.adds != 0) part.add(o.finish);
        activate(o.finish, part.v);
        part.store();
    }
}

} // namespace

#endif
