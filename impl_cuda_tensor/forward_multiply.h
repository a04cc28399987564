/* forward_multiply.h: the warpgroups of forward.cu that multiply, and its kernels (C++). SOURCE: where pixels come
 * from, CUTENSOR_PATCHES or, by another kernel, forward_boxes.h's. */
#ifndef IMPL_CUDA_TENSOR_FORWARD_MULTIPLY_H
#define IMPL_CUDA_TENSOR_FORWARD_MULTIPLY_H

#include "impl_cuda_tensor/forward_step.h"

namespace
{

/* n pieces of a tile in f32. */
template <int SOURCE, int HIGH, int WIDE>
__device__ inline void add_pieces_f32(const cutensor_forward &f, const block_of &b, const lane_place &l,
                                      const int32_t (&base)[HIGH][2], int32_t n, rings &r,
                                      float (&sum)[HIGH * WIDE / 2])
{
    constexpr int STEP = WIDE * 128 * 2;
    const bool first_lane = (threadIdx.x & 31) == 0;
#pragma unroll
    for (int i = 0; i < HIGH * WIDE / 2; i++) sum[i] = 0;
    for (int32_t k = 0; k < n; k++) {
        barrier_wait(b.patch_full + 8 * r.patch.at, r.patch.parity);
        const uint32_t rows = b.patches + static_cast<uint32_t>(r.patch.at * f.buffer_bytes);
        tap_walk walk = {0, 0};
        const int32_t taps = SOURCE == CUTENSOR_PATCHES ? f.taps_at_once : 1;
        for (int32_t tap = 0; tap < taps; tap++, walk.next(f.window)) {
            barrier_wait(b.weights_full + 8 * r.weights.at, r.weights.parity);
            const uint64_t tile = tile_descriptor(b.weights + r.weights.at * STEP);
            add_step_f32<SOURCE, HIGH, WIDE>(l, rows, base, walk.offset, tile, sum);
            if (first_lane) barrier_arrive(b.weights_free + 8 * r.weights.at);
            r.weights.next(FORWARD_STEPS);
        }
        __syncwarp();
        if (first_lane) barrier_arrive(b.patch_free + 8 * r.patch.at);
        r.patch.next(f.buffers);
    }
}

/* The same where products (TF32) or results (f16, bf16) have far fewer bits: sums stay in the tensor cores, and
 * products of one half run while the other half is loaded. */
template <typename T, int SOURCE, int HIGH, int WIDE>
__device__ inline void add_pieces_once(const cutensor_forward &f, const block_of &b, const int32_t (&base)[HIGH][2],
                                       int32_t n, rings &r, float (&sum)[HIGH * WIDE / 2])
{
    constexpr int N = WIDE / 2, STEP = WIDE * 128;
    const int32_t t = static_cast<int32_t>(threadIdx.x & 3);
    const bool first_lane = (threadIdx.x & 31) == 0;
    float all[HIGH][N];
    uint32_t a[HIGH][16];
    int32_t before = -1;
#pragma unroll
    for (int u = 0; u < HIGH; u++)
#pragma unroll
        for (int i = 0; i < N; i++) all[u][i] = 0;
    for (int32_t k = 0; k < n; k++) {
        barrier_wait(b.patch_full + 8 * r.patch.at, r.patch.parity);
        const uint32_t rows = b.patches + static_cast<uint32_t>(r.patch.at * f.buffer_bytes);
        tap_walk walk = {0, 0};
        const int32_t taps = SOURCE == CUTENSOR_PATCHES ? f.taps_at_once : 1;
        for (int32_t tap = 0; tap < taps; tap++, walk.next(f.window)) {
            barrier_wait(b.weights_full + 8 * r.weights.at, r.weights.parity);
            const uint64_t tile = tile_descriptor(b.weights + r.weights.at * STEP);
#pragma unroll
            for (int u = 0; u < HIGH; u++) {
                products_wait<HIGH - 1>();
                pin(all[u]);
                pin(a[u]);
                if (u == HIGH - 1 && before >= 0 && first_lane) barrier_arrive(b.weights_free + 8 * before);
                load_rows(a[u], rows, base[u][0] + walk.offset, base[u][1] + walk.offset, t);
                if constexpr (sizeof(T) == 4) {
#pragma unroll
                    for (int i = 0; i < 16; i++) a[u][i] = high_part(a[u][i]);
                }
                products_begin();
#pragma unroll
                for (int j = 0; j < 4; j++) multiply(T(), all[u], a[u] + 4 * j, tile + 2 * j, 1);
                products_commit();
            }
            before = r.weights.at;
            r.weights.next(FORWARD_STEPS);
        }
        __syncwarp();
        if (first_lane) barrier_arrive(b.patch_free + 8 * r.patch.at);
        r.patch.next(f.buffers);
    }
    products_wait<0>();
#pragma unroll
    for (int u = 0; u < HIGH; u++) {
        pin(all[u]);
        pin(a[u]);
    }
    if (first_lane) barrier_arrive(b.weights_free + 8 * before);
#pragma unroll
    for (int i = 0; i < HIGH * N; i++) sum[i] = all[i / N][i % N];
}

template <typename T, typename R, int SOURCE, int PARTS, int WARPGROUPS, int HIGH, int WIDE>
__device__ inline void multiply_tiles(const cutensor_forward &f, const block_of &b, const operands &o)
{
    constexpr int THREADS = WARPGROUPS * 128;
    const lane_place l = lane_of(static_cast<int32_t>(threadIdx.x));
    rings r = {{0, 0}, {0, 0}};
    for (int32_t c = b.first; c < b.last;) {
        const piece_place at = piece_at(f, c);
        const int32_t n = min(f.pieces - at.piece, b.last - c);
        const int32_t pixel = divided(at.tile, f.by_tiles) * HIGH * WARPGROUPS * 64;
        int32_t base[HIGH][2];
        float sum[HIGH * WIDE / 2];
#pragma unroll
        for (int u = 0; u < HIGH; u++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int32_t row = row_of<HIGH>(l, u, h);
                base[u][h] = SOURCE == CUTENSOR_PATCHES && f.patched
                                 ? patch_row(f.window, min(pixel + row, f.pixels - 1)) - patch_row(f.window, pixel)
                                 : row;
            }
        if constexpr (PARTS == 2)
            add_pieces_f32<SOURCE, HIGH, WIDE>(f, b, l, base, n, r, sum);
        else if constexpr (SOURCE == CUTENSOR_PLANES)
            add_planes_once<HIGH, WIDE>(f, b, l, n, r, sum);
        else
            add_pieces_once<T, SOURCE, HIGH, WIDE>(f, b, base, n, r, sum);
        if (at.piece > 0)
            leave_partials(o, sum, THREADS, b.rank);
        else {
            if (n < f.pieces) add_partials(f, o, sum, THREADS, b.rank, at.tile);
            if constexpr (SOURCE == CUTENSOR_PLANES)
                store_planes<HIGH, WIDE>(f, o, sum, l, at.tile, pixel);
            else
                store_tile<R, HIGH, WIDE>(f, o, sum, l, at.tile, pixel);
        }
        c = piece_behind(f, c + n - 1, at.piece + n == f.pieces);
    }
}

template <typename T, typename R, int PARTS, int WARPGROUPS, int HIGH, int WIDE>
__global__ void __launch_bounds__(WARPGROUPS * 128 + 128, 1) implicit_gemm(const cutensor_forward f, const operands o)
{
    const block_of b = open_block<PARTS, WARPGROUPS, WIDE>(f, FORWARD_LOADERS);
    const int32_t thread = static_cast<int32_t>(threadIdx.x) - WARPGROUPS * 128;
    if (thread < 0) {
        REGISTERS_MORE(WARPGROUPS == 2 ? 232 : 160);
        wait_for_previous();
        multiply_tiles<T, R, CUTENSOR_PATCHES, PARTS, WARPGROUPS, HIGH, WIDE>(f, b, o);
    } else {
        REGISTERS_LESS(WARPGROUPS == 2 ? 40 : 32);
        if (thread >= 32) load_patches<T, WARPGROUPS * HIGH * 64>(f, b, static_cast<const T *>(o.in), thread - 32);
        if (thread == 0) {
            wait_for_previous();
            load_weights<PARTS, WIDE>(f, b, o.weights);
        }
    }
}

/* f32, of boxes. */
template <int SOURCE, int PARTS, int WARPGROUPS, int HIGH, int WIDE>
__global__ void __launch_bounds__(WARPGROUPS * 128 + 128, 1)
    implicit_gemm_of_boxes(const cutensor_forward f, const __grid_constant__ tensor_map in, const operands o)
{
    const block_of b = open_block<PARTS, WARPGROUPS, WIDE>(f, 1);
    const int32_t thread = static_cast<int32_t>(threadIdx.x) - WARPGROUPS * 128;
    if (thread < 0) {
        REGISTERS_MORE(WARPGROUPS == 2 ? 240 : 160);
        wait_for_previous();
        multiply_tiles<float, float, SOURCE, PARTS, WARPGROUPS, HIGH, WIDE>(f, b, o);
    } else {
        REGISTERS_LESS(WARPGROUPS == 2 ? 24 : 32);
        if (thread == 32) load_boxes<SOURCE, WARPGROUPS * HIGH * 64>(f, b, in);
        if (thread == 0) {
            wait_for_previous();
            load_weights<PARTS, WIDE>(f, b, o.weights);
        }
    }
}

template <typename T, typename R>
cnn_status launch_forward(cuda_context *c, const cutensor_plan *p, const operands &o, cnn_error *err)
{
    cuda_shape shape = {"implicit_gemm", dim3(static_cast<unsigned>(p->blocks)),
                        dim3(static_cast<unsigned>(p->threads)), static_cast<size_t>(p->shared_bytes)};
    shape.overlaps = true;
#define TILE(id, PARTS, WARPGROUPS, HIGH, WIDE)                                                                        \
    if constexpr (PARTS == 1 || sizeof(T) == 4)                                                                        \
        if (p->forward.tile == id && p->weights.parts == PARTS)                                                        \
            return cuda_launch(c, shape, err, implicit_gemm<T, R, PARTS, WARPGROUPS, HIGH, WIDE>, p->forward, o);
#include "impl_cuda_tensor/tiles.inc"
#undef TILE
    return CNN_FAIL(err, CNN_INTERNAL, "no kernel of tile %d with %d parts", p->forward.tile, p->weights.parts);
}

} // namespace

#endif
