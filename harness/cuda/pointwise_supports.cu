/* pointwise_supports.cu: the gate of the pointwise operations, and their workspace. */
#include "harness/cuda/workspaces.h"

#include <limits.h>

static cnn_status check_pool(const cnn_pool_desc *d, cnn_error *err)
{
    const int64_t most = INT_MAX / 4, taps = d->kh > most || d->kw > most ? most : d->kh * d->kw;
    if (taps < most && d->sh < most && d->sw < most && d->ph < most && d->pw < most && d->dh < most && d->dw < most)
        return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "a window of %lld x %lld, stride %lld x %lld: more than %lld",
                    (long long)d->kh, (long long)d->kw, (long long)d->sh, (long long)d->sw, (long long)most);
}

cnn_status cuda_pointwise_supports(cnn_context *context, const cnn_problem *problem, cnn_dir dir,
                                   const cnn_algorithm *algorithm, cnn_error *err)
{
    (void)context;
    (void)dir;
    (void)algorithm;
    /* Numbers that TF32 would round are not multiplied here: who allows it gets f32. */
    const cnn_status status = cuda_check_type(problem, true, err);
    if (status != CNN_OK) return status;
    return problem->op == CNN_OP_POOL ? check_pool(&problem->u.pool, err) : CNN_OK;
}

cnn_status cuda_pointwise_workspace(cnn_context *context, const cnn_problem *problem, cnn_dir dir, size_t *bytes,
                                    cnn_error *err)
{
    const cuda_context *c = reinterpret_cast<const cuda_context *>(context);
    (void)err;
    *bytes = 0;
    if (problem->op == CNN_OP_LOSS) *bytes = cuda_loss_workspace(c, &problem->u.loss, dir);
    if (problem->op == CNN_OP_BATCHNORM) *bytes = cuda_batchnorm_workspace(c, &problem->u.batchnorm, dir);
    return CNN_OK;
}
