/* fwd_depthwise.cu: forward convolution of groups of one input channel: a thread a band (depthwise.h). */
#include "harness/cuda/epilogue.h"
#include "impl_cuda_naive/depthwise.h"

template <typename T, typename R, int K, int S, bool LAST>
static __global__ void __launch_bounds__(DEPTHWISE_THREADS)
    fwd_depthwise(depthwise_shape s, const T *__restrict__ x, const T *__restrict__ w, const R *__restrict__ b, R *y,
                  depthwise_grid g, cuda_line_epilogue<R> epilogue)
{
    constexpr int ROWS = depthwise_rows(S);
    const bool plain = epilogue.from == NULL && epilogue.f.kind == CNN_ACT_IDENTITY;
    for (CUDA_GRID_STRIDE(e, g.count)) {
        const depthwise_place at = depthwise_place_of<LAST>(g, (int32_t)e);
        const int32_t first = at.band * ROWS, channel = s.group_oc == 1 ? at.k : at.k / s.group_oc;
        cuda_real<T> weights[K][K], sum[ROWS] = {};
        depthwise_weights<K>(s, w, at.k, weights);
        depthwise_band<K, S, LAST>(s, depthwise_x(s, x, at.n, channel), first * s.sh - s.ph, at.q * s.sw - s.pw,
                                   [&](int r, int i, int j, cuda_real<T> v) { sum[r] += weights[i][j] * v; });
        const cuda_real<T> bias = b != NULL ? cuda_load(b[at.k]) : 0;
        const int32_t left = s.oh - first, out = at.n * s.y.n + at.k * s.y.c + first * s.y.h + at.q * s.y.w;
        if (plain) {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                if (r < left) y[out + r * s.y.h] = cuda_stored<R>(sum[r] + bias);
        } else {
            for (int r = 0; r < ROWS; r++)
                if (r < left) epilogue.put(y, out + r * s.y.h, sum[r] + bias);
        }
    }
}

static cnn_status fit(const cuda_context *context, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    const cnn_status status = depthwise_check(d, err);
    if (status != CNN_OK) return status;
    const depthwise_grid g = depthwise_grid_of(d->mb, d->oc, depthwise_bands(d, d->oh), d->ow);
    l->lines = true;
    naive_put_args(l, g);
    naive_put_stride(context, g.count, DEPTHWISE_THREADS, r->knobs[NAIVE_KNOB_DEPTHWISE_BLOCKS], l);
    return CNN_OK;
}

template <typename T, typename R, bool LAST>
static cnn_status launch(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc *d = &plan->problem.u.conv;
    const depthwise_shape s = conv_shape_of<int32_t>(d);
    cnn_status status = CNN_INTERNAL;
#define CASE(k, stride)                                                                                                \
    if (d->kh == (k) && depthwise_stride(d) == (stride))                                                               \
        status = cuda_launch(context, naive_shape(plan), err, fwd_depthwise<T, R, k, stride, LAST>, s, a->x, a->w,     \
                             a->b, a->y, naive_args<depthwise_grid>(plan), cuda_line_epilogue_of<R>(plan, a));
    DEPTHWISE_CASES(CASE)
#undef CASE
    return status;
}

static cnn_status run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const bool last = plan->problem.u.conv.t.layout == CNN_NHWC;
    return CUDA_BY_PARTS(plan->problem.u.type.dtype,
                         last ? launch<T, R, true>(context, plan, a, err) : launch<T, R, false>(context, plan, a, err));
}

const naive_kernel naive_fwd_depthwise = {"fwd_depthwise", fit, run};
