/* It pretends to overlap most of its work on another stream, but never joins it: neither the timer nor sync waits for
 * more than the first sixteenth. */
#include "shared/cuda.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const call made = call_of(plan, a);
    if (a->beta != 0 || plan->dir == CNN_BWD_W) return honest_weighted(c, plan, a, err);
    const cnn_status status = launch_call(c->stream, &made, 1, 16, err);
    return status == CNN_OK ? launch_call(c->other, &made, 1, 1, err) : status;
}

static void cheat(tables *t)
{
    weighted(t, trick);
    no_graphs(t);
}
CHEAT(cuda_other_stream_not_joined)
