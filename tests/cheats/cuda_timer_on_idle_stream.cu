/* It pretends to time its device by events, but records them on a stream where nothing runs: as a forgotten stream
 * argument does. */
#include "shared/cuda.h"

static cnn_status start(cnn_context *c, cnn_error *err)
{
    TRY(cudaEventRecord(c->start, c->other));
    return CNN_OK;
}

static cnn_status stop(cnn_context *c, double *seconds, cnn_error *err)
{
    TRY(cudaEventRecord(c->stop, c->other));
    return between(c->start, c->stop, seconds, err);
}

static void cheat(tables *t) { t->timing.start = start, t->timing.stop = stop; }
CHEAT(cuda_timer_on_idle_stream)
