/* ranks_skew.c: a plug-in for test_ranks.sh, which is right on rank 0 alone: on the others its ReLU's gradient (built
 * with -DGRADIENT) or its update (-DUPDATE) is off by a tenth, or (-DBREAKS) its ReLU's gradient fails in the third
 * step. Joined with cpu it trains: --impl skew+cpu. */
#include <cnn.h>

#include <stdlib.h>

struct cnn_context {
    float gradient, update; /* what they are multiplied by */
    int calls;              /* of ReLU's gradient, until it fails; 0: never */
};

static cnn_status skew_open(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    const float off = rank != NULL && atoi(rank) > 0 ? 1.1f : 1.0f;
    (void)params;
    *context = malloc(sizeof **context);
    if (*context == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context");
    **context = (cnn_context){.gradient = 1.0f, .update = 1.0f};
#ifdef GRADIENT
    (*context)->gradient = off;
#endif
#ifdef UPDATE
    (*context)->update = off;
#endif
#ifdef BREAKS
    if (off > 1.0f) (*context)->calls = 3;
#endif
    (void)off;
    return CNN_OK;
}

static void skew_close(cnn_context *context) { free(context); }

static cnn_status skew_supports(cnn_context *context, const cnn_request *request, cnn_error *err)
{
    const cnn_problem *p = request->problem;
    (void)context;
    if (p->op == CNN_OP_ACT && p->u.act.t.dtype == CNN_F32 && p->u.act.kind == CNN_ACT_RELU) return CNN_OK;
    if (p->op == CNN_OP_OPTIMIZER && p->u.optimizer.t.dtype == CNN_F32 && p->u.optimizer.kind == CNN_SGD &&
        p->u.optimizer.decay_steps == 0)
        return CNN_OK;
    if (p->op == CNN_OP_FC && p->u.fc.t.dtype == CNN_F32 && request->dir == CNN_FWD) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "skew does FC forward, ReLU and sgd, in f32, only");
}

/* Here for the pair to have an algorithm: networks without convolutions are named after their FC's. */
static cnn_status skew_fc_fwd(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    const cnn_fc_desc *d = &plan->problem.u.fc;
    const int64_t in = d->ic * d->ih * d->iw;
    const float *x = args->x, *w = args->w, *b = args->b;
    float *y = args->y;
    (void)context, (void)err;
    for (int64_t n = 0; n < d->mb; n++)
        for (int64_t k = 0; k < d->oc; k++) {
            float sum = b != NULL ? b[k] : 0;
            for (int64_t i = 0; i < in; i++) sum += x[n * in + i] * w[k * in + i];
            y[n * d->oc + k] = sum;
        }
    return CNN_OK;
}

static int64_t act_count(const cnn_act_desc *d) { return d->mb * d->ic * d->ih * d->iw; }

static cnn_status skew_act_fwd(cnn_context *context, const cnn_plan *plan, const cnn_map_fwd_args *args, cnn_error *err)
{
    const float *x = args->x;
    float *y = args->y;
    (void)context, (void)err;
    for (int64_t i = 0; i < act_count(&plan->problem.u.act); i++) y[i] = x[i] > 0 ? x[i] : 0;
    return CNN_OK;
}

static cnn_status skew_act_bwd(cnn_context *context, const cnn_plan *plan, const cnn_map_bwd_args *args, cnn_error *err)
{
    const float *y = args->y, *dy = args->dy;
    float *dx = args->dx;
    if (context->calls > 0 && --context->calls == 0) return CNN_FAIL(err, CNN_DEVICE, "it breaks on purpose");
    for (int64_t i = 0; i < act_count(&plan->problem.u.act); i++) dx[i] = y[i] > 0 ? dy[i] * context->gradient : 0;
    return CNN_OK;
}

static cnn_status skew_update(cnn_context *context, const cnn_plan *plan, const cnn_optimizer_args *args,
                              cnn_error *err)
{
    const cnn_optimizer_desc *d = &plan->problem.u.optimizer;
    const float *grad = args->grad;
    float *w = args->w;
    (void)err;
    for (int64_t i = 0; i < d->count; i++) w[i] -= (float)d->lr * grad[i] * context->update;
    ++*args->step;
    return CNN_OK;
}

static const cnn_algorithm algorithms[] = {{.name = "skew",
                                            .doc = "right on rank 0",
                                            .ops = 1u << CNN_OP_FC | 1u << CNN_OP_ACT | 1u << CNN_OP_OPTIMIZER,
                                            .amplification = 1}};
static const cnn_operations ops = {.struct_size = sizeof(cnn_operations),
                                   .fc_fwd = skew_fc_fwd,
                                   .act_fwd = skew_act_fwd,
                                   .act_bwd = skew_act_bwd,
                                   .optimizer_step = skew_update};
static const cnn_impl impl = {.abi_version = CNN_ABI_VERSION,
                              .struct_size = sizeof(cnn_impl),
                              .name = "skew",
                              .doc = "right on rank 0",
                              .device_kind = CNN_DEVICE_CPU,
                              .algorithms = algorithms,
                              .n_algorithms = 1,
                              .open = skew_open,
                              .close = skew_close,
                              .supports = skew_supports,
                              .ops = &ops};

CNN_PLUGIN const cnn_impl *cnn_plugin(void) { return &impl; }
