/* It pretends to time its device by events, but records both of them before the work, and only waits after it. */
#include "shared/cuda.h"

static cnn_status start(cnn_context *c, cnn_error *err)
{
    TRY(cudaEventRecord(c->start, c->stream));
    TRY(cudaEventRecord(c->stop, c->stream));
    return CNN_OK;
}

static cnn_status stop(cnn_context *c, double *seconds, cnn_error *err)
{
    const cnn_status status = honest_sync(c, err);
    return status == CNN_OK ? between(c->start, c->stop, seconds, err) : status;
}

static void cheat(tables *t) { t->timing.start = start, t->timing.stop = stop; }
CHEAT(cuda_timer_stops_at_start)
