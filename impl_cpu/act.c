/* act.c: activations, forward and backward; in place where the caller likes. */
#include "ops.h"

#include <string.h>
#include <tgmath.h>

typedef struct act_job {
    cpu_work work;
    cnn_act_kind kind;
    double alpha;
    const void *x, *dy;
    const void *y_in; /* backward: what the forward wrote */
    void *out;        /* y or dx */
} act_job;

/* What SELU comes to far below zero, with a minus. */
#define SELU_LOW (CNN_SELU_SCALE * CNN_SELU_ALPHA)

#define KERNELS "act.inc"
#include "for_each_real.inc"

/* In element operations: a libm call costs about fifty. */
static int64_t act_cost(cnn_act_kind kind)
{
    return kind == CNN_ACT_ELU || kind == CNN_ACT_SELU || kind == CNN_ACT_SIGMOID || kind == CNN_ACT_TANH ? 50 : 1;
}

static void run(cnn_context *context, const cnn_act_desc *d, act_job job, bool forward)
{
    job.kind = d->kind;
    job.alpha = d->alpha;
    job.work = cpu_elements(d->mb * d->ic * d->ih * d->iw, act_cost(d->kind));
    if (forward)
        CPU_RUN(context, d->t.dtype, act_fwd, &job);
    else
        CPU_RUN(context, d->t.dtype, act_bwd, &job);
}

cnn_status cpu_act_fwd(cnn_context *context, const cnn_plan *plan, const cnn_map_fwd_args *args, cnn_error *err)
{
    if (cnn_is_half(plan->problem.u.type.dtype)) return cpu_half_map_fwd(context, plan, args, cpu_act_fwd, err);
    run(context, &plan->problem.u.act, (act_job){.x = args->x, .out = args->y}, true);
    return CNN_OK;
}

cnn_status cpu_act_bwd(cnn_context *context, const cnn_plan *plan, const cnn_map_bwd_args *args, cnn_error *err)
{
    if (cnn_is_half(plan->problem.u.type.dtype)) return cpu_half_map_bwd(context, plan, args, cpu_act_bwd, err);
    run(context, &plan->problem.u.act, (act_job){.x = args->x, .y_in = args->y, .dy = args->dy, .out = args->dx},
        false);
    return CNN_OK;
}
