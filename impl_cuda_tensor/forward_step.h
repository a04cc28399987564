/* forward_step.h: a step of a tile, 32 channels, by a warpgroup that multiplies: A from shared memory to registers, and
 * the products (C++). */
#ifndef IMPL_CUDA_TENSOR_FORWARD_STEP_H
#define IMPL_CUDA_TENSOR_FORWARD_STEP_H

#include "impl_cuda_tensor/forward_boxes.h"

namespace
{

/* Two rows of a patch, as A of four products. */
__device__ inline void load_rows(uint32_t (&a)[16], uint32_t patch, int32_t first, int32_t second, int32_t t)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const uint32_t row = static_cast<uint32_t>(h == 0 ? first : second);
        const uint32_t at = patch + row * 128 + (((row & 7) ^ static_cast<uint32_t>(t)) << 4);
        uint32_t v[4];
        load4(v, at);
#pragma unroll
        for (int e = 0; e < 4; e++) a[(e >> 1) * 4 + (e & 1) * 2 + h] = v[e];
        load4(v, at ^ 64);
#pragma unroll
        for (int e = 0; e < 4; e++) a[8 + (e >> 1) * 4 + (e & 1) * 2 + h] = v[e];
    }
}

/* All rows of a box. */
template <int SOURCE, int HIGH>
__device__ inline void load_boxes_rows(uint32_t (&a)[HIGH][16], uint32_t box, const int32_t (&base)[HIGH][2],
                                       const lane_place &l)
{
    if constexpr (SOURCE == CUTENSOR_PLANES)
        load_planes<HIGH>(a, box, l);
    else {
#pragma unroll
        for (int u = 0; u < HIGH; u++) load_rows(a[u], box, base[u][0], base[u][1], l.t);
    }
}

/* In f32. Each step's sum is drained at once: where sums under way are read in a later round, the compiler makes the
 * products wait for one another. load(u, a) reads a[u] at least, before u's products; `tile`: descriptor of B. */
template <int HIGH, int WIDE, typename LOAD>
__device__ inline void add_products_f32(const LOAD &load, uint64_t tile, float (&sum)[HIGH * WIDE / 2])
{
    constexpr int N = WIDE / 2;
    float step[HIGH][N];
    uint32_t a[HIGH][16], low[HIGH][16];
#pragma unroll
    for (int u = 0; u < HIGH; u++) {
        load(u, a);
#pragma unroll
        for (int i = 0; i < 16; i++) low[u][i] = low_part(a[u][i]), a[u][i] = high_part(a[u][i]);
        products_begin();
#pragma unroll
        for (int j = 0; j < 4; j++) { /* the small ones first */
            multiply(float(), step[u], low[u] + 4 * j, tile + 2 * j, j > 0);
            multiply(float(), step[u], a[u] + 4 * j, tile + WIDE * 8 + 2 * j, 1);
        }
#pragma unroll
        for (int j = 0; j < 4; j++) multiply(float(), step[u], a[u] + 4 * j, tile + 2 * j, 1);
        products_commit();
    }
    products_wait<HIGH - 1>();
    pin(step[0]);
#pragma unroll
    for (int i = 0; i < N; i++) sum[i] += step[0][i];
    if constexpr (HIGH == 2) {
        products_wait<0>();
        pin(step[1]);
#pragma unroll
        for (int i = 0; i < N; i++) sum[N + i] += step[1][i];
    }
#pragma unroll
    for (int u = 0; u < HIGH; u++) {
        pin(a[u]);
        pin(low[u]);
    }
}
/* `base`: rows of the thread's pixels, and `offset` behind them; `tile`: the weights. */
template <int SOURCE, int HIGH, int WIDE>
__device__ inline void add_step_f32(const lane_place &l, uint32_t rows, const int32_t (&base)[HIGH][2], int32_t offset,
                                    uint64_t tile, float (&sum)[HIGH * WIDE / 2])
{
    const auto load = [&](int u, uint32_t(&a)[HIGH][16]) {
        if constexpr (SOURCE != CUTENSOR_PLANES)
            load_rows(a[u], rows, base[u][0] + offset, base[u][1] + offset, l.t);
        else if (u == 0)
            load_planes<HIGH>(a, rows, l);
    };
    add_products_f32<HIGH, WIDE>(load, tile, sum);
}

/* ---- In TF32 */

/* Sums that stay in the tensor cores, and A of products that may be under way. */
template <int HIGH, int WIDE> struct under_way {
    float sum[HIGH][WIDE / 2];
    uint32_t a[HIGH][16];

    __device__ inline void begin()
    {
#pragma unroll
        for (int i = 0; i < HIGH * WIDE / 2; i++) sum[i / (WIDE / 2)][i % (WIDE / 2)] = 0;
    }
    __device__ inline void end()
    {
        products_wait<0>();
#pragma unroll
        for (int u = 0; u < HIGH; u++) {
            pin(sum[u]);
            pin(a[u]);
        }
    }
    /* The step's products; those before have ended. */
    __device__ inline void add(const uint32_t (&next)[HIGH][16], uint64_t tile)
    {
#pragma unroll
        for (int i = 0; i < HIGH * 16; i++) a[i / 16][i % 16] = high_part(next[i / 16][i % 16]);
#pragma unroll
        for (int u = 0; u < HIGH; u++) {
            pin(a[u]); /* all of it is there before the first product begins */
            products_begin();
#pragma unroll
            for (int j = 0; j < 4; j++) multiply(float(), sum[u], a[u] + 4 * j, tile + 2 * j, 1);
            products_commit();
        }
    }
};

/* n pieces of a tile in TF32, of planes: the next pixels are read while the products of the last ones run. */
template <int HIGH, int WIDE>
__device__ inline void add_planes_once(const cutensor_forward &f, const block_of &b, const lane_place &l, int32_t n,
                                       rings &r, float (&sum)[HIGH * WIDE / 2])
{
    constexpr int N = WIDE / 2, STEP = WIDE * 128;
    const bool first_lane = (threadIdx.x & 31) == 0;
    under_way<HIGH, WIDE> all;
    int32_t before = -1;
    all.begin();
    for (int32_t k = 0; k < n; k++) {
        uint32_t next[HIGH][16];
        barrier_wait(b.patch_full + 8 * r.patch.at, r.patch.parity);
        load_planes<HIGH>(next, b.patches + static_cast<uint32_t>(r.patch.at * f.buffer_bytes), l);
        barrier_wait(b.weights_full + 8 * r.weights.at, r.weights.parity);
        all.end();
        if (before >= 0 && first_lane) barrier_arrive(b.weights_free + 8 * before);
        all.add(next, tile_descriptor(b.weights + r.weights.at * STEP));
        before = r.weights.at;
        r.weights.next(FORWARD_STEPS);
        __syncwarp();
        if (first_lane) barrier_arrive(b.patch_free + 8 * r.patch.at);
        r.patch.next(f.buffers);
    }
    all.end();
    if (first_lane) barrier_arrive(b.weights_free + 8 * before);
#pragma unroll
    for (int i = 0; i < HIGH * N; i++) sum[i] = all.sum[i / N][i % N];
}

} // namespace

#endif
