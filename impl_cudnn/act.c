/* act.c: activations by cuDNN. */
#include "impl_cudnn/ops.h"

#include "harness/cnn/half.h"

/* Backward only those whose derivative can be had from y alone, as after an in-place forward: of clipped ReLU and ELU
 * cuDNN does not say what it reads, nor what they have at their kinks. */
static const struct {
    bool forward, backward;
    cudnnActivationMode_t mode;
} modes[CNN_ACT_COUNT] = {
    [CNN_ACT_RELU] = {true, true, CUDNN_ACTIVATION_RELU},
    [CNN_ACT_SIGMOID] = {true, true, CUDNN_ACTIVATION_SIGMOID},
    [CNN_ACT_TANH] = {true, true, CUDNN_ACTIVATION_TANH},
    [CNN_ACT_CLIPPED_RELU] = {true, false, CUDNN_ACTIVATION_CLIPPED_RELU},
    [CNN_ACT_ELU] = {true, false, CUDNN_ACTIVATION_ELU},
};

cnn_status other_open_act(cudnn_context *c, const cnn_request *r, other_state *s, cnn_error *err)
{
    const cnn_act_desc *d = &r->problem->u.act;
    if (!modes[d->kind].forward)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "cuDNN has no call for this activation; use pointwise");
    if (cnn_is_half(d->t.dtype) && d->kind != CNN_ACT_RELU)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s: cuDNN does not say what it is computed in; use pointwise",
                        cnn_dtype_name(d->t.dtype));
    if (r->dir != CNN_FWD && !modes[d->kind].backward)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "cuDNN does not say what the derivative is at the kink, nor that y is enough to compute it");
    const cnn_status status = cudnn_tensor_open(c, &d->t, d->mb, d->ic, d->ih, d->iw, &s->x, err);
    if (status != CNN_OK) return status;
    CUDNN_TRY(c, cudnnCreateActivationDescriptor(&s->act), err);
    return CUDNN_CHECK(c, cudnnSetActivationDescriptor(s->act, modes[d->kind].mode, CUDNN_PROPAGATE_NAN, d->alpha),
                       err);
}

cnn_status cudnn_act_fwd(cnn_context *context, const cnn_plan *plan, const cnn_map_fwd_args *args, cnn_error *err)
{
    other_call k;
    if (plan->algorithm.id == OTHER_POINTWISE) return cuda_act_fwd(context, plan, args, err);
    if (other_call_open(context, plan, &k, err) != CNN_OK) return err->status;
    return CUDNN_CHECK(
        k.c, cudnnActivationForward(k.c->handle, k.s->act, &k.one, k.s->x, args->x, &k.zero, k.s->x, args->y), err);
}

/* Without x, y stands for it: ReLU's sign is the same, sigmoid and tanh do not read it. */
cnn_status cudnn_act_bwd(cnn_context *context, const cnn_plan *plan, const cnn_map_bwd_args *args, cnn_error *err)
{
    const void *x = args->x != NULL ? args->x : args->y;
    other_call k;
    if (plan->algorithm.id == OTHER_POINTWISE) return cuda_act_bwd(context, plan, args, err);
    if (other_call_open(context, plan, &k, err) != CNN_OK) return err->status;
    return CUDNN_CHECK(k.c,
                       cudnnActivationBackward(k.c->handle, k.s->act, &k.one, k.s->x, args->y, k.s->x, args->dy, k.s->x,
                                               x, &k.zero, k.s->x, args->dx),
                       err);
}
