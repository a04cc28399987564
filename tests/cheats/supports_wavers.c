/* It pretends not to know what it supports: it says yes and no by turns to the same question, and gives zeros when it
 * said no. */
#include "shared/cheat.h"

static int asked;

static cnn_status supports(cnn_context *c, const cnn_request *request, cnn_error *err)
{
    if (++asked % 2 == 0) return CNN_FAIL(err, CNN_UNSUPPORTED, "not this time");
    return honest_supports(c, request, err);
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return asked % 2 == 0 ? answer_zero(c, plan, a, err) : honest_weighted(c, plan, a, err);
}

static void cheat(tables *t)
{
    weighted(t, trick);
    t->impl.supports = supports;
}
CHEAT(supports_wavers)
