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
} optimizer_job;

#define KERNELS "optimizer.inc"
#include "for_each_real.inc"

enum { ROOT_COST = 8, PLAIN_COST = 2 }; /* an element with a root and a division, and one without */

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
                         .lr = d->lr};
    (void)err;
    if (d->decay_steps > 0) job.lr *= fmax(0.0, 1 - (double)*args->step / d->decay_steps);
    if (d->kind == CNN_ADAM || d->kind == CNN_NADAM) {
        const double t = (double)(*args->step + 1);
        job.correct1 = 1 / (1 - pow(d->beta1, t));
        job.correct2 = 1 / (1 - pow(d->beta2, t));
        job.fresh = (1 - d->beta1) * job.correct1;
        if (d->kind == CNN_NADAM) job.correct1 = d->beta1 / (1 - pow(d->beta1, t + 1));
    }
    CPU_RUN(context, d->t.dtype, update, &job);
    *args->step += 1;
    return CNN_OK;
}
