/* loss.c: softmax by cuDNN, forward: once for y, and once as logarithms for the loss, since the logarithm of a y that
 * underflowed is lost. Summing them is loss_sums.cu's. */
#include "impl_cudnn/ops.h"

cnn_status other_open_loss(cudnn_context *c, const cnn_loss_desc *d, cnn_dir dir, other_state *s, cnn_error *err)
{
    if (dir != CNN_FWD)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "cuDNN has softmax's derivative, but not that of softmax and cross-entropy together");
    return cudnn_tensor_open(c, &d->t, d->mb, d->ic, 1, 1, &s->x, err);
}

cnn_status cudnn_loss_fwd(cnn_context *context, const cnn_plan *plan, const cnn_loss_args *args, cnn_error *err)
{
    cudnn_context *c = (cudnn_context *)context;
    const other_state *s = plan->state;
    const cnn_loss_desc *d = &plan->problem.u.loss;
    const cudnn_factor one = cudnn_factor_of(d->t.dtype, 1.0), zero = cudnn_factor_of(d->t.dtype, 0.0);
    if (plan->algorithm.id == OTHER_POINTWISE) return cuda_loss_fwd(context, plan, args, err);
    CUDA_TRY(&c->cuda, cudaSetDevice(c->cuda.device), err);
    CUDNN_TRY(c,
              cudnnSoftmaxForward(c->handle, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &one, s->x, args->x,
                                  &zero, s->x, args->y),
              err);
    if (args->loss_sum == NULL && args->correct == NULL) return CNN_OK;
    CUDNN_TRY(c,
              cudnnSoftmaxForward(c->handle, CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_CHANNEL, &one, s->x, args->x, &zero,
                                  s->x, args->workspace),
              err);
    const cnn_status status = cuda_phase(&c->cuda, "softmax", err);
    if (status != CNN_OK) return status;
    return loss_sums(c, d, args->x, args->workspace, args->labels, args->loss_sum, args->correct, err);
}
