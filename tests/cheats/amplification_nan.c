/* It pretends that its rounding bound is NaN, so that no comparison with it fails, and gives zeros. */
#include "shared/cheat.h"

static const cnn_algorithm algorithms[] = {{.name = "loops",
                                            .doc = "one element after the other",
                                            .ops = HONEST_OPS,
                                            .flags = CNN_ALGO_DETERMINISTIC | CNN_ALGO_TRANSFORMS,
                                            .amplification = NAN}};

static void cheat(tables *t)
{
    weighted(t, answer_zero);
    t->impl.algorithms = algorithms;
}
CHEAT(amplification_nan)
