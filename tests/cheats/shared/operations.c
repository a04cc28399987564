/* operations.c: the honest implementation that the cheats change, and what many of them need. */
#include "cheat.h"

void spans(const cnn_conv_desc *d, cnn_dir dir, const cnn_weighted_args *a, span in[3], span out[2])
{
    const span none = {NULL, 0}, x = {(float *)(uintptr_t)a->x, x_count(d)}, w = {(float *)(uintptr_t)a->w, w_count(d)};
    const span dy = {(float *)(uintptr_t)a->dy, y_count(d)};
    const span b = {(float *)(uintptr_t)a->b, a->b != NULL ? d->oc : 0};
    in[0] = dir == CNN_BWD_D ? dy : x;
    in[1] = dir == CNN_BWD_W ? dy : w;
    in[2] = dir == CNN_FWD ? b : none;
    out[0] = (span){dir == CNN_FWD ? a->y : dir == CNN_BWD_D ? a->dx : a->dw, out_count(d, dir)};
    out[1] = dir == CNN_BWD_W && a->db != NULL ? (span){a->db, d->oc} : none;
}

void conv_low(const cnn_conv_desc *d, cnn_dir dir, const cnn_weighted_args *a, int drop)
{
    for (int64_t i = 0; i < out_count(d, dir); i++) conv_element(d, dir, a, i, drop);
    for (int64_t k = 0; dir == CNN_BWD_W && a->db != NULL && k < d->oc; k++) bias_element(d, a, k);
}

cnn_status honest_weighted(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    conv_low(&d, plan->dir, a, 0);
    return CNN_OK;
}

cnn_status answer_zero(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    span in[3], out[2];
    spans(&d, plan->dir, a, in, out);
    for (int i = 0; i < 2; i++)
        for (int64_t k = 0; k < out[i].n; k++) out[i].p[k] = 0;
    return CNN_OK;
}

/* ---- The other operations. */
void honest_relu(const cnn_act_desc *d, const float *x, float *y)
{
    for (int64_t i = 0; i < d->mb * d->ic * d->ih * d->iw; i++) y[i] = x[i] > 0 ? x[i] : 0;
}

/* y > 0 where x > 0: y does for both, in place or not. */
void honest_relu_bwd(const cnn_act_desc *d, const float *y, const float *dy, float *dx)
{
    for (int64_t i = 0; i < d->mb * d->ic * d->ih * d->iw; i++) dx[i] = y[i] > 0 ? dy[i] : 0;
}

static cnn_status act_fwd(cnn_context *c, const cnn_plan *plan, const cnn_map_fwd_args *a, cnn_error *err)
{
    honest_relu(&plan->problem.u.act, a->x, a->y);
    return CNN_OK;
}

static cnn_status act_bwd(cnn_context *c, const cnn_plan *plan, const cnn_map_bwd_args *a, cnn_error *err)
{
    honest_relu_bwd(&plan->problem.u.act, a->y, a->dy, a->dx);
    return CNN_OK;
}

void honest_drop(const cnn_dropout_desc *d, const float *x, float *y, int64_t step)
{
    for (int64_t i = 0; i < d->mb * d->ic * d->ih * d->iw; i++) {
        const bool keep = d->inference || cnn_dropout_keep(d->seed, step, i, d->rate);
        y[i] = d->inference ? x[i] : keep ? (float)((double)x[i] / (1 - d->rate)) : 0;
    }
}

static cnn_status dropout_fwd(cnn_context *c, const cnn_plan *plan, const cnn_map_fwd_args *a, cnn_error *err)
{
    honest_drop(&plan->problem.u.dropout, a->x, a->y, *a->step);
    return CNN_OK;
}

static cnn_status dropout_bwd(cnn_context *c, const cnn_plan *plan, const cnn_map_bwd_args *a, cnn_error *err)
{
    honest_drop(&plan->problem.u.dropout, a->dy, a->dx, *a->step);
    return CNN_OK;
}

cnn_status honest_loss_fwd(cnn_context *c, const cnn_plan *plan, const cnn_loss_args *a, cnn_error *err)
{
    const cnn_loss_desc *d = &plan->problem.u.loss;
    for (int64_t n = 0; n < d->mb; n++) loss_element(d, a, n);
    return CNN_OK;
}

cnn_status honest_loss_bwd(cnn_context *c, const cnn_plan *plan, const cnn_loss_args *a, cnn_error *err)
{
    const cnn_loss_desc *d = &plan->problem.u.loss;
    for (int64_t i = 0; i < d->mb * d->ic; i++) loss_bwd_element(d, a, i);
    return CNN_OK;
}

void honest_update(const cnn_optimizer_desc *d, const cnn_optimizer_args *a)
{
    for (int64_t i = 0; i < d->count; i++) sgd_element(d, a, i);
    ++*a->step;
}

static cnn_status optimizer_step(cnn_context *c, const cnn_plan *plan, const cnn_optimizer_args *a, cnn_error *err)
{
    honest_update(&plan->problem.u.optimizer, a);
    return CNN_OK;
}

/* ---- The table. */

cnn_status honest_open(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    *context = calloc(1, sizeof **context);
    if (*context == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context");
    (*context)->threads = params->threads;
    return CNN_OK;
}

void honest_close(cnn_context *context) { free(context); }

cnn_status honest_supports(cnn_context *c, const cnn_request *request, cnn_error *err)
{
    const cnn_problem *p = request->problem;
    if ((HONEST_OPS >> p->op & 1) == 0) return CNN_FAIL(err, CNN_UNSUPPORTED, "there is no such operation here");
    if (p->u.type.dtype != CNN_F32) return CNN_FAIL(err, CNN_UNSUPPORTED, "it computes in f32 only");
    if (p->op == CNN_OP_ACT && p->u.act.kind != CNN_ACT_RELU) return CNN_FAIL(err, CNN_UNSUPPORTED, "ReLU only");
    if (p->op == CNN_OP_LOSS && p->u.loss.kind != CNN_LOSS_CROSS_ENTROPY)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "cross-entropy only");
    if (p->op == CNN_OP_OPTIMIZER && p->u.optimizer.kind != CNN_SGD) return CNN_FAIL(err, CNN_UNSUPPORTED, "SGD only");
    return CNN_OK;
}

cnn_algorithm honest_algorithms[1] = {{.name = "loops",
                                       .doc = "one element after the other",
                                       .ops = HONEST_OPS,
                                       .flags = CNN_ALGO_DETERMINISTIC,
                                       .amplification = 1}};

void honest_tables(tables *t, const char *name)
{
    t->impl = (cnn_impl){.abi_version = CNN_ABI_VERSION,
                         .struct_size = sizeof(cnn_impl),
                         .name = name,
                         .doc = "a plug-in of the museum of cheats",
                         .device_kind = CNN_DEVICE_CPU,
                         .algorithms = honest_algorithms,
                         .n_algorithms = 1,
                         .open = honest_open,
                         .close = honest_close,
                         .supports = honest_supports};
    t->ops = (cnn_operations){.struct_size = sizeof(cnn_operations),
                              .act_fwd = act_fwd,
                              .act_bwd = act_bwd,
                              .dropout_fwd = dropout_fwd,
                              .dropout_bwd = dropout_bwd,
                              .loss_fwd = honest_loss_fwd,
                              .loss_bwd = honest_loss_bwd,
                              .optimizer_step = optimizer_step};
    weighted(t, honest_weighted);
}
