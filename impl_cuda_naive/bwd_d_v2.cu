/* bwd_d_v2.cu: version 2 of the gradient of the input: one thread a pixel of dx, which gathers.
 *
 * What changed: no atomics: a thread collects all that flows back to its pixel and writes it once, so the order of the
 * sum is fixed (deterministic) and dx need not be zeroed. Of the taps only those count whose output position divides
 * by the stride: every (stride / gcd(stride, dilation))th; the first one is looked for once, the rest follow by
 * addition. Grid-stride, 32-bit indices where they fit, as in FWD's version 2.
 * Expected bottleneck: two loads for each multiply-add, those of dy scattered by the stride. */
#include "impl_cuda_naive/shape.h"
#include "impl_cuda_naive/taps.h"

template <typename T, typename I>
static __device__ inline cuda_real<T> pixel_sum(const conv_shape<I> &s, const T *dy, const T *w, I h, I v)
{
    const tap_class<I> rows = taps_dividing<I>(h + s.ph, s.dh, s.sh), cols = taps_dividing<I>(v + s.pw, s.dw, s.sw);
    cuda_real<T> sum = 0;
    if (rows.first == rows.every || cols.first == cols.every) return sum;
    for (I i = rows.first, p = rows.output; i < s.kh; i += rows.every, p -= rows.back) {
        if (p < 0 || p >= s.oh) continue;
        for (I j = cols.first, q = cols.output; j < s.kw; j += cols.every, q -= cols.back) {
            if (q < 0 || q >= s.ow) continue;
            const T *dys = dy + p * s.y.h + q * s.y.w, *ws = w + i * s.w.i + j * s.w.j;
            for (I k = 0; k < s.group_oc; k++) sum += cuda_load(ws[k * s.w.k]) * cuda_load(dys[k * s.y.c]);
        }
    }
    return sum;
}

template <typename T, typename R, typename I>
static __global__ void __launch_bounds__(CUDA_BLOCK_MOST, 1)
    bwd_d_v2(conv_shape<I> s, const T *__restrict__ dy, const T *__restrict__ w, R *__restrict__ dx, bool add)
{
    const int64_t count = (int64_t)s.mb * s.ic * s.ih * s.iw;
    for (CUDA_GRID_STRIDE(e, count)) {
        const I v = (I)e % s.iw, h = (I)e / s.iw % s.ih, plane = (I)e / s.iw / s.ih;
        const I channel = plane % s.ic, n = plane / s.ic;
        const I c = channel % s.group_ic, first = channel / s.group_ic * s.group_oc;
        const cuda_real<T> sum =
            pixel_sum<T, I>(s, dy + n * s.y.n + first * s.y.c, w + s.w.first + first * s.w.k + c * s.w.c, h, v);
        cuda_put(&dx[n * s.x.n + channel * s.x.c + h * s.x.h + v * s.x.w], sum, add);
    }
}

static cnn_status fit(const cuda_context *context, const cnn_request *r, naive_launch *l, cnn_error *)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    naive_put_stride(context, d->mb * d->ic * d->ih * d->iw, r->knobs[NAIVE_KNOB_V2_THREADS],
                     r->knobs[NAIVE_KNOB_V2_BLOCKS], l);
    return CNN_OK;
}

static cnn_status run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return NAIVE_LAUNCH_INDEXED(context, plan, err, bwd_d_v2, a->dy, a->w, a->dx, a->beta != 0);
}

const naive_kernel naive_bwd_d_v2 = {"bwd_d_v2", fit, run};
