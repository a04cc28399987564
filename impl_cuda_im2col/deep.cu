/* deep.cu: the columns of a convolution of three dimensions, straight from x, and dx collected from them.
 *
 * Idea: as implicit_pad and gather, with an axis more: a thread copies one element of the columns, or collects all that
 * belongs to one pixel of dx, in a fixed order. Rows of the tensor and of the kernel count over all depths together.
 * Expected bottleneck: the divisions that find out where an element belongs. */
#include "impl_cuda_im2col/columns.h"

/* The row of the tensor that output row p reads by row a of the kernel; -1: the padding. */
static __device__ inline int32_t row_read(const cucol_geometry &g, int32_t p, int32_t a)
{
    const int32_t z = p / g.depth.oh * g.depth.s + g.depth.first + a / g.depth.kh * g.depth.step;
    const int32_t h = p % g.depth.oh * g.sh + g.h0 + a % g.depth.kh * g.hstep;
    return z >= 0 && z < g.depth.i && h >= 0 && h < g.depth.ih ? z * g.depth.ih + h : -1;
}

template <typename T>
static __global__ void copy_deep(cucol_geometry g, const T *__restrict__ x, T *__restrict__ columns, cucol_bias bias)
{
    write_bias<T>(bias);
    const int64_t count = (int64_t)g.n * g.rows * g.pixels;
    for (CUDA_GRID_STRIDE(e, count)) {
        const column_place at = column_at(g, (uint32_t)e);
        const int32_t b = (int32_t)(at.row % (uint32_t)g.kw), ca = (int32_t)(at.row / (uint32_t)g.kw);
        const int32_t h = row_read(g, (int32_t)at.p, ca % g.kh), w = (int32_t)at.q * g.sw + g.w0 + b * g.wstep;
        const T *channel = x + at.n * g.tensor.image + (int64_t)(ca / g.kh) * g.tensor.channel;
        columns[e] =
            h >= 0 && w >= 0 && w < g.iw ? channel[(int64_t)h * g.tensor.row + (int64_t)w * g.tensor.pixel] : T(0);
    }
}

cnn_status cucol_im2col_deep(cucol_context *context, const cnn_plan *plan, const cucol_geometry *g, const void *tensor,
                             void *columns, const cucol_bias *bias, cnn_error *err)
{
    const cuda_shape shape = cucol_shape(context, plan, "im2col deep", column_count(*g), CUCOL_KNOB_IM2COL_THREADS,
                                         CUCOL_KNOB_IM2COL_BLOCKS);
    return CUCOL_LAUNCH(context, plan, shape, err, copy_deep, *g, tensor, columns, *bias);
}

/* The output of an axis that reads pixel `at` by a tap `shift` from its start; -1: none. */
static __device__ inline int32_t read_by(int32_t at, int32_t shift, int32_t stride, int32_t outputs)
{
    const int32_t distance = at - shift;
    return distance >= 0 && distance % stride == 0 && distance / stride < outputs ? distance / stride : -1;
}

template <typename T>
static __device__ inline T collect_deep(const cucol_geometry &g, const T *column, int32_t h, int32_t w)
{
    const int32_t outputs = g.oh / g.depth.oh;
    T sum = 0;
    for (int32_t a = 0; a < g.kh; a++) {
        const int32_t z = read_by(h / g.depth.ih, g.depth.first + a / g.depth.kh * g.depth.step, g.depth.s, outputs);
        const int32_t p = read_by(h % g.depth.ih, g.h0 + a % g.depth.kh * g.hstep, g.sh, g.depth.oh);
        if (z < 0 || p < 0) continue;
        const T *row = column + (int64_t)a * g.kw * g.row_stride + ((int64_t)z * g.depth.oh + p) * g.ow;
        for (int32_t b = 0; b < g.kw; b++) {
            const int32_t q = read_by(w, g.w0 + b * g.wstep, g.sw, g.ow);
            if (q >= 0) sum += row[b * g.row_stride + q];
        }
    }
    return sum;
}

template <typename T>
static __global__ void gather_deep(cucol_geometry g, const T *__restrict__ columns, T *__restrict__ dx, bool add)
{
    const int64_t count = (int64_t)g.n * g.ic * g.ih * g.iw;
    for (CUDA_GRID_STRIDE(e, count)) {
        const uint32_t line = (uint32_t)e / (uint32_t)g.iw, plane = line / (uint32_t)g.ih;
        const uint32_t n = plane / (uint32_t)g.ic;
        const int32_t w = (int32_t)((uint32_t)e % (uint32_t)g.iw), h = (int32_t)(line % (uint32_t)g.ih);
        const int32_t c = (int32_t)(plane % (uint32_t)g.ic);
        const T *column = columns + n * g.image_stride + (int64_t)c * g.kh * g.kw * g.row_stride;
        const T sum = collect_deep(g, column, h, w);
        T *pixel = dx + n * g.tensor.image + (int64_t)c * g.tensor.channel + (int64_t)h * g.tensor.row +
                   (int64_t)w * g.tensor.pixel;
        *pixel = add ? *pixel + sum : sum;
    }
}

cnn_status cucol_col2im_deep(cucol_context *context, const cnn_plan *plan, const cucol_geometry *g, const void *columns,
                             void *tensor, bool add, cnn_error *err)
{
    const int64_t count = (int64_t)g->n * g->ic * g->ih * g->iw;
    const cuda_shape shape =
        cucol_shape(context, plan, "col2im deep", count, CUCOL_KNOB_COL2IM_THREADS, CUCOL_KNOB_COL2IM_BLOCKS);
    return CUCOL_LAUNCH(context, plan, shape, err, gather_deep, *g, columns, tensor, add);
}
