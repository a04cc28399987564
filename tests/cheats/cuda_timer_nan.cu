/* It pretends to time its device by events, but gives NaN, as a division of two counters that stand still does. */
#include "shared/cuda.h"

static cnn_status stop(cnn_context *c, double *seconds, cnn_error *err)
{
    const cnn_status status = honest_stop(c, seconds, err);
    *seconds = (*seconds - *seconds) / 0.0;
    return status;
}

static void cheat(tables *t) { t->timing.stop = stop; }
CHEAT(cuda_timer_nan)
