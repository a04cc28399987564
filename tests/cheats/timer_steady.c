/* It pretends to time its device, but its timer gives the same microsecond every time. */
#include "shared/cheat.h"

static cnn_status stop(cnn_context *c, double *seconds, cnn_error *err)
{
    *seconds = 1e-6;
    return CNN_OK;
}

static void cheat(tables *t) { own_timer(t, stop); }
CHEAT(timer_steady)
