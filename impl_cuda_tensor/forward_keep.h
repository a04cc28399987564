/* forward_keep.h: forward_boxes.h's convolutions where all weights fit in shared memory (C++).
 *
 * There they stay. So a warpgroup needs no other one: each has its own lines (128 pixels by all output channels, 64 at
 * a time) and its own ring of boxes, and one multiplies while another stores. A line's boxes come once for all of its
 * channels; they stay until the last 64 of these. */
#ifndef IMPL_CUDA_TENSOR_FORWARD_KEEP_H
#define IMPL_CUDA_TENSOR_FORWARD_KEEP_H

#include "impl_cuda_tensor/forward_step.h"

namespace
{

enum {
    KEEP_HIGH = 2,
    KEEP_TALL = KEEP_HIGH * 64,
    KEEP_WIDE = FORWARD_KEEP_WIDE,
    KEEP_WARPGROUPS = FORWARD_KEEP_WARPGROUPS,
    KEEP_THREADS = (KEEP_WARPGROUPS + 1) * 128
};

template <int PARTS> constexpr int32_t KEEP_STEP = KEEP_WIDE * 128 * PARTS; /* bytes of a tile of weights */

struct kept_block {
    uint32_t weights, boxes, weights_full, full, free; /* of a warpgroup's ring: boxes, full and free */
};

template <int PARTS> __device__ inline kept_block open_kept(const cutensor_forward &f)
{
    kept_block b;
    const uint32_t tiles = static_cast<uint32_t>(f.group_tiles * f.chunks);
    b.weights = first_address();
    b.boxes = b.weights + tiles * KEEP_STEP<PARTS>;
    b.weights_full = b.boxes + static_cast<uint32_t>(KEEP_WARPGROUPS * f.buffers * f.buffer_bytes);
    b.full = b.weights_full + FORWARD_KEEP_TILES * 8;
    b.free = b.full + KEEP_WARPGROUPS * FORWARD_PATCHES * 8;
    if (threadIdx.x == 0) {
        for (uint32_t i = 0; i < tiles; i++) barrier_init(b.weights_full + 8 * i, 1);
        for (uint32_t i = 0; i < KEEP_WARPGROUPS * FORWARD_PATCHES; i++) {
            barrier_init(b.full + 8 * i, 1);
            barrier_init(b.free + 8 * i, 4);
        }
        barriers_are_made();
    }
    __syncthreads();
    return b;
}
/* The same, of this warpgroup's ring. */
__device__ inline kept_block ring_of(const cutensor_forward &f, kept_block b, int32_t warpgroup)
{
    b.boxes += static_cast<uint32_t>(warpgroup * f.buffers * f.buffer_bytes);
    b.full += static_cast<uint32_t>(warpgroup * FORWARD_PATCHES * 8);
    b.free += static_cast<uint32_t>(warpgroup * FORWARD_PATCHES * 8);
    return b;
}

/* A warpgroup takes every so many-th line. */
struct kept_lines {
    int32_t first, step, count;
};
__device__ inline kept_lines lines_of(const cutensor_forward &f, int32_t warpgroup)
{
    return {warpgroup * static_cast<int32_t>(gridDim.x) + static_cast<int32_t>(blockIdx.x),
            static_cast<int32_t>(KEEP_WARPGROUPS * gridDim.x), (f.pixels + KEEP_TALL - 1) / KEEP_TALL};
}

/* ---- Threads that load: one all weights, one each ring */

template <int PARTS>
__device__ inline void load_kept_weights(const cutensor_forward &f, const kept_block &b, const unsigned char *from)
{
    constexpr int32_t bytes = KEEP_STEP<PARTS>;
    for (int32_t i = 0; i < f.group_tiles * f.chunks; i++) {
        barrier_expect(b.weights_full + 8 * i, bytes);
        copy_bulk(b.weights + static_cast<uint32_t>(i * bytes), from + static_cast<size_t>(i) * bytes, bytes,
                  b.weights_full + 8 * i);
    }
}

template <int SOURCE>
__device__ inline void load_kept_lines(const cutensor_forward &f, const kept_block &b, const tensor_map &map,
                                       int32_t warpgroup)
{
    const kept_lines lines = lines_of(f, warpgroup);
    ring_place ring = {0, 1};
    for (int32_t line = lines.first; line < lines.count; line += lines.step)
        for (int32_t chunk = 0; chunk < f.chunks; chunk++) {
            barrier_wait(b.free + 8 * ring.at, ring.parity);
            barrier_expect(b.full + 8 * ring.at, KEEP_TALL * 128);
            copy_boxes<SOURCE, KEEP_TALL>(f, map, b.boxes + static_cast<uint32_t>(ring.at * f.buffer_bytes),
                                          line * KEEP_TALL, chunk, b.full + 8 * ring.at);
            ring.next(f.buffers);
        }
}

/* ---- Warpgroups that multiply */

/* 64 channels of a line, whose boxes are freed after their last ones. */
template <int SOURCE, int PARTS>
__device__ inline void add_kept(const cutensor_forward &f, const kept_block &b, const lane_place &l,
                                const int32_t (&base)[KEEP_HIGH][2], int32_t column, ring_place &ring,
                                float (&sum)[KEEP_HIGH * KEEP_WIDE / 2])
{
    constexpr int N = KEEP_WIDE / 2, STEP = KEEP_STEP<PARTS>;
    const bool frees = (threadIdx.x & 31) == 0 && column + 1 == f.group_tiles;
    under_way<KEEP_HIGH, KEEP_WIDE> all;
    if constexpr (PARTS == 1) all.begin();
#pragma unroll
    for (int i = 0; i < KEEP_HIGH * N; i++) sum[i] = 0;
    for (int32_t k = 0; k < f.chunks; k++) {
        const int32_t step = column * f.chunks + k;
        const uint32_t rows = b.boxes + static_cast<uint32_t>(ring.at * f.buffer_bytes);
        const uint64_t tile = tile_descriptor(b.weights + static_cast<uint32_t>(step * STEP));
        barrier_wait(b.full + 8 * ring.at, ring.parity);
        if constexpr (PARTS == 2) {
            barrier_wait(b.weights_full + 8 * step, 0);
            add_step_f32<SOURCE, KEEP_HIGH, KEEP_WIDE>(l, rows, base, 0, tile, sum);
        } else {
            uint32_t next[KEEP_HIGH][16];
            load_boxes_rows<SOURCE, KEEP_HIGH>(next, rows, base, l);
            barrier_wait(b.weights_full + 8 * step, 0);
            all.end();
            all.add(next, tile);
        }
        __syncwarp();
        if (frees) barrier_arrive(b.free + 8 * ring.at);
        ring.next(f.buffers);
    }
    if constexpr (PARTS == 1) {
        all.end();
#pragma unroll
        for (int i = 0; i < KEEP_HIGH * N; i++) sum[i] = all.sum[i / N][i % N];
    }
}

template <int SOURCE, int PARTS>
__device__ inline void multiply_lines(const cutensor_forward &f, const kept_block &b, lane_place l, const operands &o)
{
    const kept_lines lines = lines_of(f, l.warpgroup);
    ring_place ring = {0, 0};
    l.warpgroup = 0;
    int32_t base[KEEP_HIGH][2];
#pragma unroll
    for (int r = 0; r < KEEP_HIGH * 2; r++) base[r / 2][r % 2] = row_of<KEEP_HIGH>(l, r / 2, r % 2);
    for (int32_t line = lines.first; line < lines.count; line += lines.step) {
        const ring_place first = ring;
        for (int32_t column = 0; column < f.group_tiles; column++) {
            const int32_t tile = line * f.group_tiles + column;
            float sum[KEEP_HIGH * KEEP_WIDE / 2];
            ring = first;
            add_kept<SOURCE, PARTS>(f, b, l, base, column, ring, sum);
            if constexpr (SOURCE == CUTENSOR_PLANES)
                store_planes<KEEP_HIGH, KEEP_WIDE>(f, o, sum, l, tile, line * KEEP_TALL);
            else
                store_tile<float, KEEP_HIGH, KEEP_WIDE>(f, o, sum, l, tile, line * KEEP_TALL);
        }
    }
}

template <int SOURCE, int PARTS>
__global__ void __launch_bounds__(KEEP_THREADS, 1)
    implicit_gemm_of_lines(const cutensor_forward f, const __grid_constant__ tensor_map in, const operands o)
{
    const kept_block b = open_kept<PARTS>(f);
    const int32_t thread = static_cast<int32_t>(threadIdx.x) - KEEP_WARPGROUPS * 128, warp = thread >> 5;
    if (thread < 0) {
        const lane_place l = lane_of(static_cast<int32_t>(threadIdx.x));
        REGISTERS_MORE(232);
        wait_for_previous();
        multiply_lines<SOURCE, PARTS>(f, ring_of(f, b, l.warpgroup), l, o);
    } else {
        REGISTERS_LESS(40);
        if ((thread & 31) != 0) return;
        if (warp < KEEP_WARPGROUPS) load_kept_lines<SOURCE>(f, ring_of(f, b, warp), in, warp);
        if (warp == KEEP_WARPGROUPS) {
            wait_for_previous();
            load_kept_weights<PARTS>(f, b, o.weights);
        }
    }
}

} // namespace

#endif
