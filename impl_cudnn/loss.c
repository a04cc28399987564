/* loss.c: softmax by cuDNN, forward: once for y, and once as logarithms for the loss, since the logarithm of a y that
 * underflowed is lost. Summing them is loss_sums.cu's. */
#include "impl_cudnn/ops.h"

cnn_status other_open_loss(cudnn_context *c, const cnn_request *r, other_state *s, cnn_error *err)
{
    const cnn_loss_desc *d = &r->problem->u.loss;
    if (cnn_is_mixed(&d->t))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "cuDNN's softmax of %s is of that type too, and here y is f32",
                        cnn_dtype_name(d->t.dtype));
    if (d->kind != CNN_LOSS_CROSS_ENTROPY)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "cuDNN has no loss %s", cnn_loss_name(d->kind));
    if (r->dir != CNN_FWD)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "cuDNN has softmax's derivative, but not that of softmax and cross-entropy together");
    return cudnn_tensor_open(c, &d->t, d->mb, d->ic, 1, 1, &s->x, err);
}

cnn_status cudnn_loss_fwd(cnn_context *context, const cnn_plan *plan, const cnn_loss_args *args, cnn_error *err)
{
    other_call k;
    if (plan->algorithm.id == OTHER_POINTWISE) return cuda_loss_fwd(context, plan, args, err);
    if (other_call_open(context, plan, &k, err) != CNN_OK) return err->status;
    CUDNN_TRY(k.c,
              cudnnSoftmaxForward(k.c->handle, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &k.one, k.s->x,
                                  args->x, &k.zero, k.s->x, args->y),
              err);
    if (args->loss_sum == NULL && args->correct == NULL) return CNN_OK;
    CUDNN_TRY(k.c,
              cudnnSoftmaxForward(k.c->handle, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_CHANNEL, &k.one, k.s->x, args->x,
                                  &k.zero, k.s->x, args->workspace),
              err);
    const cnn_status status = cuda_phase(&k.c->cuda, "softmax", err);
    return status == CNN_OK ? loss_sums(k.c, plan, args, err) : status;
}
