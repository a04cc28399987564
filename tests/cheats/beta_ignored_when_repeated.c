/* It adds to the output only in the first call of a plan with beta 1, and replaces it later. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    cnn_weighted_args b = *a;
    if (earlier_calls(plan) > 0) b.beta = 0;
    return honest_weighted(c, plan, &b, err);
}

KERNEL_CHEAT(beta_ignored_when_repeated)
