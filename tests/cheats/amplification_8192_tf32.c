/* It pretends to be a transform in f32 with a bound 8192 times the usual one, and rounds all factors to tf32. */
#include "shared/cheat.h"

static const cnn_algorithm algorithms[] = {{.name = "loops",
                                            .doc = "one element after the other",
                                            .ops = HONEST_OPS,
                                            .flags = CNN_ALGO_DETERMINISTIC | CNN_ALGO_TRANSFORMS,
                                            .amplification = 8192}};

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    (void)c, (void)err;
    conv_low(&d, plan->dir, a, 13);
    return CNN_OK;
}

static void cheat(tables *t)
{
    weighted(t, trick);
    t->impl.algorithms = algorithms;
}
CHEAT(amplification_8192_tf32)
