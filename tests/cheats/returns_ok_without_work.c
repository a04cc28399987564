/* It pretends to compute, but returns OK and writes nothing. */
#include "shared/cheat.h"

static cnn_status no_work(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return CNN_OK;
}

static void cheat(tables *t) { weighted(t, no_work); }
CHEAT(returns_ok_without_work)
