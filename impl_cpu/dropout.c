/* dropout.c: the mask is drawn again from (seed, step, index) in the backward, so none is stored. Forward and backward
 * are one kernel: y from x, or dx from dy. */
#include "ops.h"

typedef struct dropout_job {
    cpu_work work;
    const cnn_dropout_desc *desc;
    int64_t step;
    const void *in;
    void *out;
} dropout_job;

#define KERNELS "dropout.inc"
#include "for_each_real.inc"

enum { DRAW_COST = 8 }; /* element operations that one random number takes */

static void dropout(cnn_context *context, const cnn_dropout_desc *d, const void *in, const int64_t *step, void *out)
{
    const int64_t count = d->mb * d->ic * d->ih * d->iw;
    if (d->inference && in == out) return;
    dropout_job job = {.work = cpu_elements(count, d->inference ? 1 : DRAW_COST),
                       .desc = d,
                       .step = d->inference ? 0 : *step,
                       .in = in,
                       .out = out};
    CPU_RUN(context, d->t.dtype, dropout, &job);
}

cnn_status cpu_dropout_fwd(cnn_context *context, const cnn_plan *plan, const cnn_map_fwd_args *args, cnn_error *err)
{
    if (cnn_is_half(plan->problem.u.type.dtype)) return cpu_half_map_fwd(context, plan, args, cpu_dropout_fwd, err);
    dropout(context, &plan->problem.u.dropout, args->x, args->step, args->y);
    return CNN_OK;
}

cnn_status cpu_dropout_bwd(cnn_context *context, const cnn_plan *plan, const cnn_map_bwd_args *args, cnn_error *err)
{
    if (cnn_is_half(plan->problem.u.type.dtype)) return cpu_half_map_bwd(context, plan, args, cpu_dropout_bwd, err);
    dropout(context, &plan->problem.u.dropout, args->dy, args->step, args->dx);
    return CNN_OK;
}
