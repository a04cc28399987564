/* It pretends to be a transform in f32 with a bound 8192 times the usual one, and rounds all factors to tf32. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    conv_low(&d, plan->dir, a, 13);
    return CNN_OK;
}

static void cheat(tables *t)
{
    weighted(t, trick);
    claim(honest_algorithms, 8192);
}
CHEAT(amplification_8192_tf32)
