/* act.c: activations by cuDNN. */
#include "impl_cudnn/ops.h"

/* Backward only those whose derivative can be had from y alone, as after an in-place forward: of clipped ReLU and ELU
 * cuDNN does not say what it reads, nor what they have at their kinks. */
static cnn_status mode_of(const cnn_act_desc *d, cnn_dir dir, cudnnActivationMode_t *mode, cnn_error *err)
{
    switch (d->kind) {
    case CNN_ACT_RELU:
        *mode = CUDNN_ACTIVATION_RELU;
        return CNN_OK;
    case CNN_ACT_SIGMOID:
        *mode = CUDNN_ACTIVATION_SIGMOID;
        return CNN_OK;
    case CNN_ACT_TANH:
        *mode = CUDNN_ACTIVATION_TANH;
        return CNN_OK;
    case CNN_ACT_CLIPPED_RELU:
    case CNN_ACT_ELU:
        *mode = d->kind == CNN_ACT_ELU ? CUDNN_ACTIVATION_ELU : CUDNN_ACTIVATION_CLIPPED_RELU;
        if (dir == CNN_FWD) return CNN_OK;
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "cuDNN does not say what the derivative is at the kink, nor that y is enough to compute it");
    default:
        return CNN_FAIL(err, CNN_UNSUPPORTED, "cuDNN has no call for this activation; use pointwise");
    }
}

cnn_status other_open_act(cudnn_context *c, const cnn_act_desc *d, cnn_dir dir, other_state *s, cnn_error *err)
{
    cudnnActivationMode_t mode = CUDNN_ACTIVATION_IDENTITY;
    cnn_status status = mode_of(d, dir, &mode, err);
    if (status == CNN_OK) status = cudnn_tensor_open(c, &d->t, d->mb, d->ic, d->ih, d->iw, &s->x, err);
    if (status != CNN_OK) return status;
    CUDNN_TRY(c, cudnnCreateActivationDescriptor(&s->act), err);
    CUDNN_TRY(c, cudnnSetActivationDescriptor(s->act, mode, CUDNN_PROPAGATE_NAN, d->alpha), err);
    return CNN_OK;
}

cnn_status cudnn_act_fwd(cnn_context *context, const cnn_plan *plan, const cnn_map_fwd_args *args, cnn_error *err)
{
    other_call k;
    if (plan->algorithm.id == OTHER_POINTWISE) return cuda_act_fwd(context, plan, args, err);
    const cnn_status status = other_call_open(context, plan, &k, err);
    if (status != CNN_OK) return status;
    CUDNN_TRY(k.c, cudnnActivationForward(k.c->handle, k.s->act, &k.one, k.s->x, args->x, &k.zero, k.s->x, args->y),
              err);
    return CNN_OK;
}

/* Without x, y stands for it: ReLU's sign is the same, sigmoid and tanh do not read it. */
cnn_status cudnn_act_bwd(cnn_context *context, const cnn_plan *plan, const cnn_map_bwd_args *args, cnn_error *err)
{
    const void *x = args->x != NULL ? args->x : args->y;
    other_call k;
    if (plan->algorithm.id == OTHER_POINTWISE) return cuda_act_bwd(context, plan, args, err);
    const cnn_status status = other_call_open(context, plan, &k, err);
    if (status != CNN_OK) return status;
    CUDNN_TRY(k.c,
              cudnnActivationBackward(k.c->handle, k.s->act, &k.one, k.s->x, args->y, k.s->x, args->dy, k.s->x, x,
                                      &k.zero, k.s->x, args->dx),
              err);
    return CNN_OK;
}
