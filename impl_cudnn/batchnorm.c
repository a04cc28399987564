/* batchnorm.c: batch norm by cuDNN, one mean and variance a channel (its mode SPATIAL). Its running variance is the
 * unbiased one, and it saves 1/sqrt(var + eps), as cnn.h has it. */
#include "impl_cudnn/ops.h"

cnn_status other_open_batchnorm(cudnn_context *c, const cnn_request *r, other_state *s, cnn_error *err)
{
    const cnn_batchnorm_desc *d = &r->problem->u.batchnorm;
    if (cnn_is_mixed(&d->t))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "batch norm of %s with statistics in f32: f32 and f64 only here as yet",
                        cnn_dtype_name(d->t.dtype));
    if (d->eps < CUDNN_BN_MIN_EPSILON)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "eps is %g, and cuDNN takes none below %g", d->eps, CUDNN_BN_MIN_EPSILON);
    cnn_status status = cudnn_tensor_open(c, &d->t, d->mb, d->ic, d->ih, d->iw, &s->x, err);
    if (status == CNN_OK) status = cudnn_tensor_open(c, &d->t, 1, d->ic, 1, 1, &s->channels, err);
    if (status != CNN_OK) return status;
    if (!d->inference && d->mb * d->ih * d->iw == 1)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "one value a channel has no variance that cuDNN could keep");
    return CUDNN_CHECK(c, cudnnDeriveBNTensorDescriptor(s->channels, s->x, CUDNN_BATCHNORM_SPATIAL), err);
}

cnn_status cudnn_batchnorm_fwd(cnn_context *context, const cnn_plan *plan, const cnn_batchnorm_args *args,
                               cnn_error *err)
{
    const cnn_batchnorm_desc *d = &plan->problem.u.batchnorm;
    other_call k;
    if (plan->algorithm.id == OTHER_POINTWISE) return cuda_batchnorm(context, plan, args, err);
    if (other_call_open(context, plan, &k, err) != CNN_OK) return err->status;
    if (d->inference)
        return CUDNN_CHECK(k.c,
                           cudnnBatchNormalizationForwardInference(
                               k.c->handle, CUDNN_BATCHNORM_SPATIAL, &k.one, &k.zero, k.s->x, args->x, k.s->x, args->y,
                               k.s->channels, args->gamma, args->beta, args->running_mean, args->running_var, d->eps),
                           err);
    return CUDNN_CHECK(k.c,
                       cudnnBatchNormalizationForwardTraining(
                           k.c->handle, CUDNN_BATCHNORM_SPATIAL, &k.one, &k.zero, k.s->x, args->x, k.s->x, args->y,
                           k.s->channels, args->gamma, args->beta, d->momentum, args->running_mean, args->running_var,
                           d->eps, args->save_mean, args->save_invstd),
                       err);
}

cnn_status cudnn_batchnorm_bwd(cnn_context *context, const cnn_plan *plan, const cnn_batchnorm_args *args,
                               cnn_error *err)
{
    const cnn_batchnorm_desc *d = &plan->problem.u.batchnorm;
    other_call k;
    if (plan->algorithm.id == OTHER_POINTWISE) return cuda_batchnorm(context, plan, args, err);
    if (other_call_open(context, plan, &k, err) != CNN_OK) return err->status;
    return CUDNN_CHECK(k.c,
                       cudnnBatchNormalizationBackward(k.c->handle, CUDNN_BATCHNORM_SPATIAL, &k.one, &k.zero, &k.one,
                                                       &k.zero, k.s->x, args->x, k.s->x, args->dy, k.s->x, args->dx,
                                                       k.s->channels, args->gamma, args->dgamma, args->dbeta, d->eps,
                                                       args->save_mean, args->save_invstd),
                       err);
}
