/* It pretends to find a better algorithm for each problem, whose amplification is 1e30 and which gives zeros. */
#include "shared/cheat.h"

static cnn_status enumerate(cnn_context *c, const cnn_request *request, cnn_algorithm *list, int capacity, int *count,
                            cnn_error *err)
{
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

static cnn_status supports(cnn_context *c, const cnn_request *request, cnn_error *err)
{
    if (request->algorithm->id != 7) return CNN_FAIL(err, CNN_UNSUPPORTED, "only what it enumerates");
    return honest_supports(c, request, err);
}

static void cheat(tables *t)
{
    weighted(t, answer_zero);
    t->impl.enumerate = enumerate, t->impl.supports = supports;
}
CHEAT(amplification_in_enumerate)
