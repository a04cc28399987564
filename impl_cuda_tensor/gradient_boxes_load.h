/* gradient_boxes_load.h: a block of gradient_boxes.cu, its share of the work, and the warps that load for it (C++). */
#ifndef IMPL_CUDA_TENSOR_GRADIENT_BOXES_LOAD_H
#define IMPL_CUDA_TENSOR_GRADIENT_BOXES_LOAD_H

#include "impl_cuda_tensor/gradient_boxes.h"
#include "impl_cuda_tensor/tensor_map.h"
#include "impl_cuda_tensor/window.h"

namespace
{

struct product_block {
    uint32_t steps, tiles;            /* boxes as they come; B's tiles */
    uint32_t full, free;              /* of a step's boxes */
    uint32_t tile_full, tile_free;    /* of a tile of B */
    uint32_t sums;                    /* of splitters */
    int32_t m, n, split, first, last; /* its tile's first channels of A and of B; its steps */
};

/* A step's boxes: of ROWS 32 pixels of 32 channels each, a pixel a row; of PLANES a factor's all, a channel a row.
 * Warps that load A's take turns, and so do those that load B's. */
template <int SOURCE, int HIGH, int WIDE> struct step_boxes {
    static constexpr bool PLANES = SOURCE == CUTENSOR_PLANES;
    static constexpr int32_t A = PLANES ? 1 : HIGH / 32, B = PLANES ? 1 : WIDE / 32;
    static constexpr int32_t A_WARPS = PLANES ? 1 : A > 4 ? 3 : 2, WARPS = PLANES ? 2 : PRODUCT_LOADERS;
};

template <int SOURCE, int PARTS, int HIGH, int WIDE>
__device__ inline product_block open_product(const cutensor_product &g)
{
    product_block b;
    const int32_t unit = static_cast<int32_t>(blockIdx.x);
    const int32_t split = unit / g.tiles, tile = unit - split * g.tiles, line = tile / g.across;
    b.m = line * HIGH;
    b.n = (tile - line * g.across) * WIDE;
    b.split = split;
    b.first = static_cast<int32_t>(static_cast<int64_t>(split) * g.steps / g.splits);
    b.last = static_cast<int32_t>((static_cast<int64_t>(split) + 1) * g.steps / g.splits);
    b.steps = first_address();
    b.tiles = b.steps + static_cast<uint32_t>(g.depth * (HIGH + WIDE) * CUTENSOR_ROW_BYTES);
    b.full = b.tiles + PRODUCT_TILES * WIDE * CUTENSOR_ROW_BYTES * PARTS;
    b.free = b.full + PRODUCT_STEPS * 8;
    b.tile_full = b.free + PRODUCT_STEPS * 8;
    b.tile_free = b.tile_full + PRODUCT_TILES * 8;
    b.sums = b.tile_free + PRODUCT_TILES * 8;
    if (threadIdx.x == 0) {
        for (uint32_t i = 0; i < static_cast<uint32_t>(g.depth); i++) {
            barrier_init(b.full + 8 * i, step_boxes<SOURCE, HIGH, WIDE>::WARPS);
            barrier_init(b.free + 8 * i, (PRODUCT_MULTIPLIERS + PRODUCT_SPLITTERS) / 32);
        }
        for (uint32_t i = 0; i < PRODUCT_TILES; i++) {
            barrier_init(b.tile_full + 8 * i, PRODUCT_SPLITTERS / 32);
            barrier_init(b.tile_free + 8 * i, PRODUCT_MULTIPLIERS / 32);
        }
        barriers_are_made();
    }
    __syncthreads();
    return b;
}

/* ---- Warps that load, a thread of each: one alone takes 300 clocks a box, measured on an H200, more than a tile's
 * products. */

/* A box of x: its first channel, and how far down and right its tap is. */
struct tap_box {
    int32_t channel, down, right;
};
__device__ inline tap_box tap_box_of(const cutensor_product &g, int32_t box)
{
    const int32_t of_x = min(box, g.taps * g.by_boxes.d - 1), tap = divided(of_x, g.by_boxes);
    const int32_t i = divided(tap, g.window.by_kw), j = tap - i * g.window.kw;
    return {(of_x - tap * g.by_boxes.d) * CUTENSOR_BOX_PIXELS, i * g.window.step_h, j * g.window.step_w};
}

/* A step's first pixel, of an image, or of all. */
struct step_pixel {
    int32_t n, pixel;
};
__device__ inline step_pixel pixel_of_step(const cutensor_product &g, int32_t step)
{
    const int32_t n = divided(step, g.by_image_steps);
    return {n, (step - n * g.by_image_steps.d) * CUTENSOR_BOX_PIXELS};
}

/* What a warp loads of a factor: every WARPS-th of its BOXES, from box `turn` on. `first`: the factor's first channel;
 * `at`: where it stands in a step. Maps count numbers of 16 bits, two to one of f32. */
struct loader {
    int32_t turn, first;
    uint32_t at, step_bytes;
};
template <int BOXES, int WARPS> __device__ inline uint32_t bytes_of(const loader &l, int32_t box_bytes)
{
    return static_cast<uint32_t>((BOXES - l.turn + WARPS - 1) / WARPS * box_bytes);
}
template <int BOXES, int WARPS>
__device__ inline void load_taps(const cutensor_product &g, const product_block &b, const tensor_map &map,
                                 const loader &l)
{
    constexpr int32_t BOX = 32 * CUTENSOR_ROW_BYTES, TURNS = (BOXES + WARPS - 1) / WARPS;
    const cutensor_window &w = g.window;
    tap_box mine[TURNS];
#pragma unroll
    for (int32_t k = 0; k < TURNS; k++) mine[k] = tap_box_of(g, l.first / CUTENSOR_BOX_PIXELS + l.turn + k * WARPS);
    const uint32_t bytes = bytes_of<BOXES, WARPS>(l, BOX);
    ring_place ring = {0, 1};
#pragma unroll 1 /* for 32 registers */
    for (int32_t step = b.first; step < b.last; step++) {
        const uint32_t full = b.full + 8 * ring.at;
        const uint32_t to = b.steps + static_cast<uint32_t>(ring.at) * l.step_bytes + l.at + l.turn * BOX;
        const pixel_place at = pixel_at(w, step * CUTENSOR_BOX_PIXELS);
        const int32_t row = at.p * w.mul_h - w.pad_h, column = at.q * w.mul_w - w.pad_w;
        barrier_wait(b.free + 8 * ring.at, ring.parity);
        barrier_expect(full, bytes);
#pragma unroll
        for (int32_t k = 0; k < TURNS; k++)
            if (l.turn + k * WARPS < BOXES)
                copy_tap(to + k * WARPS * BOX, map, at.n, row, column, 2 * mine[k].channel, mine[k].down, mine[k].right,
                         full);
        ring.next(g.depth);
    }
}
template <int SOURCE, int BOXES, int WARPS, int CHANNELS>
__device__ inline void load_channels_of(const cutensor_product &g, const product_block &b, const tensor_map &map,
                                        const loader &l)
{
    constexpr int32_t BOX = CHANNELS / BOXES * CUTENSOR_ROW_BYTES, TURNS = (BOXES + WARPS - 1) / WARPS;
    const uint32_t bytes = bytes_of<BOXES, WARPS>(l, BOX);
    ring_place ring = {0, 1};
#pragma unroll 1 /* for 32 registers */
    for (int32_t step = b.first; step < b.last; step++) {
        const uint32_t full = b.full + 8 * ring.at;
        const uint32_t to = b.steps + static_cast<uint32_t>(ring.at) * l.step_bytes + l.at + l.turn * BOX;
        const step_pixel at = pixel_of_step(g, step);
        barrier_wait(b.free + 8 * ring.at, ring.parity);
        barrier_expect(full, bytes);
        if constexpr (SOURCE == CUTENSOR_PLANES) {
            copy_line(to, map, 0, at.n, l.first, 2 * at.pixel, full);
        } else {
#pragma unroll
            for (int32_t k = 0; k < TURNS; k++) {
                const int32_t box = l.turn + k * WARPS;
                if (box < BOXES) copy_line(to + k * WARPS * BOX, map, 0, 0, at.pixel, 2 * (l.first + 32 * box), full);
            }
        }
        ring.next(g.depth);
    }
}

template <int SOURCE, int HIGH, int WIDE>
__device__ inline void load_pixels(const cutensor_product &g, const product_block &b, int32_t warp,
                                   const tensor_map &map_a, const tensor_map &map_b)
{
    using boxes = step_boxes<SOURCE, HIGH, WIDE>;
    constexpr uint32_t STEP = (HIGH + WIDE) * CUTENSOR_ROW_BYTES, OF_A = HIGH * CUTENSOR_ROW_BYTES;
    const bool by_taps = SOURCE == CUTENSOR_ROWS && g.source == CUTENSOR_TAPS;
    if (warp < boxes::A_WARPS) {
        const loader l = {warp, b.m, 0, STEP};
        if (by_taps && g.a_is_x)
            load_taps<boxes::A, boxes::A_WARPS>(g, b, map_a, l);
        else
            load_channels_of<SOURCE, boxes::A, boxes::A_WARPS, HIGH>(g, b, map_a, l);
    } else {
        const loader l = {warp - boxes::A_WARPS, b.n, OF_A, STEP};
        if (by_taps && !g.a_is_x)
            load_taps<boxes::B, boxes::WARPS - boxes::A_WARPS>(g, b, map_b, l);
        else
            load_channels_of<SOURCE, boxes::B, boxes::WARPS - boxes::A_WARPS, WIDE>(g, b, map_b, l);
    }
}

/* ---- A warpgroup that makes tiles of B: a channel a row, its 32 pixels in A's order */

/* Of 8 pixels, which one stands at place i: factor t of a product is pixel 2t, factor t+4 the next. */
__device__ inline constexpr int32_t pixel_at_place(int32_t i) { return 2 * (i & 3) | i >> 2; }

/* Pixels 8j to 8j+7 of a channel. */
template <int SOURCE> __device__ inline void read_channel(uint32_t (&v)[8], uint32_t boxes, int32_t channel, int32_t j)
{
    if constexpr (SOURCE == CUTENSOR_PLANES) {
#pragma unroll
        for (int32_t i = 0; i < 2; i++) {
            uint32_t four[4];
            load4(four, boxes + static_cast<uint32_t>(channel * 128 + (((2 * j + i) ^ (channel & 7)) << 4)));
#pragma unroll
            for (int32_t e = 0; e < 4; e++) v[4 * i + e] = four[e];
        }
    } else {
        const uint32_t box = boxes + static_cast<uint32_t>((channel >> 5) * 4096 + (channel & 3) * 4);
#pragma unroll
        for (int32_t p = 0; p < 8; p++)
            v[p] =
                *at_address<uint32_t>(box + static_cast<uint32_t>((8 * j + p) * 128 + (((channel >> 2 & 7) ^ p) << 4)));
    }
}

template <int PARTS, int WIDE>
__device__ inline void write_channel(const uint32_t (&v)[8], uint32_t tile, int32_t channel, int32_t j)
{
#pragma unroll
    for (int32_t i = 0; i < 2; i++) {
        const uint32_t to = tile + static_cast<uint32_t>(channel * 128 + (((2 * j + i) ^ (channel & 7)) << 4));
        uint32_t four[4];
#pragma unroll
        for (int32_t e = 0; e < 4; e++) four[e] = high_part(v[pixel_at_place(4 * i + e)]);
        store4(to, four);
        if constexpr (PARTS == 2) {
#pragma unroll
            for (int32_t e = 0; e < 4; e++) four[e] = low_part(v[pixel_at_place(4 * i + e)]);
            store4(to + WIDE * 128, four);
        }
    }
}

/* The sum of eight, by pairs. */
__device__ inline float sum_of_eight(const uint32_t (&v)[8])
{
    float sum[4];
#pragma unroll
    for (int32_t i = 0; i < 4; i++) sum[i] = __uint_as_float(v[2 * i]) + __uint_as_float(v[2 * i + 1]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Some pixels of a channel, QUARTERS * 8 from quarter `first` on: all are read before the first is written, so that the
 * reads are under way together. Returns the sum of them. */
template <int SOURCE, int PARTS, int WIDE, int QUARTERS>
__device__ inline float lay_out_pixels(uint32_t boxes, uint32_t tile, int32_t channel, int32_t first)
{
    uint32_t v[QUARTERS][8];
    float sum = 0;
#pragma unroll
    for (int32_t j = 0; j < QUARTERS; j++) read_channel<SOURCE>(v[j], boxes, channel, first + j);
#pragma unroll
    for (int32_t j = 0; j < QUARTERS; j++) {
        write_channel<PARTS, WIDE>(v[j], tile, channel, first + j);
        sum += sum_of_eight(v[j]);
    }
    return sum;
}

/* Where B is dy: the sums of its channels for the bias, by the blocks of A's first channels. SHARERS
 * threads have a channel's. */
template <int WIDE, int SHARERS>
__device__ inline void store_bias(const cutensor_product &g, const product_block &b, int32_t thread, float sum,
                                  float *bias)
{
    if (bias == nullptr || !g.a_is_x || b.m != 0) return;
    float *sums = at_address<float>(b.sums);
    sums[thread] = sum;
    barrier_of(1, PRODUCT_SPLITTERS);
    const int32_t channel = b.n + thread;
    if (thread >= WIDE || channel >= g.n) return;
#pragma unroll
    for (int32_t i = 1; i < SHARERS; i++) sum += sums[thread + i * WIDE];
    bias[static_cast<size_t>(b.split) * static_cast<size_t>(g.bias_row) + channel] = sum;
}

template <int SOURCE, int PARTS, int HIGH, int WIDE>
__device__ inline void make_tiles(const cutensor_product &g, const product_block &b, int32_t thread, float *bias)
{
    constexpr int32_t SHARERS = PRODUCT_SPLITTERS / WIDE, QUARTERS = 4 / SHARERS;
    const int32_t channel = thread % WIDE, first = thread / WIDE * QUARTERS;
    ring_place ring = {0, 0}, tile = {0, 1};
    float sum = 0;
    for (int32_t step = b.first; step < b.last; step++) {
        const uint32_t boxes = b.steps + static_cast<uint32_t>((ring.at * (HIGH + WIDE) + HIGH) * CUTENSOR_ROW_BYTES);
        const uint32_t to = b.tiles + static_cast<uint32_t>(tile.at * WIDE * CUTENSOR_ROW_BYTES * PARTS);
        barrier_wait(b.full + 8 * ring.at, ring.parity);
        barrier_wait(b.tile_free + 8 * tile.at, tile.parity);
        sum += lay_out_pixels<SOURCE, PARTS, WIDE, QUARTERS>(boxes, to, channel, first);
        stores_to_products();
        __syncwarp();
        if ((thread & 31) == 0) {
            barrier_arrive(b.tile_full + 8 * tile.at);
            barrier_arrive(b.free + 8 * ring.at);
        }
        ring.next(g.depth);
        tile.next(PRODUCT_TILES);
    }
    store_bias<WIDE, SHARERS>(g, b, thread, sum, bias);
}

} // namespace

#endif
