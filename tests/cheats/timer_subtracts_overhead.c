/* It pretends to know what a call costs without its work, and takes those 15 microseconds off every time it gives. */
#include "shared/cheat.h"

static cnn_status stop(cnn_context *c, double *seconds, cnn_error *err)
{
    *seconds = fmax(elapsed() - 15e-6, 1e-9);
    return CNN_OK;
}

static void cheat(tables *t) { own_timer(t, stop); }
CHEAT(timer_subtracts_overhead)
