/* shape.h: what every kernel must know of a convolution, passed by value (C++).
 *
 * I is the type of indices: int64_t always works; int32_t, where everything fits, makes divisions some four times
 * cheaper. Layouts, groups and flip are strides and offsets here, so that the kernels need not tell them apart. */
#ifndef IMPL_CUDA_NAIVE_SHAPE_H
#define IMPL_CUDA_NAIVE_SHAPE_H

#include "harness/cnn/shape.h"
#include "harness/cuda/real.h"
#include "impl_cuda_naive/naive.h"

#include <stdint.h>
#include <string.h>

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
/* Of x, w and dy, where results may have another type. */
static inline size_t factor_size(const cnn_conv_desc *d)
{
    return cnn_dtype_size(cnn_part_dtype(d->t.dtype, CNN_PART_FACTOR));
}
/* Of a cuda_real: a sum that waits in the workspace. */
static inline size_t sum_size(const cnn_conv_desc *d)
{
    return cuda_has_half(d->t.dtype) ? sizeof(float) : element_size(d);
}

/* The kernel's own arguments in its launch, and from a plan's. */
template <typename A> static inline void naive_put_args(naive_launch *l, const A &args)
{
    static_assert(sizeof args <= sizeof l->args, "naive_launch has no room for these arguments");
    memcpy(l->args, &args, sizeof args);
}
template <typename A> static inline A naive_args(const cnn_plan *plan)
{
    A args;
    memcpy(&args, static_cast<const naive_launch *>(plan->state)->args, sizeof args);
    return args;
}

/* A grid-stride loop over `count` results. */
static inline void naive_put_stride(const cuda_context *context, int64_t count, int64_t threads, int64_t blocks_per_sm,
                                    naive_launch *l)
{
    const cuda_shape shape = cuda_shape_1d(context, l->kernel, count, threads, blocks_per_sm);
    l->grid[0] = shape.grid.x;
    l->block[0] = shape.block.x;
}

static inline cuda_shape naive_shape(const cnn_plan *plan)
{
    const naive_launch *l = static_cast<const naive_launch *>(plan->state);
    cuda_shape shape = {l->kernel, dim3((unsigned)l->grid[0], (unsigned)l->grid[1], (unsigned)l->grid[2]),
                        dim3((unsigned)l->block[0], (unsigned)l->block[1], (unsigned)l->block[2]),
                        (size_t)l->shared_bytes};
    shape.cluster = (unsigned)l->cluster;
    return shape;
}

/* The plan's launch of kernel<T>, by dtype. */
#define NAIVE_LAUNCH(context, plan, err, kernel, ...)                                                                  \
    CUDA_BY_PARTS((plan)->problem.u.type.dtype,                                                                        \
                  cuda_launch((context), naive_shape(plan), (err), kernel<T, R>, __VA_ARGS__))

/* The same of kernel<T, R, I>, whose first argument is the conv_shape: I as narrow as the problem allows. */
#define NAIVE_LAUNCH_INDEXED(context, plan, err, kernel, ...)                                                          \
    CUDA_BY_PARTS_INDEXED((plan)->problem.u.type.dtype,                                                                \
                          conv_fits_32(&(plan)->problem.u.conv, (plan)->problem.u.conv.mb), int32_t, int64_t,          \
                          cuda_launch((context), naive_shape(plan), (err), kernel<T, R, I>,                            \
                                      conv_shape_of<I>(&(plan)->problem.u.conv), __VA_ARGS__))

#endif
