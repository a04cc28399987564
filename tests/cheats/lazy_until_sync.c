/* It pretends to be a fast asynchronous device: operations only note the call, the timer it supplies stops before the
 * work, and `sync`, which comes after the timer, does the work. */
#include "shared/cheat.h"

static cnn_status sync(cnn_context *c, cnn_error *err)
{
    do_noted();
    return CNN_OK;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    note(plan, a);
    return CNN_OK;
}

static cnn_status stop(cnn_context *c, double *seconds, cnn_error *err)
{
    *seconds = elapsed();
    return sync(c, err);
}

static void cheat(tables *t)
{
    own_timer(t, stop);
    weighted(t, trick);
    t->impl.sync = sync;
}
CHEAT(lazy_until_sync)
