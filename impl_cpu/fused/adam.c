/* adam.c: what Adam's own kernel is told of a step. */
#include "fused.h"

#include <math.h>

void fused_adam_begin(const cnn_trainer *t, fused_worker *w, int64_t step)
{
    const cnn_optimizer_desc *d = &t->optimizer;
    w->by_adam = t->kern->adam != NULL && d->kind == CNN_ADAM && !t->masked && d->eps >= FUSED_EPS_LEAST && d->eps <= 1;
    if (!w->by_adam) return;
    const double decay = d->decay_steps > 0 ? fmax(0.0, 1 - (double)step / d->decay_steps) : 1;
    const double steps = (double)(step + 1);
    w->adam = (fused_adam){.rate = (float)(d->lr * decay / (1 - pow(d->beta1, steps))),
                           .keep1 = (float)d->beta1,
                           .take1 = (float)(1 - d->beta1),
                           .keep2 = (float)d->beta2,
                           .take2 = (float)(1 - d->beta2),
                           .correct2 = (float)(1 / (1 - pow(d->beta2, steps))),
                           .eps = (float)d->eps,
                           .l1 = (float)d->l1,
                           .l2 = (float)d->l2};
}
