/* forward_strip.cu: FWD and BWD_D of f16 and bf16 in NHWC without strides: forward.cu's work with both factors in
 * shared memory.
 *
 * Idea: all images, with the padding that neighbours share, are one long strip of positions: line by line, `wide` of
 * them a line, `high` lines an image. A tile is so many positions that follow one another, whether or not an output
 * pixel is there. Then tap (i, j) of all of them stands i*step*wide + j*step positions further, in the patch as well:
 * A of wgmma is the patch itself, from another row on, and nothing passes through registers. One thread loads a
 * patch's lines by bulk tensor copies, which put zeros where there is padding.
 *
 * Cost: positions without a pixel are multiplied in vain, one of each line and a line of each image where a kernel of
 * 3x3 has padding 1: 4 % at 56x56, 15 % at 14x14, 31 % at 7x7. */
#include "impl_cuda_tensor/forward_load.h"
#include "impl_cuda_tensor/forward_store.h"
#include "impl_cuda_tensor/rows_store.h"
#include "impl_cuda_tensor/tensor_map.h"

namespace
{

/* A line of tiles: its first position, and how many. Behind the whole ones stand some of half the height, where so the
 * device's last wave is half as long. */
struct tile_line {
    int32_t first, count;
};
template <int TALL> __device__ inline tile_line tile_at(const cutensor_forward &f, int32_t line)
{
    const int32_t halves = line - f.whole_lines;
    if (halves < 0) return {line * TALL, TALL};
    return {f.whole_lines * TALL + halves * (TALL / 2), TALL / 2};
}

/* The patch of such a tile: its lines of positions, and where the tile begins in it. */
struct strip_patch {
    int32_t line, lines, begin;
};
__device__ inline strip_patch patch_of(const cutensor_forward &f, const tile_line &tile)
{
    const cutensor_window &w = f.window;
    const int32_t line = divided(tile.first, w.by_wide);
    const int32_t last = divided(tile.first + tile.count - 1 + patch_reach(w), w.by_wide);
    return {line, last - line + 1, tile.first - line * w.wide};
}

/* ---- One thread that loads patches */
template <int TALL>
__device__ inline void load_lines(const cutensor_forward &f, const block_of &b, const tensor_map &in)
{
    const cutensor_window &w = f.window;
    ring_place ring = {0, 1};
    for (int32_t c = b.first; c < b.last;) {
        const piece_place at = piece_at(f, c);
        const strip_patch patch = patch_of(f, tile_at<TALL>(f, divided(at.tile, f.by_tiles)));
        const uint32_t full = b.patch_full + 8 * ring.at;
        uint32_t to = b.patches + static_cast<uint32_t>(ring.at * f.buffer_bytes);
        int32_t n = divided(patch.line, w.by_high), row = patch.line - n * w.high - w.pad_h;
        barrier_wait(b.patch_free + 8 * ring.at, ring.parity);
        barrier_expect(full, patch.lines * w.wide * 128);
        for (int32_t i = 0; i < patch.lines; i++, to += static_cast<uint32_t>(w.wide * 128)) {
            copy_line(to, in, n, row, -w.pad_w, at.piece * 64, full);
            if (++row == w.high - w.pad_h) row = -w.pad_h, n++;
        }
        ring.next(f.buffers);
        c = piece_behind(f, c, at.piece + 1 == f.pieces);
    }
}

/* ---- The warpgroups that multiply */

/* What a warpgroup has read from: freed once the products that read it are done. */
struct last_read {
    uint32_t weights, patch; /* barriers; 0: none */
    __device__ inline void release()
    {
        if ((threadIdx.x & 31) != 0) return;
        if (weights != 0) barrier_arrive(weights);
        if (patch != 0) barrier_arrive(patch);
    }
};

/* n pieces of a tile; `row`: the warpgroup's first in the patch. A tap's products run while the next one's are asked
 * for. */
template <typename T, int HIGH, int WIDE>
__device__ inline void add_pieces(const cutensor_forward &f, const block_of &b, int32_t row, int32_t n,
                                  ring_place &weights, ring_place &patch, float (&sum)[HIGH * WIDE / 2])
{
    constexpr uint32_t STEP = WIDE * 128;
    constexpr int N = WIDE / 2;
    float all[HIGH][N];
    last_read before = {0, 0};
#pragma unroll
    for (int u = 0; u < HIGH; u++)
#pragma unroll
        for (int i = 0; i < N; i++) all[u][i] = 0;
    for (int32_t k = 0; k < n; k++) {
        barrier_wait(b.patch_full + 8 * patch.at, patch.parity);
        const uint32_t from = b.patches + static_cast<uint32_t>(patch.at * f.buffer_bytes + row * 128);
        tap_walk walk = {0, 0};
        for (int32_t tap = 0; tap < f.taps; tap++, walk.next(f.window)) {
            barrier_wait(b.weights_full + 8 * weights.at, weights.parity);
            const uint64_t tile = tile_descriptor(b.weights + static_cast<uint32_t>(weights.at) * STEP);
            const uint64_t pixels = tile_descriptor(from + static_cast<uint32_t>(walk.offset * 128));
            products_begin();
#pragma unroll
            for (int u = 0; u < HIGH; u++)
#pragma unroll
                for (int j = 0; j < 4; j++) multiply_shared(T(), all[u], pixels + 512 * u + 2 * j, tile + 2 * j, 1);
            products_commit();
            products_wait<1>();
            before.release();
            before = {b.weights_free + 8 * weights.at, tap + 1 == f.taps ? b.patch_free + 8 * patch.at : 0};
            weights.next(FORWARD_STEPS);
        }
        patch.next(f.buffers);
    }
    products_wait<0>();
#pragma unroll
    for (int u = 0; u < HIGH; u++) pin(all[u]);
    before.release();
#pragma unroll
    for (int i = 0; i < HIGH * N; i++) sum[i] = all[i / N][i % N];
}

/* Positions that have a pixel; `position`: the first of 64. */
template <typename R, int N>
__device__ inline void store_positions(const cutensor_forward &f, const cutensor_operands &o, int32_t position,
                                       int32_t channel, float (&sum)[N])
{
    const cutensor_window &w = f.window;
    const int32_t thread = static_cast<int32_t>(threadIdx.x & 127);
    R *row[2];
    bool there[2];
#pragma unroll
    for (int32_t h = 0; h < 2; h++) {
        const int32_t m = position + (thread >> 5) * 16 + (thread >> 2 & 7) + 8 * h;
        const int32_t line = divided(m, w.by_wide), q = m - line * w.wide;
        const int32_t n = divided(line, w.by_high), p = line - n * w.high;
        there[h] = m < f.pixels && q < w.ow && p < w.oh;
        row[h] = static_cast<R *>(o.out) + static_cast<size_t>(there[h] ? (n * w.oh + p) * w.ow + q : 0) * f.oc;
    }
    if (f.has_bias) add_bias(f.oc, static_cast<const R *>(o.bias), channel, sum);
    store_rows(o.finish, f.oc, row, there, channel, sum);
}

/* n pieces of a tile, HIGH * 64 of whose positions are this warpgroup's. */
template <typename T, typename R, int THREADS, int HIGH, int WIDE>
__device__ inline void multiply_tile(const cutensor_forward &f, const block_of &b, const cutensor_operands &o,
                                     const tile_line &tile, const piece_place &at, int32_t n, ring_place &weights,
                                     ring_place &patch)
{
    const int32_t first = same_in_warp(static_cast<int32_t>(threadIdx.x >> 7)) * HIGH * 64;
    const int32_t channel = (at.tile - divided(at.tile, f.by_tiles) * f.by_tiles.d) * WIDE;
    float sum[HIGH * WIDE / 2];
    add_pieces<T, HIGH, WIDE>(f, b, patch_of(f, tile).begin + first, n, weights, patch, sum);
    if (at.piece > 0) {
        leave_partials(o, sum, THREADS, b.rank);
        return;
    }
    if (n < f.pieces) add_partials(f, o, sum, THREADS, b.rank, at.tile);
#pragma unroll
    for (int u = 0; u < HIGH; u++) {
        float part[WIDE / 2];
#pragma unroll
        for (int i = 0; i < WIDE / 2; i++) part[i] = sum[u * WIDE / 2 + i];
        store_positions<R>(f, o, tile.first + first + 64 * u, channel, part);
    }
}

template <typename T, typename R, int WARPGROUPS, int HIGH, int WIDE>
__device__ inline void multiply_tiles(const cutensor_forward &f, const block_of &b, const cutensor_operands &o)
{
    constexpr int32_t THREADS = WARPGROUPS * 128, TALL = WARPGROUPS * HIGH * 64;
    ring_place weights = {0, 0}, patch = {0, 0};
    for (int32_t c = b.first; c < b.last;) {
        const piece_place at = piece_at(f, c);
        const int32_t n = min(f.pieces - at.piece, b.last - c);
        const tile_line tile = tile_at<TALL>(f, divided(at.tile, f.by_tiles));
        if (HIGH == 1 || tile.count == TALL)
            multiply_tile<T, R, THREADS, HIGH, WIDE>(f, b, o, tile, at, n, weights, patch);
        else
            multiply_tile<T, R, THREADS, 1, WIDE>(f, b, o, tile, at, n, weights, patch);
        c = piece_behind(f, c + n - 1, at.piece + n == f.pieces);
    }
}

template <typename T, typename R, int WARPGROUPS, int HIGH, int WIDE>
__global__ void __launch_bounds__(WARPGROUPS * 128 + 128, 1)
    strip_gemm(const cutensor_forward f, const __grid_constant__ tensor_map in, const cutensor_operands o)
{
    const block_of b = open_block<1, WARPGROUPS, WIDE>(f, 1);
    const int32_t thread = static_cast<int32_t>(threadIdx.x) - WARPGROUPS * 128;
    if (thread < 0) {
        REGISTERS_MORE(WARPGROUPS == 2 ? 232 : 160);
        wait_for_previous();
        multiply_tiles<T, R, WARPGROUPS, HIGH, WIDE>(f, b, o);
    } else {
        REGISTERS_LESS(WARPGROUPS == 2 ? 40 : 32);
        if (thread == 32) load_lines<WARPGROUPS * HIGH * 64>(f, b, in);
        if (thread == 0) {
            wait_for_previous();
            load_weights<1, WIDE>(f, b, o.weights);
        }
    }
}

template <typename T, typename R>
cnn_status launch(cuda_context *c, const cutensor_plan *p, const cutensor_operands &o, cnn_error *err)
{
    const cutensor_forward &f = p->forward;
    const tensor_sizes sizes = {f.pixels / (f.window.high * f.window.wide), f.window.ih, f.window.iw, f.in.channels};
    cuda_shape shape = {"strip_gemm", dim3(static_cast<unsigned>(p->blocks)), dim3(static_cast<unsigned>(p->threads)),
                        static_cast<size_t>(p->shared_bytes)};
    shape.overlaps = true;
    tensor_map in;
    const cnn_status status = map_images(o.in, &sizes, f.window.wide, &in, err);
    if (status != CNN_OK) return status;
#define TILE(id, PARTS, WARPGROUPS, HIGH, WIDE)                                                                        \
    if constexpr (PARTS == 1)                                                                                          \
        if (f.tile == id) return cuda_launch(c, shape, err, strip_gemm<T, R, WARPGROUPS, HIGH, WIDE>, f, in, o);
#include "impl_cuda_tensor/tiles.inc"
#undef TILE
    return CNN_FAIL(err, CNN_INTERNAL, "no kernel of tile %d", f.tile);
}

} // namespace

cnn_status cutensor_forward_strip_run(cuda_context *c, const cutensor_plan *p, const cutensor_operands *o,
                                      cnn_error *err)
{
    switch (p->bias.t.dtype) {
    case CNN_F16:
        return launch<__half, __half>(c, p, *o, err);
    case CNN_BF16:
        return launch<__nv_bfloat16, __nv_bfloat16>(c, p, *o, err);
    case CNN_F16_F16_F32:
        return launch<__half, float>(c, p, *o, err);
    default:
        return launch<__nv_bfloat16, float>(c, p, *o, err);
    }
}
