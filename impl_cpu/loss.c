/* loss.c: softmax and cross-entropy, and the quadratic loss, also of a softmax. In double inside, also for f32: with
 * ten classes the time is in exp() anyway.
 *
 * Everything is relative to the row's maximum m: with s = sum exp(x - m), the probability is exp(x - m) / s and its
 * -log is log(s) - (x - m), where s >= 1. So nothing overflows and log(0) cannot come up, however sure the network. */
#include "ops.h"

#include <math.h>

/* What one task adds to the totals: an element of the workspace. */
typedef struct loss_part {
    double loss;
    int64_t correct;
} loss_part;

typedef struct loss_job {
    cpu_work work; /* rows */
    int64_t classes;
    cnn_loss_kind kind;
    const void *in; /* x, or y in the backward */
    const int32_t *labels;
    void *out; /* y, or dx */
    loss_part *parts;
    double scale;
} loss_job;

#define KERNELS "loss.inc"
#include "for_each_real.inc"

enum { EXP_COST = 50 };

size_t cpu_loss_workspace(const cnn_loss_desc *desc, cnn_dir dir)
{
    return dir == CNN_FWD ? (size_t)cpu_tasks(desc->mb, desc->ic * EXP_COST) * sizeof(loss_part) : 0;
}

cnn_status cpu_loss_fwd(cnn_context *context, const cnn_plan *plan, const cnn_loss_args *args, cnn_error *err)
{
    const cnn_loss_desc *d = &plan->problem.u.loss;
    if (cnn_is_half(d->t.dtype)) return cpu_half_loss_fwd(context, plan, args, err);
    loss_job job = {.work = cpu_items(d->mb, d->ic * EXP_COST),
                    .classes = d->ic,
                    .kind = d->kind,
                    .in = args->x,
                    .labels = args->labels,
                    .out = args->y,
                    .parts = args->workspace};
    CPU_RUN(context, d->t.dtype, loss_fwd, &job);
    loss_part total = {0, 0};
    for (int64_t i = 0; i < job.work.tasks; i++) {
        total.loss += job.parts[i].loss;
        total.correct += job.parts[i].correct;
    }
    if (args->loss_sum != NULL) *args->loss_sum += total.loss;
    if (args->correct != NULL) *args->correct += total.correct;
    return CNN_OK;
}

cnn_status cpu_loss_bwd(cnn_context *context, const cnn_plan *plan, const cnn_loss_args *args, cnn_error *err)
{
    const cnn_loss_desc *d = &plan->problem.u.loss;
    if (cnn_is_half(d->t.dtype)) return cpu_half_loss_bwd(context, plan, args, err);
    loss_job job = {.work = cpu_items(d->mb, d->ic),
                    .classes = d->ic,
                    .kind = d->kind,
                    .in = args->y,
                    .labels = args->labels,
                    .out = args->dx,
                    .scale = args->scale};
    CPU_RUN(context, d->t.dtype, loss_bwd, &job);
    return CNN_OK;
}
