/* It adds to the output only in the first call of a plan with beta 1, and replaces it later. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static uint64_t shape;
    static int calls;
    cnn_weighted_args b = *a;
    calls = shape == hash_shape(plan) ? calls + 1 : 0;
    shape = hash_shape(plan);
    if (calls > 0) b.beta = 0;
    return honest_weighted(c, plan, &b, err);
}

static void cheat(tables *t) { weighted(t, trick); }
CHEAT(beta_ignored_when_repeated)
