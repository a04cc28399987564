/* pool.c: pooling by cuDNN, of planes and of volumes. */
#include "impl_cudnn/ops.h"

#include "harness/cnn/half.h"
#include "harness/cnn/shape.h"

#include <limits.h>

static cnn_status check(const cnn_pool_desc *d, cnn_dir dir, cnn_error *err)
{
    const int64_t list[] = {d->kd, d->kh, d->kw, d->pd, d->ph, d->pw, d->sd, d->sh, d->sw};
    if (cnn_is_half(d->t.dtype) && (d->kind != CNN_POOL_MAX || dir != CNN_FWD))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s: cuDNN does not say what its averages are summed in; use pointwise",
                        cnn_dtype_name(d->t.dtype));
    if (d->dd != 0 || d->dh != 0 || d->dw != 0) return CNN_FAIL(err, CNN_UNSUPPORTED, "cuDNN has no dilated pooling");
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

static cnn_status open_planes(cudnn_context *c, const cnn_pool_desc *d, other_state *s, cnn_error *err)
{
    cnn_status status = cudnn_tensor_open(c, &d->t, d->mb, d->ic, d->ih, d->iw, &s->x, err);
    if (status == CNN_OK) status = cudnn_tensor_open(c, &d->t, d->mb, d->ic, d->oh, d->ow, &s->y, err);
    if (status != CNN_OK) return status;
    CUDNN_TRY(c, cudnnCreatePoolingDescriptor(&s->pool), err);
    CUDNN_TRY(c,
              cudnnSetPooling2dDescriptor(s->pool, mode_of(d->kind), CUDNN_PROPAGATE_NAN, (int)d->kh, (int)d->kw,
                                          (int)d->ph, (int)d->pw, (int)d->sh, (int)d->sw),
              err);
    return check_output(c, d, s, err);
}

/* ---- Of volumes. */

static cnn_status check_deep_output(cudnn_context *c, const cnn_pool_desc *d, const other_state *s, cnn_error *err)
{
    int out[5];
    CUDNN_TRY(c, cudnnGetPoolingNdForwardOutputDim(s->pool, s->x, 5, out), err);
    if (out[2] == d->od && out[3] == d->oh && out[4] == d->ow) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED,
                    "cuDNN pads both sides alike: the output would be %d x %d x %d, not %lld x %lld x %lld", out[2],
                    out[3], out[4], (long long)d->od, (long long)d->oh, (long long)d->ow);
}

static cnn_status open_volumes(cudnn_context *c, const cnn_pool_desc *d, other_state *s, cnn_error *err)
{
    const int64_t x[] = {d->mb, d->ic, d->id, d->ih, d->iw}, y[] = {d->mb, d->ic, d->od, d->oh, d->ow};
    const int window[] = {(int)d->kd, (int)d->kh, (int)d->kw}, padding[] = {(int)d->pd, (int)d->ph, (int)d->pw};
    const int stride[] = {(int)d->sd, (int)d->sh, (int)d->sw};
    cnn_status status = cudnn_tensor_open_deep(c, &d->t, x, &s->x, err);
    if (status == CNN_OK) status = cudnn_tensor_open_deep(c, &d->t, y, &s->y, err);
    if (status != CNN_OK) return status;
    CUDNN_TRY(c, cudnnCreatePoolingDescriptor(&s->pool), err);
    CUDNN_TRY(c,
              cudnnSetPoolingNdDescriptor(s->pool, mode_of(d->kind), CUDNN_PROPAGATE_NAN, 3, window, padding, stride),
              err);
    return check_deep_output(c, d, s, err);
}

cnn_status other_open_pool(cudnn_context *c, const cnn_request *r, other_state *s, cnn_error *err)
{
    const cnn_pool_desc d = cnn_pool_with_depth(r->problem);
    const cnn_status status = check(&d, r->dir, err);
    if (status != CNN_OK) return status;
    return r->problem->op == CNN_OP_POOL3D ? open_volumes(c, &d, s, err) : open_planes(c, &d, s, err);
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
