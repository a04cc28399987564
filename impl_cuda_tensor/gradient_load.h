/* gradient_load.h: a block of the weights' gradient, its work, and the warps that load x for it (C++). */
#ifndef IMPL_CUDA_TENSOR_GRADIENT_LOAD_H
#define IMPL_CUDA_TENSOR_GRADIENT_LOAD_H

#include "impl_cuda_tensor/slots.h"

namespace
{

/* bias: sums of dy for the bias's gradient; may be NULL, as db. Of a plan whose clusters have whole tiles: dw and db
 * themselves, and how they are stored. */
struct gradient_operands {
    const void *x, *dy;
    float *partials, *bias;
    float *dw, *db;
    bool reversed, add;
};

/* What all of a block's threads know. */
struct block_of {
    uint32_t steps, patches, table, rows, step_full, step_free, patch_full, patch_free;
    int32_t rank, first, last; /* its units; in a cluster, the pixels at which they begin, of this tile */
    int32_t tile;
};

/* Numbers of T: rows of 64 channels in a patch have so many places of 16 bytes, a step so many pixels; a row begins so
 * many bytes behind the last. */
template <typename T> struct sizes {
    enum : int32_t {
        BYTES = static_cast<int32_t>(sizeof(T)),
        PLACES = 4 * BYTES,
        ROW = BYTES == 4 ? GRADIENT_F32_ROW : GRADIENT_SIDE * BYTES,
        STEP_PIXELS = CUTENSOR_ROW_BYTES / BYTES,
        CHUNK_MOST = GRADIENT_CHUNK_BYTES / BYTES
    };
};

template <typename T, bool CLUSTERS> __device__ inline block_of open_block(const cutensor_gradient &g)
{
    block_of b;
    b.steps = first_address();
    b.patches = b.steps + static_cast<uint32_t>(g.steps * GRADIENT_SIDE * 128 * g.parts);
    b.table = b.steps + static_cast<uint32_t>(g.room);
    b.rows = b.table + GRADIENT_ROWS * 4;
    b.step_full = b.rows + GRADIENT_PATCHES * sizes<T>::CHUNK_MOST * 4;
    b.step_free = b.step_full + GRADIENT_STEPS * 8;
    b.patch_full = b.step_free + GRADIENT_STEPS * 8;
    b.patch_free = b.patch_full + GRADIENT_PATCHES * 8;
    b.rank = static_cast<int32_t>(blockIdx.x);
    if constexpr (CLUSTERS) {
        const int32_t blocks = g.share * g.cluster, block = b.rank % blocks;
        b.tile = b.rank / blocks;
        b.first = first_pixel(g, block);
        b.last = first_pixel(g, block + 1);
    } else {
        b.tile = 0;
        b.first = first_unit(g, b.rank);
        b.last = first_unit(g, b.rank + 1);
    }
    if (threadIdx.x == 0) {
        for (uint32_t i = 0; i < static_cast<uint32_t>(g.steps); i++) {
            barrier_init(b.step_full + 8 * i, 64);
            barrier_init(b.step_free + 8 * i, 12);
        }
        for (uint32_t i = 0; i < static_cast<uint32_t>(g.patches); i++) {
            barrier_init(b.patch_full + 8 * i, 128);
            barrier_init(b.patch_free + 8 * i, 12);
        }
        barriers_are_made();
    }
    __syncthreads();
    return b;
}

struct unit_place {
    int32_t tile, pixel, end; /* its pixels */
};
template <bool CLUSTERS> __device__ inline int32_t next_unit(const cutensor_gradient &g, int32_t u)
{
    return u + (CLUSTERS ? g.chunk : 1);
}
template <bool CLUSTERS> __device__ inline unit_place unit_at(const cutensor_gradient &g, const block_of &b, int32_t u)
{
    if constexpr (CLUSTERS) return {b.tile, u, min(u + g.chunk, b.last)};
    const int32_t tile = divided(u, g.by_chunks), pixel = (u - tile * g.chunks) * g.chunk;
    return {tile, pixel, min(pixel + g.chunk, g.pixels)};
}

/* ---- Two warps that load x: rows of 64 channels, places of 16 bytes. Rows of 16 places are further apart than they
 * are long, so that four neighbours' same channels are in different banks; of 8 places, place c of row r stands at
 * c ^ r%8. */
template <typename T> __device__ inline uint32_t turn_of(uint32_t row) { return sizes<T>::PLACES == 16 ? 0 : row & 7; }

/* Of each row of the patch, the place where its 64 channels begin; -1: zeros. Returns how many rows. */
template <typename T>
__device__ inline int32_t make_table(const cutensor_gradient &g, const unit_place &at, int32_t *table, int32_t *rows,
                                     int32_t thread)
{
    const tile_place tile = tile_at(g, at.tile);
    const int32_t images = divided(g.pixels, g.window.by_plane), group = tile.group * g.in.channels;
    if (g.patched) {
        const slot_place first = slot_at(g, tile, 0);
        const int32_t last = first.tap + slots_of(g, tile) - 1, begin = patch_row(g.window, at.pixel);
        const int32_t row = begin + tap_offset(g.window, first.tap);
        const int32_t count = patch_row(g.window, at.end - 1) + tap_offset(g.window, last) - row + 1;
        for (int32_t i = thread; i < count; i += 64) {
            const int32_t pixel = pixel_of_row(g.window, images, row + i);
            table[i] = pixel < 0 ? -1 : place_of(g.in, pixel) + place_of_channel(g.in, group + first.c);
        }
        for (int32_t i = thread; i < sizes<T>::CHUNK_MOST; i += 64)
            rows[i] = patch_row(g.window, min(at.pixel + i, at.end - 1)) - begin;
        return count;
    }
    const int32_t slots = slots_of(g, tile);
    for (int32_t i = thread; i < g.chunk; i += 64) {
        const int32_t m = at.pixel + i;
        const window_corner corner = corner_of(g.window, min(m, at.end - 1));
        const int32_t place = corner.pixel * g.in.pixel + corner.n * g.in.rest;
        for (int32_t slot = 0; slot < slots; slot++) {
            const slot_place s = slot_at(g, tile, slot);
            const int32_t tap_row = divided(s.tap, g.window.by_kw), down = tap_row * g.window.step_h;
            const int32_t right = (s.tap - tap_row * g.window.kw) * g.window.step_w;
            const bool inside = m < at.end && is_inside(g.window, corner.h + down, corner.v + right);
            const int32_t further = (down * g.window.iw + right) * g.in.pixel + place_of_channel(g.in, group + s.c);
            table[slot * g.chunk + i] = inside ? place + further : -1;
        }
    }
    for (int32_t i = thread; i < sizes<T>::CHUNK_MOST; i += 64) rows[i] = min(i, g.chunk - 1);
    return slots * g.chunk;
}

/* Channels behind the group's last are of a neighbour, or none: no sum of theirs is kept. */
template <typename T>
__device__ inline void load_rows(const cutensor_input &in, const int32_t *table, int32_t thread, int32_t count,
                                 uint32_t patch, const T *x)
{
    constexpr int32_t PLACES = sizes<T>::PLACES, ROWS = 64 / PLACES; /* rows at a time: turn_of() is the same */
    const int32_t place = thread % PLACES, first = thread / PLACES;
    const uint32_t turn = turn_of<T>(static_cast<uint32_t>(first));
    constexpr uint32_t APART = static_cast<uint32_t>(ROWS * sizes<T>::ROW);
    uint32_t to = patch + static_cast<uint32_t>(first * sizes<T>::ROW) + ((static_cast<uint32_t>(place) ^ turn) << 4);
    for (int32_t r = first; r < count; r += 8 * ROWS, to += 8 * APART) {
        int32_t at[8];
#pragma unroll
        for (int e = 0; e < 8; e++) at[e] = r + ROWS * e < count ? table[r + ROWS * e] : -2;
#pragma unroll
        for (int e = 0; e < 8; e++) {
            const bool there = at[e] >= 0 && at[e] + place < in.all;
            if (at[e] != -2)
                copy16(to + static_cast<uint32_t>(e) * APART,
                       reinterpret_cast<const char *>(x) + 16 * static_cast<size_t>(there ? at[e] + place : 0),
                       there ? 16 : 0);
        }
    }
}

/* The same number by number: a warp takes 8 rows of 4 words at once. */
__device__ inline void load_rows_singly(const cutensor_input &in, const int32_t *table, int32_t thread, int32_t count,
                                        uint32_t patch, const float *x)
{
    const int32_t lane = thread & 31, deep = lane >> 3;
    for (int32_t r = (thread >> 5) * 8 + (lane & 7); r < count; r += 16) {
        const int32_t at = table[r];
        int64_t from = at < 0 ? in.all : at + static_cast<int64_t>(deep) * in.channel;
        const uint32_t row = patch + static_cast<uint32_t>(r * sizes<float>::ROW + deep * 4);
#pragma unroll
        for (int32_t q = 0; q < 16; q++, from += 4 * static_cast<int64_t>(in.channel)) {
            const bool there = from < in.all;
            copy4(row + (static_cast<uint32_t>(q) << 4), x + (there ? from : 0), there ? 4 : 0);
        }
    }
}

template <typename T>
__device__ inline void load_rows_singly(const cutensor_input &in, const int32_t *table, int32_t thread, int32_t count,
                                        uint32_t patch, const T *x)
{
    const int32_t lane = thread & 31, deep = lane >> 3;
    for (int32_t r = (thread >> 5) * 8 + (lane & 7); r < count; r += 16) {
        const int32_t at = table[r];
        const int64_t further = in.channel;
        int64_t from = at < 0 ? in.all : at + 2 * deep * further;
        const uint32_t row = patch + static_cast<uint32_t>(r * 128 + deep * 4);
        const uint32_t turn = turn_of<T>(static_cast<uint32_t>(r)) << 4;
        for (int32_t first = 0; first < 8; first += 4) {
            uint32_t word[4];
#pragma unroll
            for (int32_t q = 0; q < 4; q++, from += 8 * further)
                word[q] = load_pair(x + from, from < in.all, x + from + further, from + further < in.all);
#pragma unroll
            for (int32_t q = 0; q < 4; q++) store1(row + ((static_cast<uint32_t>(first + q) << 4) ^ turn), word[q]);
        }
    }
}

template <typename T, bool CLUSTERS>
__device__ inline void load_x(const cutensor_gradient &g, const block_of &b, const T *x, int32_t thread)
{
    int32_t *table = at_address<int32_t>(b.table), *rows = at_address<int32_t>(b.rows);
    ring_place ring = {0, 1};
    for (int32_t u = b.first; u < b.last; u = next_unit<CLUSTERS>(g, u)) {
        /* The table of rows is the consumers' until they have freed the patch. */
        barrier_wait(b.patch_free + 8 * ring.at, ring.parity);
        barrier_of(1, 64);
        const int32_t count =
            make_table<T>(g, unit_at<CLUSTERS>(g, b, u), table, rows + ring.at * sizes<T>::CHUNK_MOST, thread);
        barrier_of(1, 64);
        const uint32_t to = b.patches + static_cast<uint32_t>(ring.at * g.patch_bytes);
        if (g.in.together)
            load_rows(g.in, table, thread, count, to, x);
        else
            load_rows_singly(g.in, table, thread, count, to, x);
        barrier_arrive_after_copies(b.patch_full + 8 * ring.at);
        barrier_arrive(b.patch_full + 8 * ring.at);
        ring.next(g.patches);
    }
}

/* The others of the cluster may read this block's shared memory until all have come to the second barrier. */
template <bool CLUSTERS> __device__ inline void end_loading()
{
    next_may_start();
    if constexpr (CLUSTERS) {
        cluster_barrier();
        cluster_barrier();
    }
}

/* ---- What the warpgroups that multiply have */

/* In memory of the device, or of the block. */
__device__ inline void put_sums(float *partials, const float (&sum)[3][32], int32_t slots, int32_t warpgroup,
                                int32_t thread)
{
#pragma unroll
    for (int v = 0; v < 3; v++) {
        if (v >= slots) break;
        float4 *to = reinterpret_cast<float4 *>(partials) + static_cast<size_t>((warpgroup + 3 * v) * 8 * 128 + thread);
#pragma unroll
        for (int i = 0; i < 8; i++)
            to[i * 128] = float4{sum[v][4 * i], sum[v][4 * i + 1], sum[v][4 * i + 2], sum[v][4 * i + 3]};
    }
}

/* Four of a cluster's sums, at the same place of all its blocks' shared memory, added up in their order. */
__device__ inline float4 sum_of_blocks(const cutensor_gradient &g, uint32_t at)
{
    float4 v[CLUSTER_MOST], sum = {0, 0, 0, 0};
#pragma unroll
    for (int32_t rank = 0; rank < CLUSTER_MOST; rank++)
        v[rank] = rank < g.cluster ? load_of_block(at, rank) : float4{0, 0, 0, 0};
#pragma unroll
    for (int32_t rank = 0; rank < CLUSTER_MOST; rank++)
        sum.x += v[rank].x, sum.y += v[rank].y, sum.z += v[rank].z, sum.w += v[rank].w;
    return sum;
}

/* Of a cluster's sums, this block's part: added up over its blocks, in their order. */
__device__ inline void add_blocks(const cutensor_gradient &g, const block_of &b, float *partials)
{
    const int32_t count = slots_of(g, tile_at(g, b.tile)) * 8 * 128 / g.cluster, cluster = b.rank / g.cluster;
    const int32_t first = (b.rank - cluster * g.cluster) * count;
    float4 *to = reinterpret_cast<float4 *>(partials) + static_cast<size_t>(cluster) * (GRADIENT_SEGMENT / 4) + first;
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < count; i += GRADIENT_THREADS - 128) {
        __stcg(to + i, sum_of_blocks(g, b.steps + static_cast<uint32_t>(first + i) * 16));
    }
}

/* Where the cluster has all of a tile's pixels: this block's part is some of the output channels, added up over the
 * blocks, in their order, and written as dw from shared memory, behind the block's own sums. */
__device__ inline void write_tile(const cutensor_gradient &g, const block_of &b, const gradient_operands &o)
{
    const tile_place at = tile_at(g, b.tile);
    const int32_t slots = slots_of(g, at), eights = 8 / g.cluster, rank = b.rank % g.cluster, first = rank * eights;
    const int32_t thread = static_cast<int32_t>(threadIdx.x), threads = GRADIENT_THREADS - 128;
    const uint32_t kept = b.steps + GRADIENT_SEGMENT * 4;
    for (int32_t i = thread; i < slots * eights * 128; i += threads) {
        const int32_t slot = i / (eights * 128), rest = i - slot * eights * 128;
        const float4 sum = sum_of_blocks(g, b.steps + static_cast<uint32_t>((slot * 8 + first) * 128 + rest) * 16);
        at_address<float4>(kept)[i] = sum;
    }
    barrier_of(2, threads);
    for (int32_t i = thread; i < 8 * eights * GRADIENT_SIDE * slots; i += threads) {
        const int32_t s = i % slots, c = i / slots % GRADIENT_SIDE, k = i / slots / GRADIENT_SIDE;
        const slot_place slot = slot_at(g, at, s);
        const int32_t channel = at.k + 8 * first + k, in = slot.c + c;
        if (in >= g.group_ic || channel >= g.group_oc) continue;
        const int32_t place = (s * eights + k / 8) * 512 + index_of(g, k & 7, c);
        cuda_put(o.dw + place_of_weight(g, at.group, channel, in, slot.tap, o.reversed), at_address<float>(kept)[place],
                 o.add);
    }
    const int32_t channel = at.k + 8 * first + thread;
    if (o.bias == nullptr || at.slots != 0 || thread >= 8 * eights || channel >= g.group_oc) return;
    float sum = 0;
    for (int32_t i = 0; i < g.cluster; i++)
        sum += __ldcg(o.bias + (b.rank - rank + i) * GRADIENT_SIDE + 8 * first + thread);
    cuda_put(o.db + at.group * g.group_oc + channel, sum, o.add);
}

/* How far behind a pixel's row those of this warpgroup's slots are; returns how many it has. */
__device__ inline int32_t find_slots(const cutensor_gradient &g, int32_t tile, int32_t warpgroup, int32_t (&offset)[3])
{
    const tile_place at = tile_at(g, tile);
    const slot_place first = slot_at(g, at, 0);
#pragma unroll
    for (int v = 0; v < 3; v++) {
        const int32_t slot = warpgroup + 3 * v, tap = slot_at(g, at, slot).tap;
        offset[v] = slot * g.chunk;
        if (g.patched) offset[v] = tap < 0 ? 0 : tap_offset(g.window, tap) - tap_offset(g.window, first.tap);
    }
    return max(0, slots_of(g, at) - warpgroup + 2) / 3;
}

template <bool CLUSTERS>
__device__ inline void end_multiplying(const cutensor_gradient &g, const block_of &b, const gradient_operands &o)
{
    next_may_start();
    if constexpr (CLUSTERS) {
        cluster_barrier();
        if (g.whole)
            write_tile(g, b, o);
        else
            add_blocks(g, b, o.partials);
        cluster_barrier(); /* the others have read this block's */
    }
}

inline cuda_shape gradient_shape(const char *kernel, const cutensor_plan *p)
{
    cuda_shape shape = {kernel, dim3(static_cast<unsigned>(p->blocks)), dim3(GRADIENT_THREADS),
                        static_cast<size_t>(p->shared_bytes)};
    shape.cluster = static_cast<unsigned>(p->gradient.cluster);
    shape.cooperative = shape.cluster > 1;
    return shape;
}

} // namespace

#endif
