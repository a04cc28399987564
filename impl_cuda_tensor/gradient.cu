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
 * and add up their sums through each other's shared memory. A cluster that has all of a tile's pixels writes dw; else
 * sum.cu adds up what is left, in a fixed order. */
#include "impl_cuda_tensor/gradient_load.h"

namespace
{

/* ---- Two warps that load dy, 32 output channels each: tiles of [64 channels][32 pixels], swizzled. */

/* A thread's numbers have arrived (as all of its warp's): it splits those of one channel, or (TF32) rounds them, which
 * the tensor cores would cut. Eight neighbours begin at eight different places: at the same one, they would wait for
 * one another. Returns the channel's sum, for the bias; 0 where it is not wanted. */
template <int PARTS> __device__ inline float hand_on(const block_of &b, int32_t step, int32_t channel, bool sums)
{
    const uint32_t row = b.steps + static_cast<uint32_t>(step * GRADIENT_SIDE * 128 * PARTS + channel * 128);
    const uint32_t turn = static_cast<uint32_t>(channel & 7) << 4;
    float sum = 0;
    __syncwarp();
#pragma unroll 4
    for (uint32_t place = 0; place < 8; place++) {
        const uint32_t at = row + ((place << 4) ^ turn);
        uint32_t v[4], low[4];
        load4(v, at);
        if (sums)
            sum += (__uint_as_float(v[0]) + __uint_as_float(v[1])) + (__uint_as_float(v[2]) + __uint_as_float(v[3]));
#pragma unroll
        for (int e = 0; e < 4; e++) low[e] = low_part(v[e]), v[e] = high_part(v[e]);
        store4(at, v);
        if constexpr (PARTS == 2) store4(at + GRADIENT_SIDE * 128, low);
    }
    stores_to_products();
    barrier_arrive(b.step_full + 8 * step);
    return sum;
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

/* `bias` may be NULL; else blocks of a tile of the first input channels leave there what their pixels of dy sum to. */
template <int PARTS, bool CLUSTERS>
__device__ inline void load_dy(const cutensor_gradient &g, const block_of &b, const float *dy, float *bias,
                               int32_t channel)
{
    const int32_t row = channel + static_cast<int32_t>(threadIdx.x & 31);
    ring_place ring = {0, 1}, handed = {0, 0};
    for (int32_t u = b.first; u < b.last;) {
        const int32_t number = CLUSTERS ? b.tile : divided(u, g.by_chunks);
        const int32_t last = CLUSTERS ? b.last : min(b.last, (number + 1) * g.chunks);
        const tile_place tile = tile_at(g, number);
        const float *of_group = dy + static_cast<int64_t>(tile.group) * g.group_oc * g.dy_channel;
        const bool sums = bias != nullptr && tile.slots == 0;
        float sum = 0;
        int32_t under_way = 0;
        for (; u < last; u = next_unit<CLUSTERS>(g, u)) {
            const unit_place at = unit_at<CLUSTERS>(g, b, u);
            for (int32_t pixel = at.pixel; pixel < at.end; pixel += 32) {
                barrier_wait(b.step_free + 8 * ring.at, ring.parity);
                const uint32_t to = b.steps + static_cast<uint32_t>(ring.at * GRADIENT_SIDE * 128 * PARTS);
                if (g.dy_channel == 1)
                    load_dy_nhwc(g, of_group, to, tile.k, channel, pixel, at.end);
                else
                    load_dy_nchw(g, of_group, to, tile.k, channel, pixel, at.end);
                copies_commit();
                ring.next(g.steps);
                if (under_way++ < GRADIENT_LAG) continue;
                copies_wait<GRADIENT_LAG>();
                under_way--;
                sum += hand_on<PARTS>(b, handed.at, row, sums);
                handed.next(g.steps);
            }
        }
        copies_wait<0>();
        for (; under_way > 0; under_way--) {
            sum += hand_on<PARTS>(b, handed.at, row, sums);
            handed.next(g.steps);
        }
        if (sums) bias[bias_segment_of(g, b.rank, number) * GRADIENT_SIDE + row] = sum;
    }
}

/* ---- Three warpgroups that multiply: each takes every third slot, three at most */

/* A thread's place: which of four neighbouring pixels are its, and where in their rows its two channels are. */
struct lane_place {
    int32_t warpgroup, lane;
    uint32_t channels;
};
__device__ inline lane_place lane_of(int32_t thread)
{
    const int32_t warp = thread >> 5 & 3, lane = thread & 31;
    return {thread >> 7, lane, static_cast<uint32_t>((4 * warp + (lane >> 3)) << 4 | (lane >> 2 & 1) << 3)};
}

/* Of 32 pixels, or the 16 that are left: where a thread's two channels are, of every fourth pixel. The same for all
 * taps, but for how far behind they are. */
template <int PRODUCTS>
__device__ inline void find_pixels(uint32_t (&at)[2 * PRODUCTS], const int32_t *rows, uint32_t first)
{
#pragma unroll
    for (int i = 0; i < 2 * PRODUCTS; i++) at[i] = first + static_cast<uint32_t>(rows[4 * i] * GRADIENT_F32_ROW);
}

/* 8 pixels of 16 channels, as A. */
__device__ inline void load_pixels(uint32_t (&a)[4], const uint32_t *at, uint32_t offset)
{
    load2(a[0], a[1], at[0] + offset);
    load2(a[2], a[3], at[1] + offset);
}

/* PRODUCTS times 8 pixels for SLOTS slots, in f32: each slot's sum is one of its own, added to the others by the
 * multiprocessor. While 8 pixels are multiplied, the next 8 are on their way from shared memory: nothing but their
 * split is between two products. */
template <int PRODUCTS, int SLOTS>
__device__ inline void add_step_f32(float (&sum)[3][32], const uint32_t (&at)[2 * PRODUCTS],
                                    const uint32_t (&offset)[3], uint32_t dy)
{
    float step[32];
    uint32_t next[4], a[4], low[4];
    load_pixels(next, at, offset[0]);
#pragma unroll
    for (int i = 0; i <= SLOTS * PRODUCTS; i++) {
        const int j = i % PRODUCTS;
        const uint32_t tile = dy + static_cast<uint32_t>(32 * j);
        if (i > 0) {
            products_wait<0>();
            pin(a);
            pin(low);
        }
        if (i > 0 && j == 0) {
            pin(step);
#pragma unroll
            for (int e = 0; e < 32; e++) sum[i / PRODUCTS - 1][e] += step[e];
        }
        if (i == SLOTS * PRODUCTS) break;
#pragma unroll
        for (int e = 0; e < 4; e++) low[e] = low_part(next[e]), a[e] = high_part(next[e]);
        products_begin();
        multiply(float(), step, low, tile_descriptor(tile), j > 0);
        multiply(float(), step, a, tile_descriptor(tile + GRADIENT_SIDE * 128), 1);
        multiply(float(), step, a, tile_descriptor(tile), 1);
        products_commit();
        if (i + 1 < SLOTS * PRODUCTS) load_pixels(next, at + 2 * ((i + 1) % PRODUCTS), offset[(i + 1) / PRODUCTS]);
    }
}

/* In TF32, which is cut far earlier: the sums stay in the tensor cores. */
template <int PRODUCTS, int SLOTS>
__device__ inline void add_step_tf32(float (&sum)[3][32], const uint32_t (&at)[2 * PRODUCTS],
                                     const uint32_t (&offset)[3], uint32_t dy)
{
    uint32_t next[SLOTS][4], a[SLOTS][4];
#pragma unroll
    for (int v = 0; v < SLOTS; v++) load_pixels(next[v], at, offset[v]);
#pragma unroll
    for (int j = 0; j < PRODUCTS; j++) {
        if (j > 0) products_wait<0>();
#pragma unroll
        for (int v = 0; v < SLOTS; v++) {
            pin(sum[v]);
            if (j > 0) pin(a[v]);
#pragma unroll
            for (int e = 0; e < 4; e++) a[v][e] = high_part(next[v][e]);
        }
        products_begin();
#pragma unroll
        for (int v = 0; v < SLOTS; v++)
            multiply(float(), sum[v], a[v], tile_descriptor(dy + static_cast<uint32_t>(32 * j)), 1);
        products_commit();
        if (j + 1 < PRODUCTS) {
#pragma unroll
            for (int v = 0; v < SLOTS; v++) load_pixels(next[v], at + 2 * (j + 1), offset[v]);
        }
    }
    products_wait<0>();
#pragma unroll
    for (int v = 0; v < SLOTS; v++) pin(sum[v]), pin(a[v]);
}

template <int PARTS, int PRODUCTS>
__device__ inline void add_step(float (&sum)[3][32], const int32_t *rows, uint32_t first, const uint32_t (&offset)[3],
                                int32_t slots, uint32_t dy)
{
    uint32_t at[2 * PRODUCTS];
    find_pixels<PRODUCTS>(at, rows, first);
    if constexpr (PARTS == 1) {
        if (slots == 3)
            add_step_tf32<PRODUCTS, 3>(sum, at, offset, dy);
        else if (slots == 2)
            add_step_tf32<PRODUCTS, 2>(sum, at, offset, dy);
        else if (slots == 1)
            add_step_tf32<PRODUCTS, 1>(sum, at, offset, dy);
    } else {
        if (slots == 3)
            add_step_f32<PRODUCTS, 3>(sum, at, offset, dy);
        else if (slots == 2)
            add_step_f32<PRODUCTS, 2>(sum, at, offset, dy);
        else if (slots == 1)
            add_step_f32<PRODUCTS, 1>(sum, at, offset, dy);
    }
}

template <int PARTS, bool CLUSTERS>
__device__ inline void multiply_units(const cutensor_gradient &g, const block_of &b, const gradient_operands &o)
{
    const lane_place l = lane_of(static_cast<int32_t>(threadIdx.x));
    ring_place step = {0, 0}, patch = {0, 0};
    for (int32_t u = b.first; u < b.last;) {
        const int32_t tile = CLUSTERS ? b.tile : divided(u, g.by_chunks);
        const int32_t end = CLUSTERS ? b.last : min(b.last, (tile + 1) * g.chunks);
        int32_t behind[3];
        const int32_t slots = find_slots(g, tile, l.warpgroup, behind);
        uint32_t offset[3];
#pragma unroll
        for (int v = 0; v < 3; v++) offset[v] = static_cast<uint32_t>(behind[v] * GRADIENT_F32_ROW);
        float sum[3][32];
#pragma unroll
        for (int v = 0; v < 3; v++)
#pragma unroll
            for (int i = 0; i < 32; i++) sum[v][i] = 0;
        for (; u < end; u = next_unit<CLUSTERS>(g, u)) {
            const unit_place unit = unit_at<CLUSTERS>(g, b, u);
            barrier_wait(b.patch_full + 8 * patch.at, patch.parity);
            const uint32_t from = b.patches + static_cast<uint32_t>(patch.at * g.patch_bytes) + l.channels;
            const int32_t *rows = at_address<int32_t>(b.rows) + patch.at * sizes<float>::CHUNK_MOST + (l.lane & 3);
            for (int32_t pixel = unit.pixel; pixel < unit.end; pixel += 32, rows += 32) {
                barrier_wait(b.step_full + 8 * step.at, step.parity);
                const uint32_t dy =
                    b.steps + static_cast<uint32_t>(same_in_warp(step.at) * GRADIENT_SIDE * 128 * PARTS);
                if (unit.end - pixel <= 16) /* what is left */
                    add_step<PARTS, 2>(sum, rows, from, offset, slots, dy);
                else
                    add_step<PARTS, 4>(sum, rows, from, offset, slots, dy);
                __syncwarp();
                if (l.lane == 0) barrier_arrive(b.step_free + 8 * step.at);
                step.next(g.steps);
            }
            __syncwarp();
            if (l.lane == 0) barrier_arrive(b.patch_free + 8 * patch.at);
            patch.next(g.patches);
        }
        if constexpr (CLUSTERS) barrier_of(2, GRADIENT_THREADS - 128); /* all have read what the sums overwrite */
        put_sums(CLUSTERS ? at_address<float>(b.steps) : o.partials + segment_of(b.rank, tile), sum, slots, l.warpgroup,
                 static_cast<int32_t>(threadIdx.x & 127));
    }
    end_multiplying<CLUSTERS>(g, b, o);
}

template <int PARTS, bool CLUSTERS>
__global__ void __launch_bounds__(GRADIENT_THREADS, 1)
    weight_gradient(const cutensor_gradient g, const gradient_operands o)
{
    const block_of b = open_block<float, CLUSTERS>(g);
    const int32_t thread = static_cast<int32_t>(threadIdx.x) - 384;
    if (thread < 0) {
        REGISTERS_MORE(160);
        multiply_units<PARTS, CLUSTERS>(g, b, o);
    } else {
        REGISTERS_LESS(32);
        if (thread < 64)
            load_dy<PARTS, CLUSTERS>(g, b, static_cast<const float *>(o.dy), o.bias, thread & 32);
        else
            load_x<float, CLUSTERS>(g, b, static_cast<const float *>(o.x), thread - 64);
        end_loading<CLUSTERS>();
    }
}

} // namespace

cnn_status cutensor_gradient_run(cuda_context *c, const cutensor_plan *p, const cutensor_gradients *of, bool reversed,
                                 cnn_error *err)
{
    const cuda_shape shape = gradient_shape("weight_gradient", p);
    float *bias = p->gradient.sums_bias && of->db ? of->partials + p->gradient.bias_at : nullptr;
    const gradient_operands o = {
        of->x,    of->dy, of->partials, bias, static_cast<float *>(of->dw), static_cast<float *>(of->db),
        reversed, of->add};
    if (cuda_has_half(p->bias.t.dtype)) return cutensor_gradient_half_run(c, p, of->x, of->dy, of->partials, err);
    const bool clusters = p->gradient.cluster > 1;
    if (p->gradient.parts == 1)
        return clusters ? cuda_launch(c, shape, err, weight_gradient<1, true>, p->gradient, o)
                        : cuda_launch(c, shape, err, weight_gradient<1, false>, p->gradient, o);
    return clusters ? cuda_launch(c, shape, err, weight_gradient<2, true>, p->gradient, o)
                    : cuda_launch(c, shape, err, weight_gradient<2, false>, p->gradient, o);
}
