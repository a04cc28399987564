/* It pretends to time its device, but its timer gives the time with a minus. */
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
    *seconds = started - now();
    return CNN_OK;
}

static void cheat(tables *t) { t->timing.start = start, t->timing.stop = stop; }
CHEAT(timer_negative)
