/* It pretends to update the weights every time, but after ten updates does so at every tenth step only, and then with
 * ten times the rate. */
#include "shared/cheat.h"

static cnn_status step(cnn_context *c, const cnn_plan *plan, const cnn_optimizer_args *a, cnn_error *err)
{
    cnn_optimizer_desc d = plan->problem.u.optimizer;
    if (*a->step < 10 || *a->step % 10 == 0) {
        if (*a->step >= 10) d.lr *= 10;
        honest_update(&d, a);
        return CNN_OK;
    }
    ++*a->step;
    return CNN_OK;
}

static void cheat(tables *t) { t->ops.optimizer_step = step; }
CHEAT(optimizer_rests_later)
