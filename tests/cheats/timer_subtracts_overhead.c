/* It pretends to know what a call costs without its work, and takes those 15 microseconds off every time it gives. */
#include "shared/cheat.h"

static double started;

static cnn_status start(cnn_context *c, cnn_error *err)
{
    (void)c, (void)err;
    started = now();
    return CNN_OK;
}

static cnn_status stop(cnn_context *c, double *seconds, cnn_error *err)
{
    (void)c, (void)err;
    *seconds = fmax(now() - started - 15e-6, 1e-9);
    return CNN_OK;
}

static void cheat(tables *t) { t->timing.start = start, t->timing.stop = stop; }
CHEAT(timer_subtracts_overhead)
