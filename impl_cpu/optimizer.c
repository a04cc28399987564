/* optimizer.c: one update of all parameters, thesis equations 3.11 to 3.21.
 *
 * The whole parameter vector is one array, so an update is one pass over it. Everything that is the same for each
 * element (1 - beta, the bias corrections with their powers) is computed once a call, in double. */
#include "ops.h"

#include <tgmath.h>

typedef struct optimizer_job {
    cpu_work work;
    const cnn_optimizer_desc *desc;
    void *w, *state[2];
    const void *grad;
    double lr;                 /* after its decay */
    double correct1, correct2; /* Adam: 1 / (1 - beta^(t+1)); of NAdam correct1 is that of the next step, times beta1 */
    double fresh;              /* NAdam: what the gradient itself counts */
    double unscale;            /* 1 / the loss scale */
} optimizer_job;

/* Whether all gradients are finite: those of a task. A sum of x - x is 0 if they are, and else a NaN. */
typedef struct finite_job {
    cpu_work work;
    const float *grad;
    bool *broken; /* set, never cleared */
} finite_job;

CPU_INLINE void look_at(const finite_job *job, cpu_share s)
{
    const float *restrict grad = job->grad;
    float lanes[CPU_LANES] = {0};
    int64_t i = s.first;
    for (; i + CPU_LANES <= s.last; i += CPU_LANES)
        for (int k = 0; k < CPU_LANES; k++) lanes[k] += grad[i + k] - grad[i + k];
    for (; i < s.last; i++) lanes[0] += grad[i] - grad[i];
    for (int k = 0; k < CPU_LANES; k++)
        if (!(lanes[k] == 0.0f)) __atomic_store_n(job->broken, true, __ATOMIC_RELAXED);
}
CPU_VARIANTS(look_at);

#define KERNELS "optimizer.inc"
#include "for_each_real.inc"

enum { ROOT_COST = 8, PLAIN_COST = 2 }; /* an element with a root and a division, and one without */

/* The loss scale after a step: cnn_optimizer_desc says how. */
static void rescale(const cnn_optimizer_desc *d, double *scaling, bool broken)
{
    scaling[CNN_STEPS_KEPT] = broken ? 0 : scaling[CNN_STEPS_KEPT] + 1;
    scaling[CNN_STEPS_LEFT_OUT] += broken ? 1 : 0;
    if (!(d->growth > 0)) return;
    if (broken && scaling[CNN_LOSS_SCALE] > 1) scaling[CNN_LOSS_SCALE] /= 2;
    if (broken || scaling[CNN_STEPS_KEPT] < d->growth) return;
    scaling[CNN_LOSS_SCALE] *= 2;
    scaling[CNN_STEPS_KEPT] = 0;
}

static bool is_broken(cnn_context *context, const cnn_optimizer_desc *d, const void *grad)
{
    bool broken = false;
    finite_job job = {.work = cpu_elements(d->count, 1), .grad = grad, .broken = &broken};
    cpu_run(context, look_at_variants, &job.work);
    return broken;
}

cnn_status cpu_optimizer_step(cnn_context *context, const cnn_plan *plan, const cnn_optimizer_args *args,
                              cnn_error *err)
{
    const cnn_optimizer_desc *d = &plan->problem.u.optimizer;
    const bool root = d->kind != CNN_SGD && d->kind != CNN_MOMENTUM;
    optimizer_job job = {.work = cpu_elements(d->count, root ? ROOT_COST : PLAIN_COST),
                         .desc = d,
                         .w = args->w,
                         .state = {args->state[0], args->state[1]},
                         .grad = args->grad,
                         .lr = d->lr,
                         .unscale = args->scaling != NULL ? 1 / args->scaling[CNN_LOSS_SCALE] : 1};
    (void)err;
    if (args->scaling != NULL) {
        const bool broken = is_broken(context, d, args->grad);
        rescale(d, args->scaling, broken);
        if (broken) return CNN_OK;
    }
    if (d->decay_steps > 0) job.lr *= fmax(0.0, 1 - (double)*args->step / d->decay_steps);
    if (d->kind == CNN_ADAM || d->kind == CNN_NADAM) {
        const double t = (double)(*args->step + 1);
        job.correct1 = 1 / (1 - pow(d->beta1, t));
        job.correct2 = 1 / (1 - pow(d->beta2, t));
        job.fresh = (1 - d->beta1) * job.correct1;
        if (d->kind == CNN_NADAM) job.correct1 = d->beta1 / (1 - pow(d->beta1, t + 1));
    }
    CPU_RUN(context, d->t.weights, update, &job);
    if (args->copy != NULL) cpu_half_narrow(context, d->t.dtype, args->w, args->copy, d->count);
    *args->step += 1;
    return CNN_OK;
}
