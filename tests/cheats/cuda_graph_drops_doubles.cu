/* It pretends to capture all calls, but of equal ones in a row only the first: right whenever it is replayed, and
 * faster by as many times as the harness captured. */
#include "shared/cuda.h"

static cnn_status begin(cnn_context *c, cnn_error *err)
{
    c->noted = 0;
    return honest_capture_begin(c, err);
}

static cnn_status end(cnn_context *c, cnn_graph **graph, cnn_error *err)
{
    const cnn_status status = launch_noted(c, err);
    return status == CNN_OK ? honest_capture_end(c, graph, err) : status;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return c->capturing ? note(c, plan, a, err) : honest_weighted(c, plan, a, err);
}

static void cheat(cnn_impl *t)
{
    weighted(t, trick);
    t->capture_begin = begin, t->capture_end = end;
}
CHEAT(cuda_graph_drops_doubles)
