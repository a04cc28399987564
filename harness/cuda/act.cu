/* act.cu: activations: one read and one write an element, 16 bytes at a time.
 *
 * Bottleneck: memory bandwidth; for a batch of a few images, the launch. The slopes of sigmoid and tanh are taken from
 * x where it is at hand, since 1 - y loses its digits as y comes near to 1, and from y after an in-place forward. */
#include "harness/cuda/activation.h"
#include "harness/cuda/pack.h"

/* The slopes of sigmoid and tanh at x. */
template <typename T> __device__ T sigmoid_slope(T x)
{
    const T e = exp(-fabs(x));
    return e / ((1 + e) * (1 + e));
}

template <typename T> __device__ T tanh_slope(T x)
{
    const T e = exp(-2 * fabs(x));
    return 4 * e / ((1 + e) * (1 + e));
}

/* dx from dy and v, which is x or, FROM_Y, y: with alpha >= 0, y says as well on which side of the kink x was. */
template <typename T, bool FROM_Y> struct act_bwd {
    T alpha;
    cnn_act_kind kind;
    __device__ T operator()(T dy, T v) const
    {
        switch (kind) {
        case CNN_ACT_RELU:
            return v <= 0 ? T(0) : dy;
        case CNN_ACT_LEAKY_RELU:
            return v <= 0 ? alpha * dy : dy;
        case CNN_ACT_CLIPPED_RELU:
            return v <= 0 || v >= alpha ? T(0) : dy;
        case CNN_ACT_ELU:
            return v <= 0 ? (FROM_Y ? v + alpha : alpha * exp(v)) * dy : dy;
        case CNN_ACT_SELU:
            return (v <= 0 ? (FROM_Y ? v + T(SELU_LOW) : T(SELU_LOW) * exp(v)) : T(CNN_SELU_SCALE)) * dy;
        case CNN_ACT_SCALE:
            return alpha * dy;
        case CNN_ACT_SIGMOID:
            return (FROM_Y ? v * (1 - v) : sigmoid_slope(v)) * dy;
        case CNN_ACT_TANH:
            return (FROM_Y ? (1 - v) * (1 + v) : tanh_slope(v)) * dy;
        default:
            return dy;
        }
    }
};

cnn_status cuda_act_fwd(cnn_context *context, const cnn_plan *plan, const cnn_map_fwd_args *a, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    const cnn_act_desc *d = &plan->problem.u.act;
    const int64_t count = d->mb * d->ic * d->ih * d->iw;
    if (d->kind == CNN_ACT_IDENTITY && a->x == a->y) return CNN_OK;
    return CUDA_BY_NUMBER(d->t.dtype,
                          cuda_launch(c, cuda_pack_shape<T>(c, plan->knobs, "act_fwd", count), err,
                                      cuda_map1<T, act_fwd<cuda_real<T>>>, count, a->x, a->y,
                                      act_fwd<cuda_real<T>>{d->kind, static_cast<cuda_real<T>>(cuda_act_alpha(d))}));
}

template <typename T, bool FROM_Y>
static cnn_status backward(cuda_context *c, const cnn_plan *plan, const cnn_map_bwd_args *a, cnn_error *err)
{
    const cnn_act_desc *d = &plan->problem.u.act;
    const int64_t count = d->mb * d->ic * d->ih * d->iw;
    typedef act_bwd<cuda_real<T>, FROM_Y> slope;
    const slope f = {static_cast<cuda_real<T>>(cuda_act_alpha(d)), d->kind};
    return cuda_launch(c, cuda_pack_shape<T>(c, plan->knobs, "act_bwd", count), err, cuda_map2<T, slope>, count, a->dy,
                       FROM_Y ? a->y : a->x, a->dx, f);
}

cnn_status cuda_act_bwd(cnn_context *context, const cnn_plan *plan, const cnn_map_bwd_args *a, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    const cnn_act_desc *d = &plan->problem.u.act;
    if (d->kind == CNN_ACT_IDENTITY && a->dx == a->dy) return CNN_OK;
    if (a->x == NULL) return CUDA_BY_NUMBER(d->t.dtype, backward<T, true>(c, plan, a, err));
    return CUDA_BY_NUMBER(d->t.dtype, backward<T, false>(c, plan, a, err));
}
