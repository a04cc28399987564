/* columns.h: what the kernels share: where a column's element comes from, and the bias that im2col writes on the side.
 */
#ifndef IMPL_CUDA_IM2COL_COLUMNS_H
#define IMPL_CUDA_IM2COL_COLUMNS_H

#include "harness/cuda/launch.h"
#include "impl_cuda_im2col/im2col.h"

/* One element of the columns, or one window where a kernel leaves the row out. Unsigned: its division is cheaper. */
struct column_place {
    uint32_t n, row, p, q;
};

/* Element `e` of the columns as they stand in memory, batched or wide. */
static __device__ inline column_place column_at(const cucol_geometry &g, uint32_t e)
{
    const bool wide = g.image_stride == g.pixels;
    const uint32_t pixel = e % (uint32_t)g.pixels, line = e / (uint32_t)g.pixels;
    const uint32_t inner = (uint32_t)(wide ? g.n : g.rows);
    column_place at;
    at.p = pixel / (uint32_t)g.ow;
    at.q = pixel % (uint32_t)g.ow;
    at.n = wide ? line % inner : line / inner;
    at.row = wide ? line / inner : line % inner;
    return at;
}

/* Window `e` of the chunk: (n, p, q), pixels side by side. */
static __device__ inline column_place window_at(const cucol_geometry &g, uint32_t e)
{
    const uint32_t pixel = e % (uint32_t)g.pixels;
    column_place at;
    at.n = e / (uint32_t)g.pixels;
    at.row = 0;
    at.p = pixel / (uint32_t)g.ow;
    at.q = pixel % (uint32_t)g.ow;
    return at;
}

/* Where in a padded tensor that element is: no test for the edge, which is what the padded copy is for. */
static __device__ inline int64_t padded_offset(const cucol_geometry &g, const column_place &at)
{
    const int32_t b = (int32_t)(at.row % (uint32_t)g.kw), ca = (int32_t)(at.row / (uint32_t)g.kw);
    const int32_t a = ca % g.kh, c = ca / g.kh;
    const int32_t h = (int32_t)at.p * g.sh + g.h0 + a * g.hstep, w = (int32_t)at.q * g.sw + g.w0 + b * g.wstep;
    return at.n * g.tensor.image + (int64_t)c * g.tensor.channel + (int64_t)h * g.tensor.row +
           (int64_t)w * g.tensor.pixel;
}

static inline int64_t column_count(const cucol_geometry &g) { return (int64_t)g.n * g.rows * g.pixels; }
static inline int64_t window_count(const cucol_geometry &g) { return (int64_t)g.n * g.pixels; }

/* The outputs get their bias before the product adds to them. im2col does it on the side, for it writes nothing that
 * depends on it: one launch less, which is what a small batch waits for. Any shape of grid. */
template <typename T> static __device__ inline void write_bias(const cucol_bias &bias)
{
    if (bias.y == nullptr) return;
    T *y = static_cast<T *>(bias.y);
    const T *b = static_cast<const T *>(bias.b);
    const uint32_t channels = (uint32_t)bias.shape.channels, pixels = (uint32_t)bias.shape.pixels;
    const int64_t count = (int64_t)bias.shape.n * channels * pixels;
    const int64_t block = (int64_t)blockIdx.y * gridDim.x + blockIdx.x;
    for (int64_t i = block * blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * gridDim.y * blockDim.x) {
        const uint32_t e = (uint32_t)i, channel = (bias.shape.channels_last ? e : e / pixels) % channels;
        y[i] = bias.add ? y[i] + b[channel] : b[channel];
    }
}

/* cuda_launch() of kernel<T>, by the plan's dtype. */
#define CUCOL_LAUNCH(context, plan, shape, err, kernel, ...)                                                           \
    CUDA_BY_DTYPE((plan)->problem.u.type.dtype, cuda_launch(&(context)->cuda, (shape), (err), kernel<T>, __VA_ARGS__))

static inline cuda_shape cucol_shape(const cucol_context *context, const cnn_plan *plan, const char *kernel,
                                     int64_t count, int threads, int blocks)
{
    return cuda_shape_1d(&context->cuda, kernel, count, plan->knobs[threads], plan->knobs[blocks]);
}

#endif
