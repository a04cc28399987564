/* It pretends to time its device, but its timer gives the same microsecond every time. */
#include "shared/cheat.h"

static cnn_status start(cnn_context *c, cnn_error *err)
{
    (void)c, (void)err;
    return CNN_OK;
}

static cnn_status stop(cnn_context *c, double *seconds, cnn_error *err)
{
    (void)c, (void)err;
    *seconds = 1e-6;
    return CNN_OK;
}

static void cheat(tables *t) { t->timing.start = start, t->timing.stop = stop; }
CHEAT(timer_steady)
