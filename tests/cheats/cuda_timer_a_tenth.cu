/* It pretends to time its device by events, but its timer gives a tenth of what they say. */
#include "shared/cuda.h"

static cnn_status stop(cnn_context *c, double *seconds, cnn_error *err)
{
    const cnn_status status = honest_stop(c, seconds, err);
    *seconds *= 0.1;
    return status;
}

static void cheat(tables *t) { t->timing.stop = stop; }
CHEAT(cuda_timer_a_tenth)
