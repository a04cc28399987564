/* col2im_gather.cu: version 3: a thread collects all that belongs to one pixel of dx, and writes it once.
 *
 * What changed: no atomics, so the order of the sum is fixed (deterministic); no zeroing, no padded copy and no
 * cropping, for a thread knows its pixel: three kernels less. Which windows hold the pixel at tap (a, b) is a division
 * by the stride; from tap to tap quotient and remainder are carried on by additions. Expected bottleneck: reading the
 * columns. */
#include "impl_cuda_im2col/columns.h"

/* value = quotient*stride + remainder, 0 <= remainder < stride; negative values too. */
struct divided {
    int32_t quotient, remainder;
};

static inline __host__ __device__ divided divide(int32_t value, int32_t stride)
{
    divided d = {value / stride, value % stride};
    if (d.remainder < 0) {
        d.remainder += stride;
        d.quotient--;
    }
    return d;
}

/* at - step: the window row that reads the same pixel by the next tap. */
static __device__ inline void advance(divided &at, const divided &step, int32_t stride)
{
    at.quotient -= step.quotient;
    at.remainder -= step.remainder;
    if (at.remainder < 0) {
        at.remainder += stride;
        at.quotient--;
    }
}

template <typename T>
static __device__ inline T collect(const cucol_geometry &g, const T *column, int32_t h, int32_t w, const divided &hstep,
                                   const divided &wstep)
{
    T sum = 0;
    divided p = divide(h - g.h0, g.sh);
    const divided first = divide(w - g.w0, g.sw);
    for (int32_t a = 0; a < g.kh; a++, advance(p, hstep, g.sh)) {
        if (p.remainder != 0 || p.quotient < 0 || p.quotient >= g.oh) continue;
        const T *row = column + (int64_t)a * g.kw * g.row_stride + (int64_t)p.quotient * g.ow;
        divided q = first;
        for (int32_t b = 0; b < g.kw; b++, advance(q, wstep, g.sw))
            if (q.remainder == 0 && q.quotient >= 0 && q.quotient < g.ow) sum += row[b * g.row_stride + q.quotient];
    }
    return sum;
}

template <typename T>
static __global__ void gather(cucol_geometry g, const T *__restrict__ columns, T *__restrict__ dx, bool add,
                              divided hstep, divided wstep)
{
    const int64_t count = (int64_t)g.n * g.ic * g.ih * g.iw;
    for (CUDA_GRID_STRIDE(e, count)) {
        const uint32_t line = (uint32_t)e / (uint32_t)g.iw, plane = line / (uint32_t)g.ih;
        const uint32_t n = plane / (uint32_t)g.ic;
        const int32_t w = (int32_t)((uint32_t)e % (uint32_t)g.iw), h = (int32_t)(line % (uint32_t)g.ih);
        const int32_t c = (int32_t)(plane % (uint32_t)g.ic);
        const T *column = columns + n * g.image_stride + (int64_t)c * g.kh * g.kw * g.row_stride;
        const T sum = collect(g, column, h, w, hstep, wstep);
        T *pixel = dx + n * g.tensor.image + c * g.tensor.channel + h * g.tensor.row + w * g.tensor.pixel;
        *pixel = add ? *pixel + sum : sum;
    }
}

cnn_status cucol_col2im_gather(cucol_context *context, const cnn_plan *plan, const cucol_geometry *g,
                               const void *columns, void *tensor, bool add, cnn_error *err)
{
    const int64_t count = (int64_t)g->n * g->ic * g->ih * g->iw;
    const cuda_shape shape =
        cucol_shape(context, plan, "col2im gather", count, CUCOL_KNOB_COL2IM_THREADS, CUCOL_KNOB_COL2IM_BLOCKS);
    return CUCOL_LAUNCH(context, plan, shape, err, gather, *g, columns, tensor, add, divide(g->hstep, g->sh),
                        divide(g->wstep, g->sw));
}
