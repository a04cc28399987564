/* forward_boxes.h: forward.cu's pixels as boxes (C++).
 *
 * A kernel of one tap that stands where its output pixel does gathers nothing: its pixels are the rows of a matrix as
 * they lie (NHWC: CUTENSOR_ROWS), or its columns, image by image (NCHW: CUTENSOR_PLANES). Of any other kernel in NHWC
 * the hardware knows how a tap's pixels follow one another (CUTENSOR_TAPS). So one thread names boxes, which the
 * hardware copies, swizzles and fills with zeros at the edges (bulk tensor copies), instead of 96 that copy 16 bytes,
 * or 4, each.
 *
 * ROWS    a box is a tile's pixels of 32 channels, which lie as a patch does.
 * TAPS    the same of the pixels that a tap reads for a tile; a kernel's code is that of ROWS.
 * PLANES  a box is 32 neighbouring pixels of an image by 32 channels, a channel a row of 128 bytes. An image's last box
 *         may hang over; tiles count positions, of which each image has a multiple of 32. A thread reads as many
 *         neighbouring pixels of a channel as it has rows of A: 16 bytes. So its sums are neighbouring pixels as well,
 *         and a warp stores 128 bytes of a channel. */
#ifndef IMPL_CUDA_TENSOR_FORWARD_BOXES_H
#define IMPL_CUDA_TENSOR_FORWARD_BOXES_H

#include "impl_cuda_tensor/forward_store.h"
#include "impl_cuda_tensor/tensor_map.h"

namespace
{

enum { BOX_PIXELS = CUTENSOR_BOX_PIXELS, BOX_BYTES = BOX_PIXELS * 128 };

/* ---- One thread that loads */

/* Of TALL pixels, or positions, from this one on, the channels of this chunk; `full` gets TALL * 128 bytes. Maps count
 * numbers of 16 bits, two to one of f32. */
template <int SOURCE, int TALL>
__device__ inline void copy_boxes(const cutensor_forward &f, const tensor_map &map, uint32_t to, int32_t pixel,
                                  int32_t chunk, uint32_t full)
{
    const int32_t channel = chunk * BOX_PIXELS;
    if constexpr (SOURCE == CUTENSOR_ROWS)
        copy_line(to, map, 0, 0, pixel, 2 * channel, full);
    else {
#pragma unroll
        for (int32_t i = 0; i < TALL / BOX_PIXELS; i++) {
            const int32_t first = pixel + i * BOX_PIXELS, n = divided(first, f.window.by_plane);
            copy_line(to + i * BOX_BYTES, map, 0, n, channel, 2 * (first - n * f.window.by_plane.d), full);
        }
    }
}

/* The pixels that a tap reads for TALL output pixels from this one on. */
__device__ inline void copy_tap_of(const cutensor_forward &f, const tensor_map &map, uint32_t to, int32_t pixel,
                                   int32_t piece, uint32_t full)
{
    const cutensor_window &w = f.window;
    const int32_t chunk = divided(piece, f.by_steps), tap = piece - chunk * f.by_steps.d;
    const int32_t i = divided(tap, w.by_kw), j = tap - i * w.kw;
    const pixel_place at = pixel_at(w, pixel);
    copy_tap(to, map, at.n, at.p * w.mul_h - w.pad_h, at.q * w.mul_w - w.pad_w, 2 * chunk * BOX_PIXELS, i * w.step_h,
             j * w.step_w, full);
}

template <int SOURCE, int TALL>
__device__ inline void load_boxes(const cutensor_forward &f, const block_of &b, const tensor_map &map)
{
    ring_place ring = {0, 1};
    for (int32_t c = b.first; c < b.last;) {
        const piece_place at = piece_at(f, c);
        barrier_wait(b.patch_free + 8 * ring.at, ring.parity);
        barrier_expect(b.patch_full + 8 * ring.at, TALL * 128);
        const uint32_t to = b.patches + static_cast<uint32_t>(ring.at * f.buffer_bytes);
        const uint32_t full = b.patch_full + 8 * ring.at;
        const int32_t pixel = divided(at.tile, f.by_tiles) * TALL;
        if (SOURCE == CUTENSOR_ROWS && f.source == CUTENSOR_TAPS)
            copy_tap_of(f, map, to, pixel, at.piece, full);
        else
            copy_boxes<SOURCE, TALL>(f, map, to, pixel, at.piece, full);
        ring.next(f.buffers);
        c = piece_behind(f, c, at.piece + 1 == f.pieces);
    }
}

/* ---- A from planes */

/* Where a thread's 2 * HIGH neighbouring pixels are within a tile. */
template <int HIGH> __device__ inline int32_t first_position(const lane_place &l)
{
    return ((l.warpgroup * 4 + l.warp) * 8 + static_cast<int32_t>(threadIdx.x >> 2 & 7)) * 2 * HIGH;
}

/* N neighbouring words. */
__device__ inline void load_words(uint32_t (&v)[4], uint32_t a) { load4(v, a); }
__device__ inline void load_words(uint32_t (&v)[2], uint32_t a) { load2(v[0], v[1], a); }

/* A of four products: of each 8 channels thread t has 2t and the next, so that the threads which read together meet at
 * no bank: the places of 16 bytes that they read differ in g by their lowest bit, and in t by the others. */
template <int HIGH> __device__ inline void load_planes(uint32_t (&a)[HIGH][16], uint32_t boxes, const lane_place &l)
{
    const int32_t first = first_position<HIGH>(l), of_box = first % BOX_PIXELS;
    const uint32_t turn = static_cast<uint32_t>((of_box >> 2) ^ (2 * l.t)) << 4;
    const uint32_t row = boxes + static_cast<uint32_t>(first / BOX_PIXELS * BOX_BYTES + l.t * 256);
#pragma unroll
    for (int j = 0; j < 8; j++) {
        const uint32_t next = static_cast<uint32_t>(j & 1);
        uint32_t v[2 * HIGH];
        load_words(v, row + static_cast<uint32_t>((j >> 1) * 1024) + next * 128 + (turn ^ next << 4) +
                          static_cast<uint32_t>(of_box % 4 * 4));
#pragma unroll
        for (int p = 0; p < 2 * HIGH; p++) a[p / 2][4 * (j >> 1) + 2 * (j & 1) + p % 2] = v[p];
    }
}

/* ---- Sums as planes */

/* Of a thread's sums 4 channels of its neighbouring pixels, by turns, as in forward_store.h. Planes divide by 4 pixels:
 * so neighbours are all there, or none. */
template <int HIGH, int WIDE>
__device__ inline void store_planes(const cutensor_forward &f, const operands &o, const float (&sum)[HIGH * WIDE / 2],
                                    const lane_place &l, int32_t tile, int32_t position)
{
    constexpr int P = 2 * HIGH;
    const int32_t channel = (tile - divided(tile, f.by_tiles) * f.by_tiles.d) * WIDE + 4 * l.t;
    const int32_t m = position + first_position<HIGH>(l), n = divided(min(m, f.pixels - 1), f.window.by_plane);
    const int32_t pixel = m - n * f.window.by_plane.d;
    const bool there = m < f.pixels && pixel < f.plane;
    float *to = static_cast<float *>(o.out) + (static_cast<size_t>(n) * f.oc + channel) * f.plane + pixel;
#pragma unroll
    for (int i = 0; i < WIDE / 16; i++, to += 16 * static_cast<size_t>(f.plane)) {
        const int32_t count = there ? f.oc - channel - 16 * i : 0;
        float v[4 * P];
#pragma unroll
        for (int k = 0; k < 4 * P; k++)
            v[k] = sum[k % P / 2 * (WIDE / 2) + 8 * i + 2 * (k % 2) + (k / P >> 1) * 4 + (k / P & 1)];
        if (f.has_bias) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const float offset = e < count ? static_cast<const float *>(o.bias)[channel + 16 * i + e] : 0.0f;
#pragma unroll
                for (int p = 0; p < P; p++) v[e * P + p] += offset;
            }
        }
        if (o.finish.adds != 0) {
            together<float, P> added[4];
#pragma unroll
            for (int e = 0; e < 4; e++) {
                added[e] = {};
                if (e < count)
                    added[e] = *reinterpret_cast<const together<float, P> *>(
                        added_to(o.finish, to + e * static_cast<size_t>(f.plane)));
            }
#pragma unroll
            for (int k = 0; k < 4 * P; k++) v[k] += added[k / P].v[k % P];
        }
        activate(o.finish, v);
#pragma unroll
        for (int e = 0; e < 4; e++)
            if (e < count) store_global<P>(to + e * static_cast<size_t>(f.plane), v + e * P);
    }
}

} // namespace

#endif
