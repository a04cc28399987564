/* fc.c: y[mb][oc] = x[mb][K] * w[oc][K]' and its two gradients, K the elements of an image, each one cuBLAS product. */
#include "impl_cudnn/ops.h"

#include "harness/cnn/shape.h"

#include <limits.h>

cnn_status cudnn_fc_supports(const cnn_fc_desc *d, cnn_error *err)
{
    int64_t k, pixels;
    if (!cnn_mul(d->ih, d->iw, &pixels) || !cnn_mul(d->ic, pixels, &k) || k > INT_MAX || d->mb > INT_MAX ||
        d->oc > INT_MAX)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "a side of the product is more than cuBLAS counts (%d)", INT_MAX);
    if (d->t.layout == CNN_NHWC && d->ic > 1 && pixels > 1)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "an NHWC image of %lld channels and %lld pixels is not in the weights' order", (long long)d->ic,
                        (long long)pixels);
    return CNN_OK;
}

cnn_status cudnn_fc_run(cudnn_context *c, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    const cnn_fc_desc *d = &plan->problem.u.fc;
    const cnn_conv_desc conv = cnn_fc_as_conv(d);
    const cuda_gemm product = cuda_gemm_of_fc(d, plan->dir, args->beta);
    const bool fwd = plan->dir == CNN_FWD, data = plan->dir == CNN_BWD_D;
    const void *a = fwd ? args->x : args->dy, *b = fwd || data ? args->w : args->x;
    void *result = fwd ? args->y : data ? args->dx : args->dw;
    const cnn_status status = cuda_gemm_run(&c->cuda, &c->blas, &d->t, &product, a, b, result, err);
    if (status != CNN_OK) return status;
    return cudnn_tail_run(c, plan->knobs, &conv, plan->dir, args, err);
}
