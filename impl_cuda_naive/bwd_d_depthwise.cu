/* bwd_d_depthwise.cu: gradient of the input of groups of one input channel: a thread a band of dx (depthwise.h).
 *
 * With a stride of 1 and no dilation this is a forward pass over dy with the kernel turned. Else a pixel gathers what
 * the taps bring whose output position divides by the stride. */
#include "impl_cuda_naive/depthwise.h"

/* What is divided by S, where that is known when compiling. */
template <int S> static __device__ inline int32_t step_of(int32_t stride) { return S > 0 ? S : stride; }

template <typename T, int K, int S>
static __device__ inline void gather(const depthwise_shape &s, const depthwise_plane<T> &dy, const T *w, int32_t h,
                                     int32_t v, cuda_real<T> *sum)
{
    const int32_t sh = step_of<S>(s.sh), sw = step_of<S>(s.sw);
#pragma unroll
    for (int i = 0; i < K; i++) {
        const int32_t p = h + s.ph - i * s.dh;
        if (p < 0 || p % sh != 0 || p / sh >= s.oh) continue;
#pragma unroll
        for (int j = 0; j < K; j++) {
            const int32_t q = v + s.pw - j * s.dw;
            if (q < 0 || q % sw != 0 || q / sw >= s.ow) continue;
            *sum += cuda_load(w[i * s.w.i + j * s.w.j]) * cuda_load(dy.at[p / sh * dy.row + q / sw * dy.col]);
        }
    }
}

template <typename T, typename R, int K, int S>
static __global__ void __launch_bounds__(DEPTHWISE_THREADS)
    bwd_d_depthwise(depthwise_shape s, const T *__restrict__ dy, const T *__restrict__ w, R *__restrict__ dx,
                    int32_t bands, bool channels_last, bool add)
{
    const int64_t count = (int64_t)s.mb * s.ic * bands * s.iw;
    for (CUDA_GRID_STRIDE(e, count)) {
        const depthwise_place at = depthwise_place_of((int32_t)e, s.ic, bands, s.iw, channels_last);
        const int32_t first = at.band * DEPTHWISE_ROWS;
        cuda_real<T> sum[DEPTHWISE_ROWS] = {};
        for (int32_t m = 0; m < s.group_oc; m++) {
            const int32_t k = at.k * s.group_oc + m;
            const depthwise_plane<T> plane = depthwise_y(s, dy, at.n, k);
            const T *ws = w + s.w.first + k * s.w.k;
            if constexpr (S == 1) {
                depthwise_band<K, 1>(s, plane, first + s.ph - (K - 1), at.q + s.pw - (K - 1),
                                     [&](int r, int i, int j, cuda_real<T> v) {
                                         sum[r] += cuda_load(ws[(K - 1 - i) * s.w.i + (K - 1 - j) * s.w.j]) * v;
                                     });
            } else {
#pragma unroll
                for (int r = 0; r < DEPTHWISE_ROWS; r++) gather<T, K, S>(s, plane, ws, first + r, at.q, &sum[r]);
            }
        }
        R *out = dx + at.n * s.x.n + at.k * s.x.c + at.q * s.x.w;
#pragma unroll
        for (int r = 0; r < DEPTHWISE_ROWS; r++) {
            if (first + r >= s.ih) break;
            cuda_put(out + (first + r) * s.x.h, sum[r], add);
        }
    }
}

static cnn_status fit(const cuda_context *context, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    const cnn_status status = depthwise_check(d, err);
    if (status == CNN_OK)
        naive_put_stride(context, d->mb * d->ic * depthwise_bands(d->ih) * d->iw, DEPTHWISE_THREADS,
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
        status = cuda_launch(context, naive_shape(plan), err, bwd_d_depthwise<T, R, k, stride>, s, a->dy, a->w, a->dx, \
                             depthwise_bands(d->ih), d->t.layout == CNN_NHWC, a->beta != 0);
    DEPTHWISE_CASES(CASE)
#undef CASE
    return status;
}

static cnn_status run(cuda_context *context, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return CUDA_BY_PARTS(plan->problem.u.type.dtype, launch<T, R>(context, plan, a, err));
}

const naive_kernel naive_bwd_d_depthwise = {"bwd_d_depthwise", fit, run};
