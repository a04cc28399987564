/* depthwise.h: convolutions in which each group has one input channel, as MobileNet's (C++): what the three kernels of
 * the algorithm `depthwise` share.
 *
 * There is nothing to be reused between channels: a kernel of K x K does 2*K*K operations for each number that it must
 * move, so memory is the limit, and the art is to read each number once. A thread computes a band: ROWS outputs one
 * below the other. Rows of the input that several of them need are read once, into registers, and lanes lie where
 * memory does: along the columns of NCHW, along the channels of NHWC.
 * Kernels are compiled for sides of 3, 5 and 7, and for strides S of 1 and 2 without dilation; S = 0 is any other
 * stride and dilation, where bands share no rows. */
#ifndef IMPL_CUDA_NAIVE_DEPTHWISE_H
#define IMPL_CUDA_NAIVE_DEPTHWISE_H

#include "impl_cuda_naive/shape.h"

static constexpr int32_t DEPTHWISE_ROWS = 4, DEPTHWISE_THREADS = 256;

#define DEPTHWISE_CASES(CASE)                                                                                          \
    CASE(3, 1) CASE(3, 2) CASE(3, 0) CASE(5, 1) CASE(5, 2) CASE(5, 0) CASE(7, 1) CASE(7, 2) CASE(7, 0)

typedef conv_shape<int32_t> depthwise_shape;

/* A plane of one image and channel: of x or of y. */
template <typename T> struct depthwise_plane {
    const T *at;
    int32_t rows, cols, row, col; /* sizes, strides */
};

/* Where a thread works. */
struct depthwise_place {
    int32_t n, k, band, q;
};

/* Item number e of mb x channels x bands x cols, in the order in which numbers lie in memory. */
static __device__ inline depthwise_place depthwise_place_of(int32_t e, int32_t channels, int32_t bands, int32_t cols,
                                                            bool channels_last)
{
    depthwise_place at;
    if (channels_last) {
        at.k = e % channels, e /= channels;
        at.q = e % cols, e /= cols;
        at.band = e % bands, at.n = e / bands;
    } else {
        at.q = e % cols, e /= cols;
        at.band = e % bands, e /= bands;
        at.k = e % channels, at.n = e / channels;
    }
    return at;
}

template <typename T>
static __device__ inline cuda_real<T> depthwise_at(const depthwise_plane<T> &p, int32_t row, int32_t col)
{
    return row >= 0 && row < p.rows && col >= 0 && col < p.cols ? cuda_load(p.at[row * p.row + col * p.col]) : 0;
}

template <typename T>
static __device__ inline depthwise_plane<T> depthwise_x(const depthwise_shape &s, const T *x, int32_t n, int32_t c)
{
    return {x + n * s.x.n + c * s.x.c, s.ih, s.iw, s.x.h, s.x.w};
}

template <typename T>
static __device__ inline depthwise_plane<T> depthwise_y(const depthwise_shape &s, const T *y, int32_t n, int32_t k)
{
    return {y + n * s.y.n + k * s.y.c, s.oh, s.ow, s.y.h, s.y.w};
}

/* Gives each(r, i, j, v) what output r of a band reads through tap (i, j): rows of a dense band from top to bottom,
 * each number loaded once. */
template <int K, int S, typename T, typename F>
static __device__ inline void depthwise_band(const depthwise_shape &s, const depthwise_plane<T> &p, int32_t top,
                                             int32_t left, F each)
{
    constexpr int ROWS = DEPTHWISE_ROWS;
    if constexpr (S > 0) {
#pragma unroll
        for (int t = 0; t < (ROWS - 1) * S + K; t++) {
            cuda_real<T> line[K];
#pragma unroll
            for (int j = 0; j < K; j++) line[j] = depthwise_at(p, top + t, left + j);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                if (t < r * S || t >= r * S + K) continue;
#pragma unroll
                for (int j = 0; j < K; j++) each(r, t - r * S, j, line[j]);
            }
        }
    } else {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int i = 0; i < K; i++)
#pragma unroll
                for (int j = 0; j < K; j++) each(r, i, j, depthwise_at(p, top + r * s.sh + i * s.dh, left + j * s.dw));
    }
}

static inline int32_t depthwise_bands(int64_t rows) { return (int32_t)ceil_div(rows, DEPTHWISE_ROWS); }
/* The S of the kernel: see above. */
static inline int depthwise_stride(const cnn_conv_desc *d)
{
    return d->sh == d->sw && d->sh <= 2 && d->dh == 0 && d->dw == 0 ? (int)d->sh : 0;
}

static inline cnn_status depthwise_check(const cnn_conv_desc *d, cnn_error *err)
{
    if (d->ic != d->g)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "depthwise takes groups of one input channel, and a group has %lld here: use %s",
                        (long long)(d->ic / d->g), cuda_has_half(d->t.dtype) ? "v2" : "v4");
    if (d->kh != d->kw || (d->kh != 3 && d->kh != 5 && d->kh != 7))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "depthwise takes kernels of 3x3, 5x5 and 7x7, not %lldx%lld: use v2",
                        (long long)d->kh, (long long)d->kw);
    if (!conv_fits_32(d, d->mb))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "depthwise counts in 32 bits, and this is too large for that: use v2");
    return CNN_OK;
}

#endif
