/* pool.h: what the kernels of pooling share: pool.cu, of two dimensions, and pool3d.cu. */
#ifndef HARNESS_CUDA_POOL_H
#define HARNESS_CUDA_POOL_H

#include "harness/cuda/layout.h"
#include "harness/cuda/real.h"

/* Does v take the place of the maximum so far? */
template <typename T> __device__ inline bool pool_beats(T v, T max) { return v > max || (v != v && max == max); }

/* A range of an axis: first <= t < last. */
template <typename I> struct pool_span {
    I first, last;
};

/* The taps of a window that starts at `start` which lie inside. */
template <typename I> __device__ inline pool_span<I> pool_taps_inside(I start, I k, I d, I size)
{
    pool_span<I> s = {0, k};
    if (start < 0) s.first = (-start + d - 1) / d;
    if (start + (k - 1) * d >= size) s.last = (size - start + d - 1) / d;
    return s;
}

/* The outputs whose windows reach over this place (`at` counts from the padding's edge). */
template <typename I> __device__ inline pool_span<I> pool_windows_over(I at, I k, I s, I d, I outputs)
{
    const I reach = (k - 1) * d;
    const pool_span<I> w = {at > reach ? (at - reach + s - 1) / s : 0, at / s + 1};
    return {w.first, w.last < outputs ? w.last : outputs};
}

/* An axis: every place that the kernels compute lies within the window's reach of the padded input. */
inline bool pool_axis_fits_32(int64_t size, int64_t pad, int64_t k, int64_t d)
{
    return cuda_fits_32(size + pad) && cuda_fits_32((k - 1) * (d + 1) + 1);
}

/* pool3d.cu, all kinds but the global average. */
cnn_status cuda_pool3d_fwd(cuda_context *, const cnn_plan *, const cnn_map_fwd_args *, cnn_error *);
cnn_status cuda_pool3d_bwd(cuda_context *, const cnn_plan *, const cnn_map_bwd_args *, cnn_error *);

#endif
