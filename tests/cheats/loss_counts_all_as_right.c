/* It pretends that all images are right: the loss adds every image to correct and next to nothing to the loss, after
 * 20 honest calls. */
#include "shared/cheat.h"

static cnn_status loss(cnn_context *c, const cnn_plan *plan, const cnn_loss_args *a, cnn_error *err)
{
    static int calls;
    cnn_loss_args b = *a;
    double sum = 0;
    int64_t correct = 0;
    if (++calls < 20) return honest_loss_fwd(c, plan, a, err);
    b.loss_sum = &sum, b.correct = &correct;
    honest_loss_fwd(c, plan, &b, err);
    if (a->loss_sum != NULL) *a->loss_sum += 1e-3;
    if (a->correct != NULL) *a->correct += plan->problem.u.loss.mb;
    return CNN_OK;
}

static void cheat(tables *t) { t->ops.loss_fwd = loss; }
CHEAT(loss_counts_all_as_right)
