/* fwd_depthwise.cu: forward convolution of groups of one input channel: a thread a tile (depthwise.h). */
#include "harness/cuda/epilogue.h"
#include "impl_cuda_naive/depthwise.h"

/* Before the numbers of a tile are asked for, so that no thread waits for it behind them. */
template <typename R, int COUNT>
static __device__ inline void take_bias(const R *b, int32_t k, cuda_real<R> (&bias)[COUNT])
{
#pragma unroll
    for (int c = 0; c < COUNT; c++) bias[c] = b != NULL ? cuda_load(b[k + c]) : 0;
}

template <typename T, typename R, typename G>
static __global__ void __launch_bounds__(DEPTHWISE_THREADS, sizeof(T) < 8 ? G::RESIDENT : 1)
    fwd_depthwise(depthwise_shape s, const T *__restrict__ x, const T *__restrict__ w, const R *__restrict__ b, R *y,
                  depthwise_grid g, cuda_line_epilogue<R> epilogue)
{
    constexpr int K = G::K, ROWS = G::ROWS, V = G::V;
    const bool plain = epilogue.from == NULL && epilogue.f.kind == CNN_ACT_IDENTITY;
    cuda_real<T> weights[K][K][G::CHANNELS];
    cuda_real<T> bias[G::CHANNELS];
    if constexpr (G::STAYS) {
        const int32_t first = (int32_t)(blockIdx.x * DEPTHWISE_THREADS + threadIdx.x);
        take_bias(b, depthwise_place_of<true>(g, first).k * V, bias);
        depthwise_weights_of_block<G>(s, w, g.by_channels, weights);
    }
    for (CUDA_GRID_STRIDE(e, g.count)) {
        const depthwise_place at = depthwise_place_of<G::LAST>(g, (int32_t)e);
        const int32_t first = at.band * ROWS, q = at.q * G::COLUMNS, k = at.k * G::CHANNELS;
        const int32_t channel = s.group_oc == 1 ? k : k / s.group_oc;
        cuda_real<T> sum[ROWS][V] = {};
        if constexpr (!G::STAYS) {
            take_bias(b, k, bias);
            depthwise_weights<G>(s, w, k, weights);
        }
        depthwise_band<G>(s, depthwise_x(s, x, at.n, channel), first * s.sh - s.ph, q * s.sw - s.pw,
                          [&](int r, int i, int j, int v, cuda_real<T> value) {
                              sum[r][v] += weights[i][j][G::LAST ? v : 0] * value;
                          });
        const int32_t rows = s.oh - first;
        R *to = y + (at.n * s.y.n + k * s.y.c + first * s.y.h + q * s.y.w);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (r >= rows) break;
#pragma unroll
            for (int v = 0; v < V; v++) sum[r][v] += bias[G::LAST ? v : 0];
            if (plain) {
                depthwise_store<V>(to + r * s.y.h, sum[r], false);
            } else {
#pragma unroll
                for (int v = 0; v < V; v++) epilogue.put(y, to - y + r * s.y.h + v, sum[r][v]);
            }
        }
    }
}

static depthwise_choice choose(const cnn_conv_desc *d) { return depthwise_choose(d, false, d->pw == d->kw / 2); }

static cnn_status fit(const cuda_context *context, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    const cnn_status status = depthwise_check(d, err);
    if (status != CNN_OK) return status;
    const depthwise_choice of = choose(d);
    const bool last = d->t.layout == CNN_NHWC;
    const int64_t bands = ceil_div(d->oh, depthwise_rows(d, of));
    const depthwise_grid g = last ? depthwise_grid_of(d->mb, d->oc / of.together, bands, d->ow)
                                  : depthwise_grid_of(d->mb, d->oc, bands, d->ow / of.together);
    l->lines = true;
    naive_put_args(l, g);
    depthwise_put_stride(context, r, g, last && of.stride > 0, l);
    return CNN_OK;
}

template <typename T, typename R, bool LAST>
static cnn_status launch(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc *d = &plan->problem.u.conv;
    return depthwise_call<T, LAST, false>(d, choose(d), [&](auto tile) {
        return cuda_launch(context, naive_shape(plan), err, fwd_depthwise<T, R, decltype(tile)>,
                           conv_shape_of<int32_t>(d), a->x, a->w, a->b, a->y, naive_args<depthwise_grid>(plan),
                           cuda_line_epilogue_of<R>(plan, a));
    });
}

static cnn_status run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const bool last = plan->problem.u.conv.t.layout == CNN_NHWC;
    return CUDA_BY_PARTS(plan->problem.u.type.dtype,
                         last ? launch<T, R, true>(context, plan, a, err) : launch<T, R, false>(context, plan, a, err));
}

const naive_kernel naive_fwd_depthwise = {"fwd_depthwise", fit, run};
