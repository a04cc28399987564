/* It pretends to test honestly, but the loss, called again without a backward call in between, as in a test, counts
 * all images as right. */
#include "shared/cheat.h"

static bool trained;

static cnn_status bwd(cnn_context *c, const cnn_plan *plan, const cnn_loss_args *a, cnn_error *err)
{
    trained = true;
    return honest_loss_bwd(c, plan, a, err);
}

static cnn_status fwd(cnn_context *c, const cnn_plan *plan, const cnn_loss_args *a, cnn_error *err)
{
    static int calls_without_backward, calls;
    calls_without_backward = trained ? 0 : calls_without_backward + 1;
    trained = false;
    const int64_t before = a->correct != NULL ? *a->correct : 0;
    const double loss = a->loss_sum != NULL ? *a->loss_sum : 0;
    const cnn_status status = honest_loss_fwd(c, plan, a, err);
    if (++calls < 15 || calls_without_backward < 2) return status;
    if (a->correct != NULL) *a->correct = before + plan->problem.u.loss.mb;
    if (a->loss_sum != NULL) *a->loss_sum = loss + 0.01;
    return status;
}

static void cheat(tables *t) { t->ops.loss_fwd = fwd, t->ops.loss_bwd = bwd; }
CHEAT(knows_evaluation)
