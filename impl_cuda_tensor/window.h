/* window.h: where a pixel's taps are (C++; device code). */
#ifndef IMPL_CUDA_TENSOR_WINDOW_H
#define IMPL_CUDA_TENSOR_WINDOW_H

#include "impl_cuda_tensor/asm.h"
#include "impl_cuda_tensor/tensor.h"

static __device__ inline int32_t divided(int32_t x, const cuda_divisor &by) { return cuda_divided(x, by); }

struct pixel_place {
    int32_t n, p, q;
};
static __device__ inline pixel_place pixel_at(const cutensor_window &w, int32_t m)
{
    const int32_t n = divided(m, w.by_plane), r = m - n * w.by_plane.d, p = divided(r, w.by_ow);
    return {n, p, r - p * w.ow};
}

/* The row of a patch of the whole tensor where output pixel m's first tap is. */
static __device__ inline int32_t patch_row(const cutensor_window &w, int32_t m)
{
    const pixel_place at = pixel_at(w, m);
    return (at.n * w.high + at.p * w.mul_h) * w.wide + at.q * w.mul_w;
}
/* How far behind it its last tap is. */
static __device__ inline int32_t patch_reach(const cutensor_window &w)
{
    return (w.kh - 1) * w.step_h * w.wide + (w.kw - 1) * w.step_w;
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

/* The input pixel of such a row; -1 where it is padding, or behind the last image. */
static __device__ inline int32_t pixel_of_row(const cutensor_window &w, int32_t images, int32_t row)
{
    const int32_t line = divided(row, w.by_wide), n = divided(line, w.by_high);
    const int32_t v = row - line * w.wide - w.pad_w, h = line - n * w.high - w.pad_h;
    if (static_cast<uint32_t>(v) >= static_cast<uint32_t>(w.iw) ||
        static_cast<uint32_t>(h) >= static_cast<uint32_t>(w.ih) || n >= images)
        return -1;
    return (n * w.ih + h) * w.iw + v;
}

/* Where in the tensor that is gathered a pixel begins; a channel of it is so much further. */
static __device__ inline int32_t place_of(const cutensor_input &in, int32_t pixel)
{
    return pixel * in.pixel + (in.rest == 0 ? 0 : divided(pixel, in.by_plane) * in.rest);
}
static __device__ inline int32_t place_of_channel(const cutensor_input &in, int32_t channel)
{
    return in.together ? channel / in.together : channel * in.channel;
}

/* Two numbers of 16 bits as a word; what is not there is 0, and is not read. */
template <typename T>
static __device__ inline uint32_t load_pair(const T *first, bool has_first, const T *second, bool has_second)
{
    const uint32_t low = has_first ? *reinterpret_cast<const uint16_t *>(first) : 0;
    const uint32_t high = has_second ? *reinterpret_cast<const uint16_t *>(second) : 0;
    return low | high << 16;
}

/* Where output pixel m would read by a tap at the window's corner, which may lie outside of the image: of windows
 * without a division. Tap (i, j) reads (i*step_h, j*step_w) from there. */
struct window_corner {
    int32_t n, h, v, pixel;
};
static __device__ inline window_corner corner_of(const cutensor_window &w, int32_t m)
{
    const pixel_place at = pixel_at(w, m);
    const int32_t h = at.p * w.mul_h - w.pad_h, v = at.q * w.mul_w - w.pad_w;
    return {at.n, h, v, (at.n * w.ih + h) * w.iw + v};
}
static __device__ inline bool is_inside(const cutensor_window &w, int32_t h, int32_t v)
{
    return static_cast<uint32_t>(h) < static_cast<uint32_t>(w.ih) &&
           static_cast<uint32_t>(v) < static_cast<uint32_t>(w.iw);
}

/* The input pixel of output pixel m's tap; -1 where there is none. */
static __device__ inline int32_t pixel_of_tap(const cutensor_window &w, int32_t m, int32_t tap)
{
    const pixel_place at = pixel_at(w, m);
    const int32_t i = divided(tap, w.by_kw), j = tap - i * w.kw;
    int32_t h = at.p * w.mul_h - w.pad_h + i * w.step_h, v = at.q * w.mul_w - w.pad_w + j * w.step_w;
    if (h < 0 || v < 0) return -1;
    const int32_t a = divided(h, w.by_div_h), b = divided(v, w.by_div_w);
    if (a * w.div_h != h || b * w.div_w != v || a >= w.ih || b >= w.iw) return -1;
    return (at.n * w.ih + a) * w.iw + b;
}

#endif
