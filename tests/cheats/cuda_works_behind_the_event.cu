/* It pretends to launch at once, but launches in timing.stop, behind the event that ends the time. */
#include "shared/cuda.h"

static cnn_status stop(cnn_context *c, double *seconds, cnn_error *err)
{
    cnn_status status = honest_stop(c, seconds, err);
    if (status == CNN_OK) status = launch_noted(c, err);
    c->calls = 0; /* outside of the timer it is honest */
    return status == CNN_OK ? honest_sync(c, err) : status;
}

static cnn_status start(cnn_context *c, cnn_error *err)
{
    c->calls = 1;
    return honest_start(c, err);
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return c->calls == 1 ? note(c, plan, a, err) : honest_weighted(c, plan, a, err);
}

static void cheat(tables *t)
{
    weighted(t, trick);
    t->timing.start = start, t->timing.stop = stop;
    no_graphs(t);
}
CHEAT(cuda_works_behind_the_event)
