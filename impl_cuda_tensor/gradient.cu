/* gradient.cu: BWD_W on warpgroup instructions.
 *
 * Idea: dw of a tap is a product whose sum runs over pixels. A block takes 64 input by 64 output channels for 9 taps at
 * once, three a warpgroup, so that it reads x and dy once for all of them: a patch of x as in forward.cu, of 64
 * channels a row, goes through registers (its pixels are the columns of A); dy, transposed on its way, is the other
 * factor. Where no patch fits, or there is one tap, these slots are any taps and 64s of channels, each with pixels of
 * its own, and only as many as let 32 or 64 pixels be loaded at once.
 *
 * Sums: as in forward.cu, those of 32 pixels are the tensor cores', all others the multiprocessor's (f32). Work, tiles
 * times chunks of pixels, is dealt out evenly; sum.cu adds up the blocks' sums in a fixed order. */
#include "impl_cuda_tensor/slots.h"

namespace
{

struct operands {
    const float *x, *dy;
    float *partials;
};

/* What all of a block's threads know. */
struct block_of {
    uint32_t steps, patches, table, rows, step_full, step_free, patch_full, patch_free;
    int32_t rank, first, last; /* its units */
};

__device__ inline block_of open_block(const cutensor_gradient &g)
{
    block_of b;
    b.steps = first_address();
    b.patches = b.steps + static_cast<uint32_t>(g.steps * GRADIENT_SIDE * 128 * g.parts);
    b.table = b.patches + static_cast<uint32_t>(g.patches * g.patch_bytes);
    b.rows = b.table + GRADIENT_ROWS * 4;
    b.step_full = b.rows + GRADIENT_PATCHES * GRADIENT_PIXELS * 4;
    b.step_free = b.step_full + GRADIENT_STEPS * 8;
    b.patch_full = b.step_free + GRADIENT_STEPS * 8;
    b.patch_free = b.patch_full + GRADIENT_PATCHES * 8;
    b.rank = static_cast<int32_t>(blockIdx.x);
    b.first = first_unit(g, b.rank);
    b.last = first_unit(g, b.rank + 1);
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
__device__ inline unit_place unit_at(const cutensor_gradient &g, int32_t u)
{
    const int32_t tile = divided(u, g.by_chunks), pixel = (u - tile * g.chunks) * g.chunk;
    return {tile, pixel, min(pixel + g.chunk, g.pixels)};
}

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

template <int PARTS>
__device__ inline void load_dy(const cutensor_gradient &g, const block_of &b, const float *dy, int32_t channel)
{
    const int32_t row = channel + static_cast<int32_t>(threadIdx.x & 31);
    ring_place ring = {0, 1};
    int32_t loaded = 0, handed = 0;
    for (int32_t u = b.first; u < b.last; u++) {
        const unit_place at = unit_at(g, u);
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

/* ---- Two warps that load x: rows of 64 channels, 16 places of 16 bytes, place c of row r at c ^ 2*(r%4). */

/* Of each row of the patch, the place where its 64 channels begin; -1: zeros. Returns how many rows. */
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
        for (int32_t i = thread; i < GRADIENT_PIXELS; i += 64)
            rows[i] = patch_row(g.window, min(at.pixel + i, at.end - 1)) - begin;
        return count;
    }
    const int32_t slots = slots_of(g, tile);
    for (int32_t slot = 0; slot < slots; slot++) {
        const slot_place s = slot_at(g, tile, slot);
        for (int32_t i = thread; i < g.chunk; i += 64) {
            const int32_t m = at.pixel + i, pixel = m < at.end ? pixel_of_tap(g.window, m, s.tap) : -1;
            table[slot * g.chunk + i] = pixel < 0 ? -1 : place_of(g.in, pixel) + place_of_channel(g.in, group + s.c);
        }
    }
    for (int32_t i = thread; i < GRADIENT_PIXELS; i += 64) rows[i] = min(i, g.chunk - 1);
    return slots * g.chunk;
}

/* Channels behind the group's last are of a neighbour, or none: no sum of theirs is kept. */
__device__ inline void load_rows(const cutensor_input &in, const int32_t *table, int32_t thread, int32_t count,
                                 uint32_t patch, const float *x)
{
    const int32_t place = thread & 15, first = thread >> 4;
    uint32_t to = patch + static_cast<uint32_t>(first * 256 + ((place ^ first << 1) << 4));
    for (int32_t r = first; r < count; r += 32, to += 8192) {
        int32_t at[8];
#pragma unroll
        for (int e = 0; e < 8; e++) at[e] = r + 4 * e < count ? table[r + 4 * e] : -2;
#pragma unroll
        for (int e = 0; e < 8; e++) {
            const bool there = at[e] >= 0 && at[e] + place < in.all;
            if (at[e] != -2)
                copy16(to + static_cast<uint32_t>(e * 1024), x + 4 * static_cast<size_t>(there ? at[e] + place : 0),
                       there ? 16 : 0);
        }
    }
}

/* The same number by number: a warp takes 8 rows of 4 channels at once. */
__device__ inline void load_rows_singly(const cutensor_input &in, const int32_t *table, int32_t thread, int32_t count,
                                        uint32_t patch, const float *x)
{
    const int32_t lane = thread & 31, deep = lane >> 3;
    for (int32_t r = (thread >> 5) * 8 + (lane & 7); r < count; r += 16) {
        const int32_t at = table[r];
        int64_t from = at < 0 ? in.all : at + static_cast<int64_t>(deep) * in.channel;
        const uint32_t row = patch + static_cast<uint32_t>(r * 256 + deep * 4), turn = static_cast<uint32_t>(r & 3)
                                                                                       << 5;
#pragma unroll
        for (int32_t q = 0; q < 16; q++, from += 4 * static_cast<int64_t>(in.channel)) {
            const bool there = from < in.all;
            copy4(row + ((static_cast<uint32_t>(q) << 4) ^ turn), x + (there ? from : 0), there ? 4 : 0);
        }
    }
}

__device__ inline void load_x(const cutensor_gradient &g, const block_of &b, const float *x, int32_t thread)
{
    int32_t *table = at_address<int32_t>(b.table), *rows = at_address<int32_t>(b.rows);
    ring_place ring = {0, 1};
    for (int32_t u = b.first; u < b.last; u++) {
        /* The table of rows is the consumers' until they have freed the patch. */
        barrier_wait(b.patch_free + 8 * ring.at, ring.parity);
        barrier_of(1, 64);
        const int32_t count = make_table(g, unit_at(g, u), table, rows + ring.at * GRADIENT_PIXELS, thread);
        barrier_of(1, 64);
        const uint32_t to = b.patches + static_cast<uint32_t>(ring.at * g.patch_bytes);
        if (g.in.fours)
            load_rows(g.in, table, thread, count, to, x);
        else
            load_rows_singly(g.in, table, thread, count, to, x);
        barrier_arrive_after_copies(b.patch_full + 8 * ring.at);
        barrier_arrive(b.patch_full + 8 * ring.at);
        ring.next(g.patches);
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
        multiply(step, low[now], pixels, j > 0);
        multiply(step, a[now], pixels + GRADIENT_SIDE * 8, 1);
        multiply(step, a[now], pixels, 1);
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
        for (int v = 0; v < SLOTS; v++) multiply(sum[v], a[v], dy + 2 * static_cast<uint64_t>(j), 1);
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

__device__ inline void put_sums(float *partials, const float (&sum)[3][32], int32_t slots, int32_t warpgroup,
                                int32_t thread)
{
#pragma unroll
    for (int v = 0; v < 3; v++) {
        if (v >= slots) break;
        float4 *to = reinterpret_cast<float4 *>(partials) + static_cast<size_t>((warpgroup + 3 * v) * 8 * 128 + thread);
#pragma unroll
        for (int i = 0; i < 8; i++)
            __stcg(to + i * 128, float4{sum[v][4 * i], sum[v][4 * i + 1], sum[v][4 * i + 2], sum[v][4 * i + 3]});
    }
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

template <int PARTS>
__device__ inline void multiply_units(const cutensor_gradient &g, const block_of &b, float *partials)
{
    const lane_place l = lane_of(static_cast<int32_t>(threadIdx.x));
    ring_place step = {0, 0}, patch = {0, 0};
    for (int32_t u = b.first; u < b.last;) {
        const int32_t tile = divided(u, g.by_chunks), end = min(b.last, (tile + 1) * g.chunks);
        int32_t offset[3];
        const int32_t slots = find_slots(g, tile, l.warpgroup, offset);
        float sum[3][32];
#pragma unroll
        for (int v = 0; v < 3; v++)
#pragma unroll
            for (int i = 0; i < 32; i++) sum[v][i] = 0;
        for (; u < end; u++) {
            const unit_place unit = unit_at(g, u);
            barrier_wait(b.patch_full + 8 * patch.at, patch.parity);
            const uint32_t from = b.patches + static_cast<uint32_t>(patch.at * g.patch_bytes);
            const int32_t *rows = at_address<int32_t>(b.rows) + patch.at * GRADIENT_PIXELS + (l.lane & 3);
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
        put_sums(partials + segment_of(b.rank, tile), sum, slots, l.warpgroup, static_cast<int32_t>(threadIdx.x & 127));
    }
}

template <int PARTS>
__global__ void __launch_bounds__(GRADIENT_THREADS, 1) weight_gradient(const cutensor_gradient g, const operands o)
{
    const block_of b = open_block(g);
    const int32_t thread = static_cast<int32_t>(threadIdx.x) - 384;
    if (thread < 0) {
        REGISTERS_MORE(160);
        multiply_units<PARTS>(g, b, o.partials);
    } else {
        REGISTERS_LESS(32);
        if (thread < 64)
            load_dy<PARTS>(g, b, o.dy, thread & 32);
        else
            load_x(g, b, o.x, thread - 64);
    }
}

} // namespace

cnn_status cutensor_gradient_run(cuda_context *c, const cutensor_plan *p, const void *x, const void *dy, void *partials,
                                 cnn_error *err)
{
    const operands o = {static_cast<const float *>(x), static_cast<const float *>(dy), static_cast<float *>(partials)};
    const cuda_shape shape = {"weight_gradient", dim3(static_cast<unsigned>(p->blocks)), dim3(GRADIENT_THREADS),
                              static_cast<size_t>(p->shared_bytes)};
    if (p->gradient.parts == 1) return cuda_launch(c, shape, err, weight_gradient<1>, p->gradient, o);
    return cuda_launch(c, shape, err, weight_gradient<2>, p->gradient, o);
}
