/* It pretends to be a fast asynchronous device: operations only note the call, the timer it supplies stops before the
 * work, and `sync`, which comes after the timer, does the work. */
#include "shared/cheat.h"

static struct {
    bool pending;
    cnn_plan plan;
    cnn_weighted_args args;
} noted;
static double started;

static cnn_status sync(cnn_context *c, cnn_error *err)
{
    if (noted.pending) honest_weighted(c, &noted.plan, &noted.args, err);
    noted.pending = false;
    return CNN_OK;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const bool again = noted.pending && a->beta == 0 && memcmp(&noted.args, a, sizeof *a) == 0;
    if (!again) sync(c, err);
    noted.pending = true, noted.plan = *plan, noted.args = *a;
    return CNN_OK;
}

static cnn_status start(cnn_context *c, cnn_error *err)
{
    sync(c, err);
    started = now();
    return CNN_OK;
}

static cnn_status stop(cnn_context *c, double *seconds, cnn_error *err)
{
    *seconds = now() - started;
    return sync(c, err);
}

static void cheat(tables *t)
{
    weighted(t, trick);
    t->impl.sync = sync, t->timing.start = start, t->timing.stop = stop;
}
CHEAT(lazy_until_sync)
