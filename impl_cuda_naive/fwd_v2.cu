/* fwd_v2.cu: version 2 of the forward convolution: a grid-stride loop, padded taps skipped, cheap indices.
 *
 * What changed: the taps that lie inside the image are a range of rows times a range of columns, found once an output:
 * the inner loops ask nothing, and a padded tap costs nothing. Pointers move by strides instead of being recomputed.
 * Indices are 32-bit where the problem fits them. The grid is as large as the device wants, whatever the problem, so
 * that there is no size it cannot run.
 * Expected bottleneck: two loads (x and w) for each multiply-add, through the L1 cache. */
#include "harness/cuda/epilogue.h"
#include "impl_cuda_naive/shape.h"
#include "impl_cuda_naive/taps.h"

template <typename T, typename I>
static __device__ inline cuda_real<T> output_sum(const conv_shape<I> &s, const T *x, const T *w, I p, I q)
{
    const I top = p * s.sh - s.ph, left = q * s.sw - s.pw;
    const tap_range<I> rows = taps_inside(top, s.dh, s.ih, s.kh), cols = taps_inside(left, s.dw, s.iw, s.kw);
    cuda_real<T> sum = 0;
    for (I c = 0; c < s.group_ic; c++)
        for (I i = rows.first; i < rows.last; i++) {
            const T *xs = x + c * s.x.c + (top + i * s.dh) * s.x.h, *ws = w + c * s.w.c + i * s.w.i;
            for (I j = cols.first; j < cols.last; j++)
                sum += cuda_load(ws[j * s.w.j]) * cuda_load(xs[(left + j * s.dw) * s.x.w]);
        }
    return sum;
}

template <typename T, typename R, typename I>
static __global__ void __launch_bounds__(CUDA_BLOCK_MOST, 1)
    fwd_v2(conv_shape<I> s, const T *__restrict__ x, const T *__restrict__ w, const R *__restrict__ b, R *y,
           cuda_epilogue<R> epilogue)
{
    const int64_t count = (int64_t)s.mb * s.oc * s.oh * s.ow;
    for (CUDA_GRID_STRIDE(e, count)) {
        const I q = (I)e % s.ow, p = (I)e / s.ow % s.oh, plane = (I)e / s.ow / s.oh;
        const I k = plane % s.oc, n = plane / s.oc, first = k / s.group_oc * s.group_ic;
        cuda_real<T> sum = output_sum<T, I>(s, x + n * s.x.n + first * s.x.c, w + s.w.first + k * s.w.k, p, q);
        if (b != NULL) sum += cuda_load(b[k]);
        epilogue.put(y, n * s.y.n + k * s.y.c + p * s.y.h + q * s.y.w, sum);
    }
}

static cnn_status fit(const cuda_context *context, const cnn_request *r, naive_launch *l, cnn_error *)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    naive_put_stride(context, d->mb * d->oc * d->oh * d->ow, r->knobs[NAIVE_KNOB_V2_THREADS],
                     r->knobs[NAIVE_KNOB_V2_BLOCKS], l);
    return CNN_OK;
}

static cnn_status run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return NAIVE_LAUNCH_INDEXED(context, plan, err, fwd_v2, a->x, a->w, a->b, a->y, cuda_epilogue_of<R>(plan, a));
}

const naive_kernel naive_fwd_v2 = {"fwd_v2", fit, run};
