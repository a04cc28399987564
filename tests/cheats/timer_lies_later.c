/* It pretends to time its device, and does so for the first 40 times; then its timer gives a tenth of the time. */
#include "shared/cheat.h"

static cnn_status stop(cnn_context *c, double *seconds, cnn_error *err)
{
    static int calls;
    *seconds = elapsed() * (++calls > 40 ? 0.1 : 1);
    return CNN_OK;
}

static void cheat(tables *t) { own_timer(t, stop); }
CHEAT(timer_lies_later)
