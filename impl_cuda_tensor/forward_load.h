/* forward_load.h: a block of forward.cu, its work, and the warps that load for it (C++). */
#ifndef IMPL_CUDA_TENSOR_FORWARD_LOAD_H
#define IMPL_CUDA_TENSOR_FORWARD_LOAD_H

#include "impl_cuda_tensor/forward.h"
#include "impl_cuda_tensor/window.h"

namespace
{

typedef cutensor_operands operands;

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

/* Whether a block takes whole tiles: every so many-th. */
__device__ inline bool takes_tiles(const cutensor_forward &f) { return f.unit == f.pieces; }
/* The block's piece behind piece c, which is its tile's last, or not. */
__device__ inline int32_t piece_behind(const cutensor_forward &f, int32_t c, bool last)
{
    return c + 1 + (takes_tiles(f) && last ? static_cast<int32_t>(gridDim.x - 1) * f.pieces : 0);
}

/* `loaders`: threads that arrive where a patch is there. */
template <int PARTS, int WARPGROUPS, int WIDE>
__device__ inline block_of open_block(const cutensor_forward &f, int32_t loaders)
{
    block_of b;
    b.weights = first_address();
    b.patches = b.weights + FORWARD_STEPS * WIDE * 128 * PARTS;
    b.table = b.patches + static_cast<uint32_t>(f.buffers * f.buffer_bytes);
    b.weights_full = b.table + static_cast<uint32_t>(f.table_bytes);
    b.weights_free = b.weights_full + FORWARD_STEPS * 8;
    b.patch_full = b.weights_free + FORWARD_STEPS * 8;
    b.patch_free = b.patch_full + FORWARD_PATCHES * 8;
    b.rank = static_cast<int32_t>(gridDim.x - 1 - blockIdx.x);
    b.first = takes_tiles(f) ? b.rank * f.pieces : first_piece(f, b.rank);
    b.last = takes_tiles(f) ? f.units * f.pieces : first_piece(f, b.rank + 1);
    if (threadIdx.x == 0) {
        for (uint32_t i = 0; i < FORWARD_STEPS; i++) {
            barrier_init(b.weights_full + 8 * i, 1);
            barrier_init(b.weights_free + 8 * i, WARPGROUPS * 4);
        }
        for (uint32_t i = 0; i < static_cast<uint32_t>(f.buffers); i++) {
            barrier_init(b.patch_full + 8 * i, loaders);
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

/* Of a phase: which tile of a column's weights a tap of a chunk is. */
__device__ inline int32_t tile_of_tap(const cutensor_forward &f, int32_t chunk, int32_t tap)
{
    const int32_t i = divided(tap, f.window.by_kw), j = tap - i * f.window.kw;
    return chunk * f.all_taps + f.tap_first + i * f.tap_down + j * f.tap_right;
}

template <int PARTS, int WIDE>
__device__ inline void load_weights(const cutensor_forward &f, const block_of &b, const unsigned char *weights)
{
    constexpr int STEP = WIDE * 128 * PARTS;
    ring_place ring = {0, 1};
    for (int32_t c = b.first; c < b.last;) {
        const piece_place at = piece_at(f, c);
        const int32_t column = at.tile - divided(at.tile, f.by_tiles) * f.by_tiles.d;
        const int32_t first = f.taps_at_once > 1 ? at.piece * f.taps : at.piece; /* of a chunk's taps, tap by tap */
        const unsigned char *of_column = weights + static_cast<size_t>(column) * f.chunks * f.all_taps * STEP;
        const unsigned char *from = of_column + static_cast<size_t>(first) * STEP;
        for (int32_t tap = first; tap < first + f.taps_at_once; tap++, from += STEP) {
            if (f.spread.step_w != 0) {
                const int32_t chunk = tap / f.taps;
                from = of_column + static_cast<size_t>(tile_of_tap(f, chunk, tap - chunk * f.taps)) * STEP;
            }
            barrier_wait(b.weights_free + 8 * ring.at, ring.parity);
            barrier_expect(b.weights_full + 8 * ring.at, STEP);
            copy_bulk(b.weights + ring.at * STEP, from, STEP, b.weights_full + 8 * ring.at);
            ring.next(FORWARD_STEPS);
        }
        c = piece_behind(f, c, at.piece + 1 == f.pieces);
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

/* The same number by number: a warp takes 8 rows, which are mostly neighbours in memory, of 4 words at once. `left`:
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

/* Of 16 bits, two to a word, which no copy can pack: four words are read, then stored. */
template <typename T>
__device__ inline void load_patch_singly(const int32_t *table, int32_t thread, int32_t rows, uint32_t to, const T *from,
                                         int32_t channel, int32_t left)
{
    const int32_t lane = thread & 31, deep = lane >> 3;
    for (int32_t r = (thread >> 5) * 8 + (lane & 7); r < rows; r += FORWARD_LOADERS / 4) {
        const int32_t at = table[r];
        const int64_t further = channel;
        const T *pixel = from + (at < 0 ? 0 : at) + 2 * deep * further;
        const uint32_t row = to + static_cast<uint32_t>(r * 128 + deep * 4), turn = static_cast<uint32_t>(r & 7) << 4;
        for (int32_t first = 0; first < 8; first += 4) {
            uint32_t word[4];
#pragma unroll
            for (int32_t q = 0; q < 4; q++, pixel += 8 * further) {
                const int32_t have = at < 0 ? 0 : left - 8 * (first + q) - 2 * deep;
                word[q] = load_pair(pixel, have > 0, pixel + further, have > 1);
            }
#pragma unroll
            for (int32_t q = 0; q < 4; q++) store1(row + ((static_cast<uint32_t>(first + q) << 4) ^ turn), word[q]);
        }
    }
}

template <typename T, int TALL>
__device__ inline void load_patches(const cutensor_forward &f, const block_of &b, const T *in, int32_t thread)
{
    constexpr int32_t K = 128 / sizeof(T), TOGETHER = 16 / sizeof(T);
    int32_t *table = at_address<int32_t>(b.table);
    int32_t tile = -1, rows = 0;
    ring_place ring = {0, 1};
    for (int32_t c = b.first; c < b.last;) {
        const piece_place at = piece_at(f, c);
        const int32_t line = divided(at.tile, f.by_tiles), column = at.tile - line * f.by_tiles.d;
        const int32_t chunk = divided(at.piece, f.by_steps), tap = at.piece - chunk * f.by_steps.d;
        if (at.tile != tile || !f.patched) {
            const int32_t pixel = line * TALL, end = min(pixel + TALL, f.pixels) - 1;
            rows = f.patched ? patch_row(f.window, end) - patch_row(f.window, pixel) + patch_reach(f.window) + 1
                             : end - pixel + 1; /* rows behind them are multiplied as they are, and not stored */
            tile = at.tile;
            barrier_of(1, FORWARD_LOADERS);
            make_table(f, table, thread, pixel, tap, rows);
            barrier_of(1, FORWARD_LOADERS);
        }
        barrier_wait(b.patch_free + 8 * ring.at, ring.parity);
        const int32_t first = divided(column, f.by_group_tiles) * f.in.channels, channel = chunk * K;
        const uint32_t to = b.patches + static_cast<uint32_t>(ring.at * f.buffer_bytes);
        if (f.in.together) {
            const int32_t mine = channel + TOGETHER * (thread & 7);
            const bool inside = mine < f.in.channels;
            load_patch(table, thread, rows, to, reinterpret_cast<const char *>(in + first + (inside ? mine : 0)),
                       inside);
        } else
            load_patch_singly(table, thread, rows, to, in + place_of_channel(f.in, first + channel), f.in.channel,
                              f.in.channels - channel);
        if (sizeof(T) == 4 || f.in.together)
            barrier_arrive_after_copies(b.patch_full + 8 * ring.at);
        else
            barrier_arrive(b.patch_full + 8 * ring.at);
        ring.next(f.buffers);
        c = piece_behind(f, c, at.piece + 1 == f.pieces);
    }
}

} // namespace

#endif
