/* shape.h: what every kernel must know of a convolution, passed by value (C++).
 *
 * I is the type of indices: int64_t always works; int32_t, where everything fits, makes divisions some four times
 * cheaper. Layouts, groups and flip are strides and offsets here, so that the kernels need not tell them apart. */
#ifndef IMPL_CUDA_NAIVE_SHAPE_H
#define IMPL_CUDA_NAIVE_SHAPE_H

#include "harness/cuda/launch.h"
#include "harness/problem/names.h"
#include "harness/problem/shape.h"
#include "impl_cuda_naive/naive.h"

#include <stdint.h>

/* Element (n,c,h,w) stands at n*this->n + c*this->c + h*this->h + w*this->w. */
template <typename I> struct tensor_strides {
    I n, c, h, w;
};

/* Element (k,c,i,j), c within the group, stands at first + k*this->k + c*this->c + i*this->i + j*this->j. */
template <typename I> struct weight_strides {
    I first, k, c, i, j;
};

template <typename I> struct conv_shape {
    I mb, ic, ih, iw, oc, oh, ow, kh, kw, sh, sw, ph, pw;
    I dh, dw;             /* from tap to tap: 1 is dense */
    I group_ic, group_oc; /* channels of one group */
    tensor_strides<I> x, y;
    weight_strides<I> w;
};

template <typename I>
static inline tensor_strides<I> tensor_strides_of(cnn_layout layout, int64_t c, int64_t h, int64_t w)
{
    if (layout == CNN_NCHW) return {(I)(c * h * w), (I)(h * w), (I)w, (I)1};
    return {(I)(h * w * c), (I)1, (I)(w * c), (I)c};
}

/* The flipped kernel is the same one read backwards, from its last tap. */
template <typename I> static inline weight_strides<I> weight_strides_of(const cnn_conv_desc *d)
{
    const int64_t taps = d->kh * d->kw, k = d->ic / d->g * taps;
    if (d->flip) return {(I)(taps - 1), (I)k, (I)taps, (I)-d->kw, (I)-1};
    return {0, (I)k, (I)taps, (I)d->kw, (I)1};
}

template <typename I> static inline conv_shape<I> conv_shape_of(const cnn_conv_desc *d)
{
    conv_shape<I> s = {
        (I)d->mb,       (I)d->ic,          (I)d->ih,          (I)d->iw, (I)d->oc, (I)d->oh, (I)d->ow,
        (I)d->kh,       (I)d->kw,          (I)d->sh,          (I)d->sw, (I)d->ph, (I)d->pw, (I)(d->dh + 1),
        (I)(d->dw + 1), (I)(d->ic / d->g), (I)(d->oc / d->g), {},       {},       {}};
    s.x = tensor_strides_of<I>(d->t.layout, d->ic, d->ih, d->iw);
    s.y = tensor_strides_of<I>(d->t.layout, d->oc, d->oh, d->ow);
    s.w = weight_strides_of<I>(d);
    return s;
}

/* Whether `images` images, with all that windows reach beyond their edges, and the weights with the biases behind them
 * (BWD_W counts both in one) fit 32-bit indices. h and v are bounds of every coordinate; the products are taken in
 * floating point, where they cannot overflow. */
static inline bool conv_fits_32(const cnn_conv_desc *d, int64_t images)
{
    const double limit = INT32_MAX, n = (double)images;
    const double h = (double)(d->oh + d->kh) * (double)d->sh + (double)(d->kh + d->sh) * (double)(d->dh + 1) +
                     (double)(d->ih + d->ph);
    const double v = (double)(d->ow + d->kw) * (double)d->sw + (double)(d->kw + d->sw) * (double)(d->dw + 1) +
                     (double)(d->iw + d->pw);
    const double y = n * (double)d->oc * (double)d->oh * (double)d->ow;
    const double w = (double)d->oc * (double)(d->ic / d->g) * (double)d->kh * (double)d->kw;
    const double sums = w + (d->bias ? (double)d->oc : 0);
    return n * (double)d->ic * h * v <= limit && y <= limit && sums <= limit;
}

/* The gate of the versions that have nothing but 32-bit indices within an image (the batch may be any). `instead` is
 * the algorithm that counts further. */
static inline cnn_status conv_check_32(const char *version, const char *instead, const cnn_conv_desc *d, cnn_error *err)
{
    if (conv_fits_32(d, 1)) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED,
                    "%s counts within an image in 32 bits, and %lld x %lld x %lld to %lld x %lld x "
                    "%lld is too large for that; use algorithm %s",
                    version, (long long)d->ic, (long long)d->ih, (long long)d->iw, (long long)d->oc, (long long)d->oh,
                    (long long)d->ow, instead);
}

static inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline size_t element_size(const cnn_conv_desc *d) { return cnn_dtype_size(d->t.dtype); }

/* kernel<float> or kernel<double>, by dtype. */
#define NAIVE_LAUNCH(dtype, context, shape, err, kernel, ...)                                                          \
    ((dtype) == CNN_F32 ? cuda_launch((context), (shape), (err), kernel<float>, __VA_ARGS__)                           \
                        : cuda_launch((context), (shape), (err), kernel<double>, __VA_ARGS__))

/* kernel<T, I>, whose first argument is the shape: T by dtype, I as narrow as the problem allows. */
#define NAIVE_LAUNCH_INDEXED(d, context, shape, err, kernel, ...)                                                      \
    (conv_fits_32((d), (d)->mb) ? NAIVE_LAUNCH_BY_INDEX(int32_t, d, context, shape, err, kernel, __VA_ARGS__)          \
                                : NAIVE_LAUNCH_BY_INDEX(int64_t, d, context, shape, err, kernel, __VA_ARGS__))
#define NAIVE_LAUNCH_BY_INDEX(I, d, context, shape, err, kernel, ...)                                                  \
    ((d)->t.dtype == CNN_F32                                                                                           \
         ? cuda_launch((context), (shape), (err), kernel<float, I>, conv_shape_of<I>(d), __VA_ARGS__)                  \
         : cuda_launch((context), (shape), (err), kernel<double, I>, conv_shape_of<I>(d), __VA_ARGS__))

/* The launch of version 2 of FWD and of BWD_D: a grid-stride loop over `count` results. */
static inline cuda_shape v2_shape(const cuda_context *context, const char *kernel, int64_t count)
{
    return cuda_shape_1d(context, kernel, count, (int)context->knobs[NAIVE_KNOB_V2_THREADS],
                         (int)context->knobs[NAIVE_KNOB_V2_BLOCKS]);
}

/* What makes a launch impossible, for a version's part of the gate: CNN_UNSUPPORTED in words. */
cnn_status naive_grid_check(const cuda_context *, const char *version, const int64_t grid[3], const int64_t block[3],
                            cnn_error *);
cnn_status naive_shared_check(const cuda_context *, const char *version, int64_t bytes, int64_t knob_kib, cnn_error *);

#endif
