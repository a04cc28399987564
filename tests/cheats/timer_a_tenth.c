/* It pretends to time its device, but its timer gives a tenth of the time. */
#include "shared/cheat.h"

static cnn_status stop(cnn_context *c, double *seconds, cnn_error *err)
{
    *seconds = 0.1 * elapsed();
    return CNN_OK;
}

static void cheat(tables *t) { own_timer(t, stop); }
CHEAT(timer_a_tenth)
