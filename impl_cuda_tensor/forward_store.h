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

/* 4 channels of a pixel, side by side. bias NULL: none. */
template <typename R>
__device__ inline void store_pixel(const cutensor_forward &f, const cutensor_finish &last, const R *bias, R *to,
                                   int32_t channel, const float (&values)[4])
{
    float v[4];
#pragma unroll
    for (int e = 0; e < 4; e++)
        v[e] = bias != nullptr && channel + e < f.group_oc ? values[e] + cuda_load(bias[e]) : values[e];
    if (channel + 4 <= f.group_oc && (f.oc | f.group_oc) % 4 == 0) {
        finish(last, to, v);
        *reinterpret_cast<together<R, 4> *>(to) = {
            {cuda_stored<R>(v[0]), cuda_stored<R>(v[1]), cuda_stored<R>(v[2]), cuda_stored<R>(v[3])}};
        return;
    }
#pragma unroll
    for (int e = 0; e < 4; e++)
        if (channel + e < f.group_oc) finish_one(last, to + e, v[e]);
}

/* Of a tile in NHWC, what a thread holds. `first`: the group's first channel. */
template <typename R, int HIGH, int WIDE>
__device__ inline void store_pixels(const cutensor_forward &f, const operands &o, const float (&sum)[HIGH * WIDE / 2],
                                    const lane_place &l, int32_t pixel, int32_t first, int32_t channel)
{
    const R *bias = f.has_bias ? static_cast<const R *>(o.bias) + first + channel : nullptr;
#pragma unroll
    for (int b = 0; b < HIGH; b++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int32_t m = pixel + row_of<HIGH>(l, b, h);
            if (m >= f.pixels) continue;
            R *to = static_cast<R *>(o.out) + static_cast<size_t>(m) * f.oc + first + channel;
#pragma unroll
            for (int i = 0; i < WIDE / 16; i++) {
                const float *v = sum + b * (WIDE / 2) + 8 * i + 2 * h;
                const float four[4] = {v[0], v[1], v[4], v[5]};
                store_pixel(f, o.finish, bias != nullptr ? bias + 16 * i : nullptr, to + 16 * i, channel + 16 * i,
                            four);
            }
        }
}

/* In NCHW, channel by channel: a warp writes 8 neighbouring pixels of 4 of them. */
template <typename R, int HIGH, int WIDE>
__device__ inline void store_planes(const cutensor_forward &f, const operands &o, const float (&sum)[HIGH * WIDE / 2],
                                    const lane_place &l, int32_t pixel, int32_t first, int32_t channel)
{
    const int32_t plane = f.window.by_plane.d;
    const R *bias = f.has_bias ? static_cast<const R *>(o.bias) + first + channel : nullptr;
    R *to[HIGH][2];
#pragma unroll
    for (int b = 0; b < HIGH; b++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int32_t m = pixel + row_of<HIGH>(l, b, h), n = divided(min(m, f.pixels - 1), f.window.by_plane);
            to[b][h] = m < f.pixels ? static_cast<R *>(o.out) +
                                          (static_cast<size_t>(n) * f.oc + first + channel) * plane + (m - n * plane)
                                    : nullptr;
        }
#pragma unroll
    for (int i = 0; i < WIDE / 16; i++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int32_t further = 16 * i + e;
            if (channel + further >= f.group_oc) continue;
            const float offset = bias != nullptr ? cuda_load(bias[further]) : 0.0f;
            const int64_t at = static_cast<int64_t>(further) * plane;
#pragma unroll
            for (int b = 0; b < HIGH; b++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const float v = sum[b * (WIDE / 2) + 8 * i + 2 * h + (e >> 1) * 4 + (e & 1)] + offset;
                    if (to[b][h] != nullptr) finish_one(o.finish, to[b][h] + at, v);
                }
        }
}

template <typename R, int HIGH, int WIDE>
__device__ inline void store_tile(const cutensor_forward &f, const operands &o, const float (&sum)[HIGH * WIDE / 2],
                                  const lane_place &l, int32_t tile, int32_t pixel)
{
    const int32_t column = tile - divided(tile, f.by_tiles) * f.by_tiles.d, group = divided(column, f.by_group_tiles);
    const int32_t channel = (column - group * f.group_tiles) * WIDE + 4 * l.t, first = group * f.group_oc;
    if (f.nchw)
        store_planes<R, HIGH, WIDE>(f, o, sum, l, pixel, first, channel);
    else
        store_pixels<R, HIGH, WIDE>(f, o, sum, l, pixel, first, channel);
}

} // namespace

#endif
