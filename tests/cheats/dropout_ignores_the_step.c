/* It pretends to draw anew at each update, but drops the same elements in every step after the fifth. */
#include "shared/cheat.h"

static cnn_status fwd(cnn_context *c, const cnn_plan *plan, const cnn_map_fwd_args *a, cnn_error *err)
{
    const int64_t step = *a->step < 5 ? *a->step : 5;
    honest_drop(&plan->problem.u.dropout, a->x, a->y, step);
    return CNN_OK;
}

static void cheat(tables *t) { t->ops.dropout_fwd = fwd; }
CHEAT(dropout_ignores_the_step)
