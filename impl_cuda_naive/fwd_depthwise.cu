/* fwd_depthwise.cu: forward convolution of groups of one input channel: a thread a band (depthwise.h). */
#include "harness/cuda/epilogue.h"
#include "impl_cuda_naive/depthwise.h"

template <typename T, typename R, int K, int S>
static __global__ void __launch_bounds__(DEPTHWISE_THREADS)
    fwd_depthwise(depthwise_shape s, const T *__restrict__ x, const T *__restrict__ w, const R *__restrict__ b, R *y,
                  int32_t bands, bool channels_last, cuda_line_epilogue<R> epilogue)
{
    const int64_t count = (int64_t)s.mb * s.oc * bands * s.ow;
    for (CUDA_GRID_STRIDE(e, count)) {
        const depthwise_place at = depthwise_place_of((int32_t)e, s.oc, bands, s.ow, channels_last);
        const int32_t first = at.band * DEPTHWISE_ROWS;
        const T *ws = w + s.w.first + at.k * s.w.k;
        cuda_real<T> weights[K][K], sum[DEPTHWISE_ROWS] = {};
#pragma unroll
        for (int i = 0; i < K; i++)
#pragma unroll
            for (int j = 0; j < K; j++) weights[i][j] = cuda_load(ws[i * s.w.i + j * s.w.j]);
        depthwise_band<K, S>(s, depthwise_x(s, x, at.n, at.k / s.group_oc), first * s.sh - s.ph, at.q * s.sw - s.pw,
                             [&](int r, int i, int j, cuda_real<T> v) { sum[r] += weights[i][j] * v; });
        const cuda_real<T> bias = b != NULL ? cuda_load(b[at.k]) : 0;
        const int64_t out = at.n * s.y.n + at.k * s.y.c + at.q * s.y.w;
#pragma unroll
        for (int r = 0; r < DEPTHWISE_ROWS; r++) {
            if (first + r >= s.oh) break;
            epilogue.put(y, out + (first + r) * s.y.h, sum[r] + bias);
        }
    }
}

static cnn_status fit(const cuda_context *context, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    const cnn_status status = depthwise_check(d, err);
    l->lines = true;
    if (status == CNN_OK)
        naive_put_stride(context, d->mb * d->oc * depthwise_bands(d->oh) * d->ow, DEPTHWISE_THREADS,
                         r->knobs[NAIVE_KNOB_DEPTHWISE_BLOCKS], l);
    return status;
}

template <typename T, typename R>
static cnn_status launch(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc *d = &plan->problem.u.conv;
    const depthwise_shape s = conv_shape_of<int32_t>(d);
    cnn_status status = CNN_INTERNAL;
#define CASE(k, stride)                                                                                                \
    if (d->kh == (k) && depthwise_stride(d) == (stride))                                                               \
        status =                                                                                                       \
            cuda_launch(context, naive_shape(plan), err, fwd_depthwise<T, R, k, stride>, s, a->x, a->w, a->b, a->y,    \
                        depthwise_bands(d->oh), d->t.layout == CNN_NHWC, cuda_line_epilogue_of<R>(plan, a));
    DEPTHWISE_CASES(CASE)
#undef CASE
    return status;
}

static cnn_status run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return CUDA_BY_PARTS(plan->problem.u.type.dtype, launch<T, R>(context, plan, a, err));
}

const naive_kernel naive_fwd_depthwise = {"fwd_depthwise", fit, run};
