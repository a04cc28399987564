/* forward.cu: FWD and BWD_D as an implicit matrix product on warpgroup instructions.
 *
 * Idea: im2col without the columns. A block computes a tile, some consecutive output pixels by some output channels.
 * For 32 input channels at a time, one patch comes to shared memory: the input pixels of all taps, 128 bytes a row,
 * each row once. All taps then read their pixels there, at different rows, into registers, where a number of f32 is
 * split in two, and go from there into the tensor cores. The weights are the other factor, which the tensor cores read
 * from shared memory by themselves: tiles that weights.cu has laid out, one bulk copy a tap. One warp loads weights,
 * three load patches, two or three warpgroups multiply, and barriers in shared memory keep them apart.
 *
 * Sums: the tensor cores cut each sum to 24 bits instead of rounding it, which in a long sum leaves 2^-16. So (f32)
 * each step of 32 channels is a sum of its own, added to the others by the multiprocessor's own additions.
 *
 * Work: where tiles do not fill the device's waves, they are dealt out in pieces of 32 channels, as many to each block.
 * Whoever has a tile's first piece waits for the others' sums and adds them in order: the same bits in every run.
 * Blocks that are waited for start first and wait for nobody.
 *
 * Where a patch does not fit, or holds more than is read (strides), it is gathered anew for each tap. */
#include "impl_cuda_tensor/forward.h"
#include "impl_cuda_tensor/window.h"

namespace
{

struct operands {
    const float *in, *bias;
    const unsigned char *weights;
    float *out, *partials;
    unsigned *flags;
};

/* What all of a block's threads know. */
struct block_of {
    uint32_t weights, patches, table, weights_full, weights_free, patch_full, patch_free;
    int32_t rank, first, last; /* its place among the blocks; its pieces, counted over all tiles */
};

/* The pieces of the block of this rank begin here, and end where the next one's begin. */
__device__ inline int32_t first_piece(const cutensor_forward &f, int32_t rank)
{
    return static_cast<int32_t>(static_cast<int64_t>(rank) * f.units / static_cast<int32_t>(gridDim.x)) * f.unit;
}

template <int PARTS, int WARPGROUPS, int WIDE> __device__ inline block_of open_block(const cutensor_forward &f)
{
    block_of b;
    b.weights = first_address();
    b.patches = b.weights + FORWARD_STEPS * WIDE * 128 * PARTS;
    b.table = b.patches + static_cast<uint32_t>(f.buffers * f.buffer_bytes);
    b.weights_full = b.table + CUTENSOR_PATCH_MOST * 4;
    b.weights_free = b.weights_full + FORWARD_STEPS * 8;
    b.patch_full = b.weights_free + FORWARD_STEPS * 8;
    b.patch_free = b.patch_full + FORWARD_PATCHES * 8;
    b.rank = static_cast<int32_t>(gridDim.x - 1 - blockIdx.x);
    b.first = first_piece(f, b.rank);
    b.last = first_piece(f, b.rank + 1);
    if (threadIdx.x == 0) {
        for (uint32_t i = 0; i < FORWARD_STEPS; i++) {
            barrier_init(b.weights_full + 8 * i, 1);
            barrier_init(b.weights_free + 8 * i, WARPGROUPS * 4);
        }
        for (uint32_t i = 0; i < static_cast<uint32_t>(f.buffers); i++) {
            barrier_init(b.patch_full + 8 * i, FORWARD_LOADERS);
            barrier_init(b.patch_free + 8 * i, WARPGROUPS * 4);
        }
        barriers_are_made();
    }
    __syncthreads();
    return b;
}

/* Piece c: of which tile, and there which one. */
struct piece_place {
    int32_t tile, piece;
};
__device__ inline piece_place piece_at(const cutensor_forward &f, int32_t c)
{
    const int32_t tile = divided(c, f.by_pieces);
    return {tile, c - tile * f.pieces};
}

/* ---- One thread that loads weights */
template <int PARTS, int WIDE>
__device__ inline void load_weights(const cutensor_forward &f, const block_of &b, const unsigned char *weights)
{
    constexpr int STEP = WIDE * 128 * PARTS;
    ring_place ring = {0, 1};
    for (int32_t c = b.first; c < b.last; c++) {
        const piece_place at = piece_at(f, c);
        const int32_t column = at.tile - divided(at.tile, f.by_tiles) * f.by_tiles.d;
        const unsigned char *from = weights + (static_cast<size_t>(column) * f.chunks * f.taps +
                                               static_cast<size_t>(f.taps_at_once > 1 ? at.piece * f.taps : at.piece)) *
                                                  STEP;
        for (int32_t tap = 0; tap < f.taps_at_once; tap++, from += STEP) {
            barrier_wait(b.weights_free + 8 * ring.at, ring.parity);
            barrier_expect(b.weights_full + 8 * ring.at, STEP);
            copy_bulk(b.weights + ring.at * STEP, from, STEP, b.weights_full + 8 * ring.at);
            ring.next(FORWARD_STEPS);
        }
    }
}

/* ---- 96 threads that load patches */

/* Of each of its rows, the input pixel's place; -1: zeros. Rows of a patch for all taps are neighbours in the
 * padded input; of one for a tap, the tile's pixels. */
__device__ inline void make_table(const cutensor_forward &f, int32_t *table, int32_t thread, int32_t first_pixel,
                                  int32_t tap, int32_t rows)
{
    const int32_t first = patch_row(f.window, first_pixel), images = divided(f.pixels, f.window.by_plane);
    for (int32_t i = thread; i < rows; i += FORWARD_LOADERS) {
        int32_t pixel = -1;
        if (f.patched)
            pixel = pixel_of_row(f.window, images, first + i);
        else if (first_pixel + i < f.pixels)
            pixel = pixel_of_tap(f.window, first_pixel + i, tap);
        table[i] = pixel < 0 ? -1 : place_of(f.in, pixel);
    }
}

/* Its rows times 8 places of 16 bytes, place c of row r at c ^ r%8: so that threads that read the same place of 8 rows
 * do not wait for one another. A thread takes every 12th row, whose r%8 is the last one's with one bit turned. */
__device__ inline void load_patch(const int32_t *table, int32_t thread, int32_t rows, uint32_t to, const char *from,
                                  bool inside)
{
    const int32_t place = thread & 7, row = thread >> 3;
    uint32_t even = to + static_cast<uint32_t>(row * 128 + ((place ^ (row & 7)) << 4));
    uint32_t odd = even + 1536 + ((place ^ row) & 4 ? -64 : 64);
    for (int32_t r = row; r < rows; r += 96, even += 12288, odd += 12288) {
        int32_t at[8];
#pragma unroll
        for (int u = 0; u < 8; u++) at[u] = r + 12 * u < rows ? table[r + 12 * u] : -2;
#pragma unroll
        for (int u = 0; u < 8; u++) {
            const bool there = at[u] >= 0 && inside;
            if (at[u] != -2)
                copy16((u & 1 ? odd : even) + static_cast<uint32_t>((u >> 1) * 3072),
                       from + (static_cast<size_t>(there ? at[u] : 0) << 4), there ? 16 : 0);
        }
    }
}

/* The same number by number: a warp takes 8 rows, which are mostly neighbours in memory, of 4 channels at once. `left`:
 * channels of the group from here on. */
__device__ inline void load_patch_singly(const int32_t *table, int32_t thread, int32_t rows, uint32_t to,
                                         const float *from, int32_t channel, int32_t left)
{
    const int32_t lane = thread & 31, deep = lane >> 3;
    for (int32_t r = (thread >> 5) * 8 + (lane & 7); r < rows; r += FORWARD_LOADERS / 4) {
        const int32_t at = table[r];
        const float *pixel = from + (at < 0 ? 0 : at) + static_cast<int64_t>(deep) * channel;
        const uint32_t row = to + static_cast<uint32_t>(r * 128 + deep * 4), turn = static_cast<uint32_t>(r & 7) << 4;
#pragma unroll
        for (int32_t q = 0; q < 8; q++, pixel += 4 * static_cast<int64_t>(channel)) {
            const bool there = at >= 0 && 4 * q + deep < left;
            copy4(row + ((static_cast<uint32_t>(q) << 4) ^ turn), there ? pixel : from, there ? 4 : 0);
        }
    }
}

template <int TALL>
__device__ inline void load_patches(const cutensor_forward &f, const block_of &b, const float *in, int32_t thread)
{
    int32_t *table = at_address<int32_t>(b.table);
    int32_t tile = -1, rows = TALL;
    ring_place ring = {0, 1};
    for (int32_t c = b.first; c < b.last; c++) {
        const piece_place at = piece_at(f, c);
        const int32_t line = divided(at.tile, f.by_tiles), column = at.tile - line * f.by_tiles.d;
        const int32_t chunk = divided(at.piece, f.by_steps), tap = at.piece - chunk * f.by_steps.d;
        if (at.tile != tile || !f.patched) {
            const int32_t pixel = line * TALL, end = min(pixel + TALL, f.pixels) - 1;
            if (f.patched) rows = patch_row(f.window, end) - patch_row(f.window, pixel) + patch_reach(f.window) + 1;
            tile = at.tile;
            barrier_of(1, FORWARD_LOADERS);
            make_table(f, table, thread, pixel, tap, rows);
            barrier_of(1, FORWARD_LOADERS);
        }
        barrier_wait(b.patch_free + 8 * ring.at, ring.parity);
        const int32_t first = divided(column, f.by_group_tiles) * f.in.channels, channel = chunk * CUTENSOR_K;
        const uint32_t to = b.patches + static_cast<uint32_t>(ring.at * f.buffer_bytes);
        if (f.in.fours) {
            const bool inside = channel + 4 * (thread & 7) < f.in.channels;
            load_patch(table, thread, rows, to,
                       reinterpret_cast<const char *>(in + first + (inside ? channel + 4 * (thread & 7) : 0)), inside);
        } else
            load_patch_singly(table, thread, rows, to, in + place_of_channel(f.in, first + channel), f.in.channel,
                              f.in.channels - channel);
        barrier_arrive_after_copies(b.patch_full + 8 * ring.at);
        ring.next(f.buffers);
    }
}

/* ---- Warpgroups that multiply */

/* What a thread holds of a tile: of HIGH times 64 rows the rows `row(b, h)`, and of them 4 neighbouring channels of
 * each
 * 16. Rows and channels are in an order that keeps shared memory free of conflicts. */
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

/* 32 channels of two rows of a patch, as A of four products. */
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
__device__ inline void store_pixel(const cutensor_forward &f, const float *bias, float *to, int32_t channel, float4 v)
{
    const float values[4] = {v.x, v.y, v.z, v.w};
    if (channel + 4 <= f.group_oc && (f.oc | f.group_oc) % 4 == 0 && !f.add) {
        if (bias != nullptr) v = float4{v.x + bias[0], v.y + bias[1], v.z + bias[2], v.w + bias[3]};
        *reinterpret_cast<float4 *>(to) = v;
        return;
    }
#pragma unroll
    for (int e = 0; e < 4; e++) {
        if (channel + e >= f.group_oc) continue;
        const float with = bias != nullptr ? values[e] + bias[e] : values[e];
        to[e] = f.add ? to[e] + with : with;
    }
}

/* Of a tile in NHWC, what a thread holds. `first`: the group's first channel. */
template <int HIGH, int WIDE>
__device__ inline void store_pixels(const cutensor_forward &f, const operands &o, const float (&sum)[HIGH * WIDE / 2],
                                    const lane_place &l, int32_t pixel, int32_t first, int32_t channel)
{
#pragma unroll
    for (int b = 0; b < HIGH; b++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int32_t m = pixel + row_of<HIGH>(l, b, h);
            if (m >= f.pixels) continue;
            float *to = o.out + static_cast<size_t>(m) * f.oc + first + channel;
#pragma unroll
            for (int i = 0; i < WIDE / 16; i++) {
                const float *v = sum + b * (WIDE / 2) + 8 * i + 2 * h;
                store_pixel(f, f.has_bias ? o.bias + first + channel + 16 * i : nullptr, to + 16 * i, channel + 16 * i,
                            float4{v[0], v[1], v[4], v[5]});
            }
        }
}

/* In NCHW, channel by channel: a warp writes 8 neighbouring pixels of 4 of them. */
template <int HIGH, int WIDE>
__device__ inline void store_planes(const cutensor_forward &f, const operands &o, const float (&sum)[HIGH * WIDE / 2],
                                    const lane_place &l, int32_t pixel, int32_t first, int32_t channel)
{
    const int32_t plane = f.window.by_plane.d;
    float *to[HIGH][2];
#pragma unroll
    for (int b = 0; b < HIGH; b++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int32_t m = pixel + row_of<HIGH>(l, b, h), n = divided(min(m, f.pixels - 1), f.window.by_plane);
            to[b][h] = m < f.pixels
                           ? o.out + (static_cast<size_t>(n) * f.oc + first + channel) * plane + (m - n * plane)
                           : nullptr;
        }
#pragma unroll
    for (int i = 0; i < WIDE / 16; i++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int32_t further = 16 * i + e;
            if (channel + further >= f.group_oc) continue;
            const float bias = f.has_bias ? o.bias[first + channel + further] : 0.0f;
            const int64_t at = static_cast<int64_t>(further) * plane;
#pragma unroll
            for (int b = 0; b < HIGH; b++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const float v = sum[b * (WIDE / 2) + 8 * i + 2 * h + (e >> 1) * 4 + (e & 1)] + bias;
                    if (to[b][h] != nullptr) to[b][h][at] = f.add ? to[b][h][at] + v : v;
                }
        }
}

template <int HIGH, int WIDE>
__device__ inline void store_tile(const cutensor_forward &f, const operands &o, const float (&sum)[HIGH * WIDE / 2],
                                  const lane_place &l, int32_t tile, int32_t pixel)
{
    const int32_t column = tile - divided(tile, f.by_tiles) * f.by_tiles.d, group = divided(column, f.by_group_tiles);
    const int32_t channel = (column - group * f.group_tiles) * WIDE + 4 * l.t, first = group * f.group_oc;
    if (f.nchw)
        store_planes<HIGH, WIDE>(f, o, sum, l, pixel, first, channel);
    else
        store_pixels<HIGH, WIDE>(f, o, sum, l, pixel, first, channel);
}

/* From tap to tap: how many rows of the patch further. */
struct tap_walk {
    int32_t offset, column;
    __device__ inline void next(const cutensor_window &w)
    {
        offset += w.step_w;
        if (++column == w.kw) column = 0, offset += w.step_h * w.wide - w.kw * w.step_w;
    }
};

struct rings {
    ring_place weights, patch;
};

/* n pieces of a tile in f32. Each step's sum is drained at once: where sums under way are read in a later round, the
 * compiler makes the products wait for one another. */
template <int HIGH, int WIDE>
__device__ inline void add_pieces_f32(const cutensor_forward &f, const block_of &b, const int32_t (&base)[HIGH][2],
                                      int32_t n, rings &r, float (&sum)[HIGH * WIDE / 2])
{
    constexpr int N = WIDE / 2, STEP = WIDE * 128 * 2;
    const int32_t t = static_cast<int32_t>(threadIdx.x & 3);
    const bool first_lane = (threadIdx.x & 31) == 0;
    float step[HIGH][N];
    uint32_t a[HIGH][16], low[HIGH][16];
#pragma unroll
    for (int i = 0; i < HIGH * N; i++) sum[i] = 0;
    for (int32_t k = 0; k < n; k++) {
        barrier_wait(b.patch_full + 8 * r.patch.at, r.patch.parity);
        const uint32_t rows = b.patches + static_cast<uint32_t>(r.patch.at * f.buffer_bytes);
        tap_walk walk = {0, 0};
        for (int32_t tap = 0; tap < f.taps_at_once; tap++, walk.next(f.window)) {
            barrier_wait(b.weights_full + 8 * r.weights.at, r.weights.parity);
            const uint64_t tile = tile_descriptor(b.weights + r.weights.at * STEP);
#pragma unroll
            for (int u = 0; u < HIGH; u++) {
                load_rows(a[u], rows, base[u][0] + walk.offset, base[u][1] + walk.offset, t);
#pragma unroll
                for (int i = 0; i < 16; i++) low[u][i] = low_part(a[u][i]), a[u][i] = high_part(a[u][i]);
                products_begin();
#pragma unroll
                for (int j = 0; j < 4; j++) { /* the small ones first */
                    multiply(step[u], low[u] + 4 * j, tile + 2 * j, j > 0);
                    multiply(step[u], a[u] + 4 * j, tile + WIDE * 8 + 2 * j, 1);
                }
#pragma unroll
                for (int j = 0; j < 4; j++) multiply(step[u], a[u] + 4 * j, tile + 2 * j, 1);
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
            if (first_lane) barrier_arrive(b.weights_free + 8 * r.weights.at);
            r.weights.next(FORWARD_STEPS);
        }
        __syncwarp();
        if (first_lane) barrier_arrive(b.patch_free + 8 * r.patch.at);
        r.patch.next(f.buffers);
    }
}

/* The same in TF32, which is cut far earlier: sums stay in the tensor cores, and products of one half run while the
 * other half is loaded. */
template <int HIGH, int WIDE>
__device__ inline void add_pieces_tf32(const cutensor_forward &f, const block_of &b, const int32_t (&base)[HIGH][2],
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
        for (int32_t tap = 0; tap < f.taps_at_once; tap++, walk.next(f.window)) {
            barrier_wait(b.weights_full + 8 * r.weights.at, r.weights.parity);
            const uint64_t tile = tile_descriptor(b.weights + r.weights.at * STEP);
#pragma unroll
            for (int u = 0; u < HIGH; u++) {
                products_wait<HIGH - 1>();
                pin(all[u]);
                pin(a[u]);
                if (u == HIGH - 1 && before >= 0 && first_lane) barrier_arrive(b.weights_free + 8 * before);
                load_rows(a[u], rows, base[u][0] + walk.offset, base[u][1] + walk.offset, t);
#pragma unroll
                for (int i = 0; i < 16; i++) a[u][i] = high_part(a[u][i]);
                products_begin();
#pragma unroll
                for (int j = 0; j < 4; j++) multiply(all[u], a[u] + 4 * j, tile + 2 * j, 1);
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

template <int PARTS, int WARPGROUPS, int HIGH, int WIDE>
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
                base[u][h] =
                    f.patched ? patch_row(f.window, min(pixel + row, f.pixels - 1)) - patch_row(f.window, pixel) : row;
            }
        if constexpr (PARTS == 2)
            add_pieces_f32<HIGH, WIDE>(f, b, base, n, r, sum);
        else
            add_pieces_tf32<HIGH, WIDE>(f, b, base, n, r, sum);
        if (at.piece > 0)
            leave_partials(o, sum, THREADS, b.rank);
        else {
            if (n < f.pieces) add_partials(f, o, sum, THREADS, b.rank, at.tile);
            store_tile<HIGH, WIDE>(f, o, sum, l, at.tile, pixel);
        }
        c += n;
    }
}

template <int PARTS, int WARPGROUPS, int HIGH, int WIDE>
__global__ void __launch_bounds__(WARPGROUPS * 128 + 128, 1) implicit_gemm(const cutensor_forward f, const operands o)
{
    const block_of b = open_block<PARTS, WARPGROUPS, WIDE>(f);
    const int32_t thread = static_cast<int32_t>(threadIdx.x) - WARPGROUPS * 128;
    if (thread < 0) {
        REGISTERS_MORE(WARPGROUPS == 2 ? 232 : 160);
        wait_for_previous();
        multiply_tiles<PARTS, WARPGROUPS, HIGH, WIDE>(f, b, o);
    } else {
        REGISTERS_LESS(WARPGROUPS == 2 ? 40 : 32);
        if (thread >= 32) load_patches<WARPGROUPS * HIGH * 64>(f, b, o.in, thread - 32);
        if (thread == 0) {
            wait_for_previous();
            load_weights<PARTS, WIDE>(f, b, o.weights);
        }
    }
}

} // namespace

cnn_status cutensor_forward_run(cuda_context *c, const cutensor_plan *p, const void *in, const void *weights,
                                const void *bias, void *out, void *partials, void *flags, cnn_error *err)
{
    const operands o = {
        static_cast<const float *>(in), static_cast<const float *>(bias), static_cast<const unsigned char *>(weights),
        static_cast<float *>(out),      static_cast<float *>(partials),   static_cast<unsigned *>(flags)};
    cuda_shape shape = {"implicit_gemm", dim3(static_cast<unsigned>(p->blocks)),
                        dim3(static_cast<unsigned>(p->threads)), static_cast<size_t>(p->shared_bytes)};
    shape.overlaps = true;
#define TILE(id, PARTS, WARPGROUPS, HIGH, WIDE)                                                                        \
    if (p->forward.tile == id && p->weights.parts == PARTS)                                                            \
        return cuda_launch(c, shape, err, implicit_gemm<PARTS, WARPGROUPS, HIGH, WIDE>, p->forward, o);
#include "impl_cuda_tensor/tiles.inc"
#undef TILE
    return CNN_FAIL(err, CNN_INTERNAL, "no kernel of tile %d with %d parts", p->forward.tile, p->weights.parts);
}
