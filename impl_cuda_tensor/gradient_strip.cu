/* gradient_strip.cu: BWD_W of f16 and bf16 in NHWC without strides, from the strip of positions of forward_strip.cu.
 *
 * Idea: dy's positions are laid out as x's are, zeros where no pixel is. Then dw of tap (i, j) is the product of dy's
 * rows, transposed, and x's rows from i*step*wide + j*step positions further on. dy goes into registers once for three
 * taps (ldmatrix transposes it), x stays in shared memory for all nine; two threads load both by bulk tensor copies.
 *
 * Work: a block has a tile, 64 output channels by 64 input channels of nine taps, and a share of all lines. Its sums
 * stay in the tensor cores; clusters and sum.cu add them up, as gradient.cu's. */
#include "impl_cuda_tensor/gradient_load.h"
#include "impl_cuda_tensor/tensor_map.h"

namespace
{

enum { MULTIPLIERS = GRADIENT_THREADS - 128 };

/* Its patches, of dy and x, are from `steps` on; `first`, `last`: its lines. */
__device__ inline block_of open_strip(const cutensor_gradient &g)
{
    block_of b = {};
    const int32_t blocks = g.share * g.cluster;
    b.steps = first_address();
    b.patch_full = b.steps + static_cast<uint32_t>(g.room);
    b.patch_free = b.patch_full + GRADIENT_PATCHES * 8;
    b.rank = static_cast<int32_t>(blockIdx.x);
    b.tile = b.rank / blocks;
    const int64_t block = b.rank - b.tile * blocks;
    b.first = static_cast<int32_t>(block * g.lines / blocks);
    b.last = static_cast<int32_t>((block + 1) * g.lines / blocks);
    if (threadIdx.x == 0) {
        for (uint32_t i = 0; i < static_cast<uint32_t>(g.patches); i++) {
            barrier_init(b.patch_full + 8 * i, 2);
            barrier_init(b.patch_free + 8 * i, MULTIPLIERS / 32);
        }
        barriers_are_made();
    }
    __syncthreads();
    return b;
}

__device__ inline int32_t sixteens(int32_t positions) { return (positions + 15) & ~15; }

/* ---- Two threads that load: one the lines of dy, one those of x */

/* So many lines from this one on, at this channel, from this column on; `row`: that of an image's first line. */
__device__ inline void load_lines(const cutensor_window &w, const tensor_map &map, uint32_t to, int32_t line,
                                  int32_t lines, int32_t row, int32_t column, int32_t channel, uint32_t full)
{
    int32_t n = divided(line, w.by_high), at = line - n * w.high + row;
    for (int32_t i = 0; i < lines; i++, to += static_cast<uint32_t>(w.wide * 128)) {
        copy_line(to, map, n, at, column, channel, full);
        if (++at == w.high + row) at = row, n++;
    }
}

__device__ inline void load_patches(const cutensor_gradient &g, const block_of &b, const tensor_map &x,
                                    const tensor_map &dy, bool of_dy)
{
    const cutensor_window &w = g.window;
    const tile_place tile = tile_at(g, b.tile);
    const int32_t channel = slot_at(g, tile, 0).c, images = g.lines / w.high;
    ring_place ring = {0, 1};
    for (int32_t line = b.first; line < b.last; line += g.chunk) {
        const int32_t lines = min(g.chunk, b.last - line);
        const uint32_t full = b.patch_full + 8 * ring.at;
        const uint32_t to = b.steps + static_cast<uint32_t>(ring.at * g.patch_bytes);
        barrier_wait(b.patch_free + 8 * ring.at, ring.parity);
        if (of_dy) {
            barrier_expect(full, (lines + g.zero_lines) * w.wide * 128);
            load_lines(w, dy, to, line, lines, 0, 0, tile.k, full);
            for (int32_t i = 0; i < g.zero_lines; i++) /* behind the last image */
                copy_line(to + static_cast<uint32_t>((lines + i) * w.wide * 128), dy, images, 0, 0, tile.k, full);
        } else {
            const int32_t rows = sixteens(lines * w.wide) + patch_reach(w), count = (rows + w.wide - 1) / w.wide;
            barrier_expect(full, count * w.wide * 128);
            load_lines(w, x, to + static_cast<uint32_t>(g.dy_rows * 128), line, count, -w.pad_h, -w.pad_w, channel,
                       full);
        }
        ring.next(g.patches);
    }
}

/* ---- Three warpgroups that multiply: each takes every third slot, three at most */

/* Which row of 16 positions a thread brings to load_columns(), and which place of 8 channels there. */
struct lane_place {
    int32_t position;
    uint32_t place;
};
__device__ inline lane_place lane_of(int32_t thread)
{
    const int32_t warp = thread >> 5 & 3, lane = thread & 31;
    return {(lane >> 4) * 8 + (lane & 7), static_cast<uint32_t>(2 * warp + (lane >> 3 & 1))};
}

/* 16 * COUNT positions of 16 output channels, as A of so many products. */
template <int COUNT> __device__ inline void load_dy(uint32_t (&a)[16], uint32_t dy, const lane_place &l)
{
    const uint32_t turned = (l.place ^ static_cast<uint32_t>(l.position & 7)) << 4;
#pragma unroll
    for (int j = 0; j < COUNT; j++)
        load_columns(a + 4 * j, dy + static_cast<uint32_t>((l.position + 16 * j) * 128) + turned);
}

template <typename T, int COUNT, int SLOTS>
__device__ inline void multiply_positions(float (&sum)[3][32], const uint32_t (&a)[16], const uint64_t (&x)[3],
                                          uint64_t further)
{
    products_begin();
#pragma unroll
    for (int v = 0; v < SLOTS; v++)
#pragma unroll
        for (int j = 0; j < COUNT; j++) multiply_by_rows(T(), sum[v], a + 4 * j, x[v] + further + 128 * j, 1);
    products_commit();
}

template <int SLOTS> __device__ inline void products_done(float (&sum)[3][32], uint32_t (&a)[16])
{
    products_wait<0>();
#pragma unroll
    for (int v = 0; v < SLOTS; v++) pin(sum[v]);
    pin(a);
}

/* `count` positions, a multiple of 16, 64 at a time; while these are multiplied, the next ones are loaded. */
template <typename T, int SLOTS>
__device__ inline void add_patch(float (&sum)[3][32], uint32_t dy, const uint64_t (&x)[3], int32_t count,
                                 const lane_place &l)
{
    uint32_t a[2][16];
    int32_t at = 0;
    if (count >= 64) load_dy<4>(a[0], dy, l);
    for (; at + 128 <= count; at += 128) {
        const uint64_t further = static_cast<uint64_t>(at) * 8;
        multiply_positions<T, 4, SLOTS>(sum, a[0], x, further);
        load_dy<4>(a[1], dy + static_cast<uint32_t>((at + 64) * 128), l);
        products_done<SLOTS>(sum, a[0]);
        multiply_positions<T, 4, SLOTS>(sum, a[1], x, further + 512);
        if (at + 192 <= count) load_dy<4>(a[0], dy + static_cast<uint32_t>((at + 128) * 128), l);
        products_done<SLOTS>(sum, a[1]);
    }
    if (at + 64 <= count) {
        multiply_positions<T, 4, SLOTS>(sum, a[0], x, static_cast<uint64_t>(at) * 8);
        products_done<SLOTS>(sum, a[0]);
        at += 64;
    }
    for (; at < count; at += 16) {
        load_dy<1>(a[0], dy + static_cast<uint32_t>(at * 128), l);
        multiply_positions<T, 1, SLOTS>(sum, a[0], x, static_cast<uint64_t>(at) * 8);
        products_done<SLOTS>(sum, a[0]);
    }
}

template <typename T>
__device__ inline void multiply_lines(const cutensor_gradient &g, const block_of &b, float *partials)
{
    const int32_t thread = static_cast<int32_t>(threadIdx.x), warpgroup = same_in_warp(thread >> 7);
    const tile_place tile = tile_at(g, b.tile);
    const lane_place l = lane_of(thread);
    const int32_t slots = max(0, slots_of(g, tile) - warpgroup + 2) / 3;
    ring_place ring = {0, 0};
    float sum[3][32];
#pragma unroll
    for (int v = 0; v < 3; v++)
#pragma unroll
        for (int i = 0; i < 32; i++) sum[v][i] = 0;
    for (int32_t line = b.first; line < b.last; line += g.chunk) {
        const int32_t count = sixteens(min(g.chunk, b.last - line) * g.window.wide);
        const uint32_t dy = b.steps + static_cast<uint32_t>(ring.at * g.patch_bytes);
        uint64_t x[3];
#pragma unroll
        for (int v = 0; v < 3; v++) {
            const int32_t tap = slot_at(g, tile, warpgroup + 3 * v).tap;
            const int32_t row = g.dy_rows + (tap < 0 ? 0 : tap_offset(g.window, tap));
            x[v] = tile_descriptor(dy + static_cast<uint32_t>(row * 128));
        }
        barrier_wait(b.patch_full + 8 * ring.at, ring.parity);
        if (slots == 3)
            add_patch<T, 3>(sum, dy, x, count, l);
        else if (slots == 2)
            add_patch<T, 2>(sum, dy, x, count, l);
        else if (slots == 1)
            add_patch<T, 1>(sum, dy, x, count, l);
        __syncwarp();
        if ((thread & 31) == 0) barrier_arrive(b.patch_free + 8 * ring.at);
        ring.next(g.patches);
    }
    if (g.cluster > 1) {
        barrier_of(2, MULTIPLIERS); /* all have read what the sums overwrite */
        put_sums(at_address<float>(b.steps), sum, slots, warpgroup, thread & 127);
    } else
        put_sums(partials + static_cast<size_t>(b.rank) * GRADIENT_SEGMENT, sum, slots, warpgroup, thread & 127);
}

template <typename T>
__global__ void __launch_bounds__(GRADIENT_THREADS, 1)
    weight_gradient_strip(const cutensor_gradient g, const __grid_constant__ tensor_map x,
                          const __grid_constant__ tensor_map dy, float *partials)
{
    const block_of b = open_strip(g);
    if (threadIdx.x < MULTIPLIERS) {
        REGISTERS_MORE(160);
        multiply_lines<T>(g, b, partials);
    } else {
        REGISTERS_LESS(32);
        if (threadIdx.x == MULTIPLIERS || threadIdx.x == MULTIPLIERS + 32)
            load_patches(g, b, x, dy, threadIdx.x == MULTIPLIERS);
        __syncwarp();
    }
    next_may_start();
    if (g.cluster == 1) return;
    cluster_barrier();
    if (threadIdx.x < MULTIPLIERS) add_blocks(g, b, partials);
    cluster_barrier(); /* the others have read this block's */
}

} // namespace

cnn_status cutensor_gradient_strip_run(cuda_context *c, const cutensor_plan *p, const void *x, const void *dy,
                                       void *partials, cnn_error *err)
{
    const cutensor_gradient &g = p->gradient;
    const cutensor_window &w = g.window;
    const int32_t images = g.lines / w.high;
    const tensor_sizes of_x = {images, w.ih, w.iw, g.group_ic}, of_dy = {images, w.oh, w.ow, g.group_oc};
    tensor_map x_map, dy_map;
    cnn_status status = map_images(x, &of_x, w.wide, &x_map, err);
    if (status == CNN_OK) status = map_images(dy, &of_dy, w.wide, &dy_map, err);
    if (status != CNN_OK) return status;
    const cuda_shape shape = gradient_shape("weight_gradient_strip", p);
    const cnn_dtype dtype = p->bias.t.dtype;
    float *sums = static_cast<float *>(partials);
    return dtype == CNN_F16 || dtype == CNN_F16_F16_F32
               ? cuda_launch(c, shape, err, weight_gradient_strip<__half>, g, x_map, dy_map, sums)
               : cuda_launch(c, shape, err, weight_gradient_strip<__nv_bfloat16>, g, x_map, dy_map, sums);
}
