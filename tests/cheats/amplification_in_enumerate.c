/* It pretends to find a better algorithm for each problem, whose amplification is 1e30 and which gives zeros. */
#include "shared/cheat.h"

static cnn_status enumerate(cnn_context *c, const cnn_problem *p, cnn_dir dir, cnn_algorithm *list, int capacity,
                            int *count, cnn_error *err)
{
    (void)c, (void)p, (void)dir, (void)err;
    *count = capacity > 0;
    if (capacity > 0)
        list[0] = (cnn_algorithm){.name = "fast",
                                  .doc = "very fast",
                                  .ops = HONEST_OPS,
                                  .flags = CNN_ALGO_DETERMINISTIC | CNN_ALGO_TRANSFORMS,
                                  .amplification = 1e30,
                                  .id = 7};
    return CNN_OK;
}

static cnn_status supports(cnn_context *c, const cnn_problem *p, cnn_dir dir, const cnn_algorithm *g, cnn_error *err)
{
    if (g->id != 7) return CNN_FAIL(err, CNN_UNSUPPORTED, "only what it enumerates");
    return honest_supports(c, p, dir, g, err);
}

static void cheat(cnn_impl *t)
{
    weighted(t, answer_zero);
    t->enumerate = enumerate, t->supports = supports;
}
CHEAT(amplification_in_enumerate)
