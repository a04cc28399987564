/* gradient.cu: BWD_W on warpgroup instructions.
 *
 * Idea: dw of a tap is a product whose sum runs over pixels. A block takes 64 input by 64 output channels for 9 taps at
 * once, three a warpgroup, so that it reads x and dy once for all of them: a patch of x as in forward.cu, of 64
 * channels a row, goes through registers (its pixels are the columns of A); dy, transposed on its way, is the other
 * factor. Where no patch fits, or there is one tap, these slots are any taps and 64s of channels, each with pixels of
 * its own, and only as many as let 32 or 64 pixels be loaded at once.
 *
 * Sums: as in forward.cu, those of 32 pixels are the tensor cores', all others the multiprocessor's (f32). Work, tiles
 * times chunks of pixels, is dealt out evenly. Where tiles are few enough, the blocks of a cluster have the same one,
 * and add up their sums through each other's shared memory; sum.cu adds up what is left, in a fixed order. */
#include "impl_cuda_tensor/gradient_load.h"

namespace
{

/* ---- Two warps that load dy, 32 output channels each: tiles of [64 channels][32 pixels], swizzled. */

/* A thread's numbers have arrived (as all of its warp's): it splits those of one channel, or (TF32) rounds them, which
 * the tensor cores would cut. Eight neighbours begin at eight different places: at the same one, they would wait for
 * one another. */
template <int PARTS> __device__ inline void hand_on(const block_of &b, int32_t step, int32_t channel)
{
    const uint32_t row = b.steps + static_cast<uint32_t>(step * GRADIENT_SIDE * 128 * PARTS + channel * 128);
    const uint32_t turn = static_cast<uint32_t>(channel & 7) << 4;
    __syncwarp();
#pragma unroll 4
    for (uint32_t place = 0; place < 8; place++) {
        const uint32_t at = row + ((place << 4) ^ turn);
        uint32_t v[4], low[4];
        load4(v, at);
#pragma unroll
        for (int e = 0; e < 4; e++) low[e] = low_part(v[e]), v[e] = high_part(v[e]);
        store4(at, v);
        if constexpr (PARTS == 2) store4(at + GRADIENT_SIDE * 128, low);
    }
    stores_to_products();
    barrier_arrive(b.step_full + 8 * step);
}

/* Channels side by side: a lane takes every 8th channel and every 4th pixel, which spreads the transposed tile over all
 * banks. */
__device__ inline void load_dy_nhwc(const cutensor_gradient &g, const float *dy, uint32_t to, int32_t k,
                                    int32_t channel, int32_t pixel, int32_t end)
{
    const int32_t lane = static_cast<int32_t>(threadIdx.x & 31), kk = lane & 7, pp = lane >> 3;
    const float *from = dy + (pixel + pp) * g.dy_pixel + k + channel + kk;
    const uint32_t at = (to + static_cast<uint32_t>((channel + kk) * 128 + pp * 4)) | static_cast<uint32_t>(kk << 4);
    if (pixel + 32 <= end && k + channel + 32 <= g.group_oc) {
#pragma unroll
        for (int i = 0; i < 8; i++, from += 4 * g.dy_pixel)
#pragma unroll
            for (int j = 0; j < 4; j++)
                copy4((at ^ static_cast<uint32_t>(i << 4)) + static_cast<uint32_t>(j * 1024), from + 8 * j, 4);
        return;
    }
    for (int i = 0; i < 8; i++, from += 4 * g.dy_pixel)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const bool there = pixel + 4 * i + pp < end && k + channel + kk + 8 * j < g.group_oc;
            copy4((at ^ static_cast<uint32_t>(i << 4)) + static_cast<uint32_t>(j * 1024), there ? from + 8 * j : dy,
                  there ? 4 : 0);
        }
}

/* Pixels side by side: a lane takes a pixel. */
__device__ inline void load_dy_nchw(const cutensor_gradient &g, const float *dy, uint32_t to, int32_t k,
                                    int32_t channel, int32_t pixel, int32_t end)
{
    const int32_t lane = static_cast<int32_t>(threadIdx.x & 31), m = min(pixel + lane, end - 1);
    const int32_t n = divided(m, g.window.by_plane);
    const float *from = dy + n * g.dy_image + (m - n * g.window.by_plane.d) + (k + channel) * g.dy_channel;
    const uint32_t row = to + static_cast<uint32_t>(channel * 128 + (lane & 3) * 4);
#pragma unroll 8
    for (int i = 0; i < 32; i++, from += g.dy_channel) {
        const bool there = pixel + lane < end && k + channel + i < g.group_oc;
        copy4(row + static_cast<uint32_t>(i * 128 + (((lane >> 2) ^ (i & 7)) << 4)), there ? from : dy, there ? 4 : 0);
    }
}

template <int PARTS, bool CLUSTERS>
__device__ inline void load_dy(const cutensor_gradient &g, const block_of &b, const float *dy, int32_t channel)
{
    const int32_t row = channel + static_cast<int32_t>(threadIdx.x & 31);
    ring_place ring = {0, 1};
    int32_t loaded = 0, handed = 0;
    for (int32_t u = b.first; u < b.last; u = next_unit<CLUSTERS>(g, u)) {
        const unit_place at = unit_at<CLUSTERS>(g, b, u);
        const tile_place tile = tile_at(g, at.tile);
        const float *of_group = dy + static_cast<int64_t>(tile.group) * g.group_oc * g.dy_channel;
        for (int32_t pixel = at.pixel; pixel < at.end; pixel += 32) {
            barrier_wait(b.step_free + 8 * ring.at, ring.parity);
            const uint32_t to = b.steps + static_cast<uint32_t>(ring.at * GRADIENT_SIDE * 128 * PARTS);
            if (g.dy_channel == 1)
                load_dy_nhwc(g, of_group, to, tile.k, channel, pixel, at.end);
            else
                load_dy_nchw(g, of_group, to, tile.k, channel, pixel, at.end);
            copies_commit();
            ring.next(g.steps);
            if (loaded++ < GRADIENT_LAG) continue;
            copies_wait<GRADIENT_LAG>();
            hand_on<PARTS>(b, handed, row);
            if (++handed == g.steps) handed = 0;
        }
    }
    copies_wait<0>();
    for (int32_t i = min(loaded, static_cast<int32_t>(GRADIENT_LAG)); i > 0; i--) {
        hand_on<PARTS>(b, handed, row);
        if (++handed == g.steps) handed = 0;
    }
}

/* ---- Three warpgroups that multiply: each takes every third slot, three at most */

/* A thread's place: the rows of the patch where its pixels are, where in a row its two channels are. */
struct lane_place {
    int32_t warpgroup, lane;
    uint32_t channels;
};
__device__ inline lane_place lane_of(int32_t thread)
{
    const int32_t warp = thread >> 5 & 3, lane = thread & 31;
    return {thread >> 7, lane, static_cast<uint32_t>((4 * warp + (lane >> 3)) << 4 | (lane >> 2 & 1) << 3)};
}

/* 8 pixels of 16 channels, as A. `rows`: of this thread's first pixel. */
__device__ inline void load_pixels(uint32_t (&a)[4], uint32_t patch, const int32_t *rows, int32_t offset,
                                   uint32_t channels)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const uint32_t row = static_cast<uint32_t>(rows[4 * h] + offset);
        load2(a[2 * h], a[2 * h + 1], patch + row * 256 + (channels ^ (row & 3) << 5));
    }
}

/* PRODUCTS times 8 pixels for SLOTS slots, in f32: each slot's sum is one of its own, added to the others by the
 * multiprocessor. While 8 pixels are multiplied, the next 8 are loaded. */
template <int PRODUCTS, int SLOTS>
__device__ inline void add_step_f32(float (&sum)[3][32], uint32_t patch, const int32_t *rows,
                                    const int32_t (&offset)[3], uint32_t channels, uint64_t dy)
{
    float step[32];
    uint32_t a[2][4], low[2][4];
    load_pixels(a[0], patch, rows, offset[0], channels);
#pragma unroll
    for (int i = 0; i < SLOTS * PRODUCTS; i++) {
        const int now = i & 1, next = now ^ 1, v = i / PRODUCTS, j = i % PRODUCTS;
        const uint64_t pixels = dy + 2 * static_cast<uint64_t>(j);
#pragma unroll
        for (int e = 0; e < 4; e++) low[now][e] = low_part(a[now][e]), a[now][e] = high_part(a[now][e]);
        products_begin();
        multiply(float(), step, low[now], pixels, j > 0);
        multiply(float(), step, a[now], pixels + GRADIENT_SIDE * 8, 1);
        multiply(float(), step, a[now], pixels, 1);
        products_commit();
        if (i + 1 < SLOTS * PRODUCTS) {
            products_wait<1>();
            pin(a[next]);
            pin(low[next]);
            load_pixels(a[next], patch, rows + 8 * ((i + 1) % PRODUCTS), offset[(i + 1) / PRODUCTS], channels);
        }
        if (j + 1 < PRODUCTS) continue;
        products_wait<0>();
        pin(step);
        pin(a[now]);
        pin(low[now]);
#pragma unroll
        for (int e = 0; e < 32; e++) sum[v][e] += step[e];
    }
}

/* In TF32, which is cut far earlier: the sums stay in the tensor cores. */
template <int SLOTS>
__device__ inline void add_step_tf32(float (&sum)[3][32], uint32_t patch, const int32_t *rows,
                                     const int32_t (&offset)[3], uint32_t channels, uint64_t dy, int32_t products)
{
    uint32_t a[SLOTS][4];
#pragma unroll 1
    for (int32_t j = 0; j < products; j++) {
        products_wait<0>();
#pragma unroll
        for (int v = 0; v < SLOTS; v++) {
            pin(sum[v]);
            pin(a[v]);
            load_pixels(a[v], patch, rows + 8 * j, offset[v], channels);
#pragma unroll
            for (int e = 0; e < 4; e++) a[v][e] = high_part(a[v][e]);
        }
        products_begin();
#pragma unroll
        for (int v = 0; v < SLOTS; v++) multiply(float(), sum[v], a[v], dy + 2 * static_cast<uint64_t>(j), 1);
        products_commit();
    }
    products_wait<0>();
#pragma unroll
    for (int v = 0; v < SLOTS; v++) pin(sum[v]);
}

/* 32 pixels, or the 16 that are left. */
template <int PARTS, int SLOTS>
__device__ inline void add_step(float (&sum)[3][32], uint32_t patch, const int32_t *rows, const int32_t (&offset)[3],
                                uint32_t channels, uint64_t dy, bool half)
{
    if constexpr (PARTS == 1)
        add_step_tf32<SLOTS>(sum, patch, rows, offset, channels, dy, half ? 2 : 4);
    else if (half)
        add_step_f32<2, SLOTS>(sum, patch, rows, offset, channels, dy);
    else
        add_step_f32<4, SLOTS>(sum, patch, rows, offset, channels, dy);
}

template <int PARTS, bool CLUSTERS>
__device__ inline void multiply_units(const cutensor_gradient &g, const block_of &b, float *partials)
{
    const lane_place l = lane_of(static_cast<int32_t>(threadIdx.x));
    ring_place step = {0, 0}, patch = {0, 0};
    for (int32_t u = b.first; u < b.last;) {
        const int32_t tile = CLUSTERS ? b.tile : divided(u, g.by_chunks);
        const int32_t end = CLUSTERS ? b.last : min(b.last, (tile + 1) * g.chunks);
        int32_t offset[3];
        const int32_t slots = find_slots(g, tile, l.warpgroup, offset);
        float sum[3][32];
#pragma unroll
        for (int v = 0; v < 3; v++)
#pragma unroll
            for (int i = 0; i < 32; i++) sum[v][i] = 0;
        for (; u < end; u = next_unit<CLUSTERS>(g, u)) {
            const unit_place unit = unit_at<CLUSTERS>(g, b, u);
            barrier_wait(b.patch_full + 8 * patch.at, patch.parity);
            const uint32_t from = b.patches + static_cast<uint32_t>(patch.at * g.patch_bytes);
            const int32_t *rows = at_address<int32_t>(b.rows) + patch.at * sizes<float>::CHUNK_MOST + (l.lane & 3);
            for (int32_t pixel = unit.pixel; pixel < unit.end; pixel += 32, rows += 32) {
                barrier_wait(b.step_full + 8 * step.at, step.parity);
                const uint64_t dy =
                    tile_descriptor(b.steps + static_cast<uint32_t>(step.at * GRADIENT_SIDE * 128 * PARTS));
                const bool half = unit.end - pixel <= 16;
                if (slots == 3)
                    add_step<PARTS, 3>(sum, from, rows, offset, l.channels, dy, half);
                else if (slots == 2)
                    add_step<PARTS, 2>(sum, from, rows, offset, l.channels, dy, half);
                else if (slots == 1)
                    add_step<PARTS, 1>(sum, from, rows, offset, l.channels, dy, half);
                __syncwarp();
                if (l.lane == 0) barrier_arrive(b.step_free + 8 * step.at);
                step.next(g.steps);
            }
            __syncwarp();
            if (l.lane == 0) barrier_arrive(b.patch_free + 8 * patch.at);
            patch.next(g.patches);
        }
        if constexpr (CLUSTERS) barrier_of(2, GRADIENT_THREADS - 128); /* all have read what the sums overwrite */
        put_sums(CLUSTERS ? at_address<float>(b.steps) : partials + segment_of(b.rank, tile), sum, slots, l.warpgroup,
                 static_cast<int32_t>(threadIdx.x & 127));
    }
    end_multiplying<CLUSTERS>(g, b, partials);
}

template <int PARTS, bool CLUSTERS>
__global__ void __launch_bounds__(GRADIENT_THREADS, 1)
    weight_gradient(const cutensor_gradient g, const gradient_operands o)
{
    const block_of b = open_block<float, CLUSTERS>(g);
    const int32_t thread = static_cast<int32_t>(threadIdx.x) - 384;
    if (thread < 0) {
        REGISTERS_MORE(160);
        multiply_units<PARTS, CLUSTERS>(g, b, o.partials);
    } else {
        REGISTERS_LESS(32);
        if (thread < 64)
            load_dy<PARTS, CLUSTERS>(g, b, static_cast<const float *>(o.dy), thread & 32);
        else
            load_x<float, CLUSTERS>(g, b, static_cast<const float *>(o.x), thread - 64);
        end_loading<CLUSTERS>();
    }
}

} // namespace

cnn_status cutensor_gradient_run(cuda_context *c, const cutensor_plan *p, const void *x, const void *dy, void *partials,
                                 cnn_error *err)
{
    const cuda_shape shape = gradient_shape("weight_gradient", p);
    const gradient_operands o = {x, dy, static_cast<float *>(partials)};
    if (cuda_has_half(p->bias.t.dtype)) return cutensor_gradient_half_run(c, p, x, dy, partials, err);
    const bool clusters = p->gradient.cluster > 1;
    if (p->gradient.parts == 1)
        return clusters ? cuda_launch(c, shape, err, weight_gradient<1, true>, p->gradient, o)
                        : cuda_launch(c, shape, err, weight_gradient<1, false>, p->gradient, o);
    return clusters ? cuda_launch(c, shape, err, weight_gradient<2, true>, p->gradient, o)
                    : cuda_launch(c, shape, err, weight_gradient<2, false>, p->gradient, o);
}
