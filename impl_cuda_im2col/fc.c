/* fc.c: a fully connected layer is one product: y[mb][oc] = x[mb][K] * w'[oc][K], K the elements of an image.
 *
 * The weights' K runs over (c,h,w). An NHWC image's runs over (h,w,c), so there the weights, or dw, go through a copy
 * in that order (pad.cu with no padding), unless the image is one channel or one pixel and both orders are the same. */
#include "harness/cnn/shape.h"
#include "impl_cuda_im2col/im2col.h"

#include <limits.h>

cnn_status cucol_fc_plan_make(const cnn_request *r, cucol_fc_plan *m, cnn_error *err)
{
    enum { AREA_ALIGN = 256 };
    const cnn_fc_desc *d = &r->problem->u.fc;
    const size_t elem = cnn_dtype_size(d->t.dtype);
    int64_t weights, outputs, k;
    *m = (cucol_fc_plan){.slices = cucol_slices(r->knobs, d->mb, d->oc * (int64_t)elem)};
    if (!cnn_mul4(d->ic, d->ih, d->iw, 1, &k) || k > INT_MAX || !cnn_mul(d->mb, d->oc, &outputs) || outputs > INT_MAX ||
        !cnn_mul(d->oc, k, &weights))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "a side of the product or the %lld x %lld outputs are more than %d",
                        (long long)d->mb, (long long)d->oc, INT_MAX);
    m->copied = d->t.layout == CNN_NHWC && d->ic > 1 && d->ih * d->iw > 1;
    if (m->copied && weights > INT_MAX)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%lld weights have to be copied for NHWC, which counts to %d",
                        (long long)weights, INT_MAX);
    if (m->copied) {
        m->bytes = ((size_t)weights * elem + AREA_ALIGN - 1) / AREA_ALIGN * AREA_ALIGN;
        m->copy = cucol_copy_of(CNN_NCHW, CNN_NHWC, d->ic, d->ih, d->iw, d->ih, d->iw);
        m->copy.n = (int32_t)d->oc;
    }
    m->sums_at = m->bytes;
    if (r->dir == CNN_BWD_W && d->bias && m->slices > 1) m->bytes += (size_t)(m->slices * d->oc) * elem;
    return CNN_OK;
}

/* The weights in the order of an image's elements. */
static cnn_status ordered_weights(cucol_context *context, const cnn_plan *plan, const cnn_weighted_args *args,
                                  const void **w, cnn_error *err)
{
    const cucol_fc_plan *m = plan->state;
    *w = args->w;
    if (!m->copied) return CNN_OK;
    *w = args->workspace;
    return cucol_pad(context, plan, &m->copy, args->w, args->workspace, err);
}

static cucol_outputs outputs_of(const cnn_fc_desc *d)
{
    return (cucol_outputs){.n = (int32_t)d->mb, .channels = (int32_t)d->oc, .pixels = 1, .channels_last = true};
}

static cnn_status bias_gradient(cucol_context *context, const cnn_plan *plan, const cnn_weighted_args *args,
                                cnn_error *err)
{
    const cnn_fc_desc *d = &plan->problem.u.fc;
    const cucol_fc_plan *m = plan->state;
    const cucol_outputs shape = outputs_of(d);
    const bool sliced = m->slices > 1, add = args->beta != 0;
    void *sums = sliced ? (char *)args->workspace + m->sums_at : args->db;
    const cnn_status status =
        cucol_join_outputs(context, plan, &shape, args->dy, NULL, sums, m->slices, add && !sliced, err);
    if (status != CNN_OK || !sliced) return status;
    return cucol_add_slices(context, plan, sums, m->slices, (int32_t)d->oc, args->db, add, err);
}

static cnn_status bwd_weights(cucol_context *context, const cnn_plan *plan, const cnn_weighted_args *args,
                              cnn_error *err)
{
    const cnn_fc_desc *d = &plan->problem.u.fc;
    const cucol_fc_plan *m = plan->state;
    const cuda_gemm product = cuda_gemm_of_fc(d, CNN_BWD_W, m->copied ? 0 : args->beta);
    void *dw = m->copied ? args->workspace : args->dw;
    cnn_status status = cuda_gemm_run(&context->cuda, &context->blas, &d->t, &product, args->dy, args->x, dw, err);
    if (status == CNN_OK && m->copied)
        status = cucol_crop(context, plan, &m->copy, args->workspace, args->dw, args->beta != 0, err);
    if (status == CNN_OK && args->db) status = bias_gradient(context, plan, args, err);
    return status;
}

cnn_status cucol_fc_run(cucol_context *context, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    const cnn_fc_desc *d = &plan->problem.u.fc;
    const bool fwd = plan->dir == CNN_FWD, biased = fwd && args->b;
    const cucol_bias bias = {.shape = outputs_of(d), .y = args->y, .b = args->b, .add = args->beta != 0};
    const cuda_gemm product = cuda_gemm_of_fc(d, plan->dir, biased ? 1 : args->beta);
    const void *w;
    if (plan->dir == CNN_BWD_W) return bwd_weights(context, plan, args, err);
    cnn_status status = ordered_weights(context, plan, args, &w, err);
    if (status == CNN_OK && biased) status = cucol_fill_bias(context, plan, &bias, err);
    if (status != CNN_OK) return status;
    status = cuda_gemm_run(&context->cuda, &context->blas, &d->t, &product, fwd ? args->x : args->dy, w,
                           fwd ? args->y : args->dx, err);
    const cuda_pass pass = cuda_pass_of(&plan->problem, plan->knobs, args);
    return status == CNN_OK ? cuda_epilogue_pass(&context->cuda, &pass, err) : status;
}
