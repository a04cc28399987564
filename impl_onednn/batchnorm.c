/* batchnorm.c: batch normalisation in the layout of the tensors. oneDNN hands over the variance, and the interface
 * keeps 1/sqrt(var + eps) and running statistics: a loop over the channels stands between. */
#include "onednn.h"

#include <math.h>

/* The variance lies at the beginning of the workspace, which is what is taken first. */
static int put_variance(onednn_build *b, onednn_md channels, bool inference)
{
    return inference ? onednn_argument(b, ONEDNN_VARIANCE, channels) : onednn_inside(b, channels);
}

static void put_forward(onednn_build *b, dnnl_primitive_desc_t pd, onednn_md md, onednn_md channels, bool inference)
{
    const onednn_use uses[] = {{DNNL_ARG_VARIANCE, put_variance(b, channels, inference)},
                               {DNNL_ARG_MEAN, onednn_argument(b, ONEDNN_MEAN, channels)},
                               {DNNL_ARG_SRC, onednn_argument(b, ONEDNN_X, md)},
                               {DNNL_ARG_SCALE, onednn_argument(b, ONEDNN_GAMMA, channels)},
                               {DNNL_ARG_SHIFT, onednn_argument(b, ONEDNN_BETA, channels)},
                               {DNNL_ARG_DST, onednn_argument(b, ONEDNN_Y, md)}};
    onednn_operation(b, pd, uses, 6);
}

static void put_backward(onednn_build *b, dnnl_primitive_desc_t pd, onednn_md md, onednn_md channels)
{
    const int gamma = onednn_argument(b, ONEDNN_GAMMA, channels);
    const onednn_use uses[] = {{DNNL_ARG_VARIANCE, put_variance(b, channels, false)},
                               {DNNL_ARG_MEAN, onednn_argument(b, ONEDNN_MEAN, channels)},
                               {DNNL_ARG_SRC, onednn_argument(b, ONEDNN_X, md)},
                               {DNNL_ARG_DIFF_DST, onednn_argument(b, ONEDNN_DY, md)},
                               {DNNL_ARG_SCALE, gamma},
                               {DNNL_ARG_DIFF_SRC, onednn_argument(b, ONEDNN_DX, md)},
                               {DNNL_ARG_DIFF_SCALE, onednn_argument(b, ONEDNN_DGAMMA, channels)},
                               {DNNL_ARG_DIFF_SHIFT, onednn_argument(b, ONEDNN_DBETA, channels)},
                               {DNNL_ARG_SHIFT, ONEDNN_BACKWARD_WANTS_SHIFT ? gamma : -1}};
    onednn_operation(b, pd, uses, 9);
}

void onednn_build_batchnorm(onednn_build *b)
{
    const cnn_batchnorm_desc *d = &b->request->problem->u.batchnorm;
    const onednn_shape shape = {4, {d->mb, d->ic, d->ih, d->iw}};
    const dnnl_dims_t count = {d->ic};
    const onednn_md md = onednn_activations(b, CNN_PART_FACTOR, &shape, onednn_tag(&shape, d->t.layout));
    const onednn_md channels = onednn_layout(b, dnnl_f32, 1, count, dnnl_a);
    dnnl_primitive_desc_t made = NULL;
    if (b->status != CNN_OK) return;
    onednn_make how = onednn_how(b, NULL);
    dnnl_status_t status = onednn_make_batchnorm(&how, CNN_FWD, d->inference, md, (float)d->eps, &made);
    dnnl_primitive_desc_t forward = onednn_keep(b, status, made);
    if (b->request->dir == CNN_FWD) put_forward(b, forward, md, channels, d->inference);
    if (b->request->dir == CNN_FWD || b->status != CNN_OK) return;
    how = onednn_how(b, forward);
    status = onednn_make_batchnorm(&how, CNN_BWD_D, false, md, (float)d->eps, &made);
    put_backward(b, onednn_keep(b, status, made), md, channels);
}

/* Moves the running statistics towards the batch's; the unbiased variance of a single value is 0, as the biased one. */
static void keep_statistics(const cnn_batchnorm_desc *d, const cnn_batchnorm_args *a, const float *variance)
{
    const double n = (double)(d->mb * d->ih * d->iw), unbias = n > 1 ? n / (n - 1) : 1, take = d->momentum;
    const float *mean = a->save_mean;
    float *invstd = a->save_invstd, *running_mean = a->running_mean, *running_var = a->running_var;
    for (int64_t c = 0; c < d->ic; c++) {
        invstd[c] = (float)(1 / sqrt((double)variance[c] + d->eps));
        running_mean[c] = (float)((1 - take) * (double)running_mean[c] + take * (double)mean[c]);
        running_var[c] = (float)((1 - take) * (double)running_var[c] + take * unbias * (double)variance[c]);
    }
}

static void restore_variance(const cnn_batchnorm_desc *d, const cnn_batchnorm_args *a, float *variance)
{
    const float *invstd = a->save_invstd;
    for (int64_t c = 0; c < d->ic; c++) variance[c] = (float)(1 / ((double)invstd[c] * (double)invstd[c]) - d->eps);
}

cnn_status onednn_batchnorm(cnn_context *context, const cnn_plan *plan, const cnn_batchnorm_args *a, cnn_error *err)
{
    const cnn_batchnorm_desc *d = &plan->problem.u.batchnorm;
    const onednn_call call = {.pointers = {[ONEDNN_X] = a->x,
                                           [ONEDNN_DY] = a->dy,
                                           [ONEDNN_Y] = a->y,
                                           [ONEDNN_DX] = a->dx,
                                           [ONEDNN_GAMMA] = a->gamma,
                                           [ONEDNN_BETA] = a->beta,
                                           [ONEDNN_DGAMMA] = a->dgamma,
                                           [ONEDNN_DBETA] = a->dbeta,
                                           [ONEDNN_MEAN] = d->inference ? a->running_mean : a->save_mean,
                                           [ONEDNN_VARIANCE] = a->running_var},
                              .workspace = a->workspace};
    if (plan->dir == CNN_BWD_D) restore_variance(d, a, a->workspace);
    const cnn_status status = onednn_run(context, plan, &call, err);
    if (status == CNN_OK && plan->dir == CNN_FWD && !d->inference) keep_statistics(d, a, a->workspace);
    return status;
}
