/* pool.c: pooling by cuDNN. */
#include "impl_cudnn/ops.h"

#include "harness/cnn/half.h"

#include <limits.h>

static cnn_status check(const cnn_pool_desc *d, cnn_dir dir, cnn_error *err)
{
    const int64_t list[] = {d->kh, d->kw, d->ph, d->pw, d->sh, d->sw};
    if (cnn_is_half(d->t.dtype) && (d->kind != CNN_POOL_MAX || dir != CNN_FWD))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s: cuDNN does not say what its averages are summed in; use pointwise",
                        cnn_dtype_name(d->t.dtype));
    if (d->dh != 0 || d->dw != 0) return CNN_FAIL(err, CNN_UNSUPPORTED, "cuDNN has no dilated pooling");
    if (d->kind == CNN_POOL_MAX && dir == CNN_BWD_D)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "cuDNN does not say which of several equal maxima gets the gradient; here it is the first");
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (list[i] < 0 || list[i] > INT_MAX)
            return CNN_FAIL(err, CNN_UNSUPPORTED, "%lld is no size that cuDNN's pooling takes", (long long)list[i]);
    return CNN_OK;
}

static cudnnPoolingMode_t mode_of(cnn_pool_kind kind)
{
    if (kind == CNN_POOL_MAX) return CUDNN_POOLING_MAX;
    return kind == CNN_POOL_AVG_PAD ? CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING
                                    : CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING;
}

static cnn_status check_output(cudnn_context *c, const cnn_pool_desc *d, const other_state *s, cnn_error *err)
{
    int n, ic, oh, ow;
    CUDNN_TRY(c, cudnnGetPooling2dForwardOutputDim(s->pool, s->x, &n, &ic, &oh, &ow), err);
    if (oh == d->oh && ow == d->ow) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "cuDNN pads both sides alike: the output would be %d x %d, not %lld x %lld",
                    oh, ow, (long long)d->oh, (long long)d->ow);
}

cnn_status other_open_pool(cudnn_context *c, const cnn_request *r, other_state *s, cnn_error *err)
{
    const cnn_pool_desc *d = &r->problem->u.pool;
    cnn_status status = check(d, r->dir, err);
    if (status == CNN_OK) status = cudnn_tensor_open(c, &d->t, d->mb, d->ic, d->ih, d->iw, &s->x, err);
    if (status == CNN_OK) status = cudnn_tensor_open(c, &d->t, d->mb, d->ic, d->oh, d->ow, &s->y, err);
    if (status != CNN_OK) return status;
    CUDNN_TRY(c, cudnnCreatePoolingDescriptor(&s->pool), err);
    CUDNN_TRY(c,
              cudnnSetPooling2dDescriptor(s->pool, mode_of(d->kind), CUDNN_PROPAGATE_NAN, (int)d->kh, (int)d->kw,
                                          (int)d->ph, (int)d->pw, (int)d->sh, (int)d->sw),
              err);
    return check_output(c, d, s, err);
}

cnn_status cudnn_pool_fwd(cnn_context *context, const cnn_plan *plan, const cnn_map_fwd_args *args, cnn_error *err)
{
    other_call k;
    if (plan->algorithm.id == OTHER_POINTWISE) return cuda_pool_fwd(context, plan, args, err);
    if (other_call_open(context, plan, &k, err) != CNN_OK) return err->status;
    return CUDNN_CHECK(
        k.c, cudnnPoolingForward(k.c->handle, k.s->pool, &k.one, k.s->x, args->x, &k.zero, k.s->y, args->y), err);
}

cnn_status cudnn_pool_bwd(cnn_context *context, const cnn_plan *plan, const cnn_map_bwd_args *args, cnn_error *err)
{
    other_call k;
    if (plan->algorithm.id == OTHER_POINTWISE) return cuda_pool_bwd(context, plan, args, err);
    if (other_call_open(context, plan, &k, err) != CNN_OK) return err->status;
    return CUDNN_CHECK(k.c,
                       cudnnPoolingBackward(k.c->handle, k.s->pool, &k.one, k.s->y, args->y, k.s->y, args->dy, k.s->x,
                                            args->x, &k.zero, k.s->x, args->dx),
                       err);
}
