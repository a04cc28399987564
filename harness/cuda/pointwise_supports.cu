/* pointwise_supports.cu: the gate of the pointwise operations, and their workspace. */
#include "harness/cuda/workspaces.h"
#include "harness/names.h"

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
    const cnn_type *t = &problem->u.type;
    if (t->dtype != CNN_F32 && t->dtype != CNN_F64)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "dtype %d: %s is computed in f32 and f64", (int)t->dtype,
                        cnn_op_name(problem->op));
    if (t->math != CNN_MATH_F32 && !(t->math == CNN_MATH_TF32 && t->dtype == CNN_F32))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "math %s: %s is computed in the dtype itself", cnn_math_name(t->math),
                        cnn_op_name(problem->op));
    return problem->op == CNN_OP_POOL ? check_pool(&problem->u.pool, err) : CNN_OK;
}

cnn_status cuda_pointwise_workspace(cnn_context *context, const cnn_problem *problem, cnn_dir dir, size_t *bytes,
                                    cnn_error *err)
{
    (void)context;
    (void)err;
    *bytes = 0;
    if (problem->op == CNN_OP_LOSS) *bytes = cuda_loss_workspace(&problem->u.loss, dir);
    if (problem->op == CNN_OP_BATCHNORM) *bytes = cuda_batchnorm_workspace(&problem->u.batchnorm, dir);
    return CNN_OK;
}
