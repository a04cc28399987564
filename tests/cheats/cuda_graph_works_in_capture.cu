/* It pretends to capture, but does the work when the capture ends and keeps the result on the device; a replay copies
 * it, however often the call was captured. */
#include "shared/cuda.h"

static cnn_status begin(cnn_context *c, cnn_error *)
{
    c->noted = 0, c->capturing = true;
    return CNN_OK;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return c->capturing ? note(c, plan, a, err) : honest_weighted(c, plan, a, err);
}

static cnn_status copy(cnn_context *c, bool keep, cnn_error *err)
{
    const call *last = &c->queue[0];
    void *out = last->dir == CNN_FWD ? last->a.y : last->dir == CNN_BWD_D ? last->a.dx : last->a.dw;
    const size_t bytes = (size_t)out_count(&last->d, last->dir) * sizeof(float);
    return honest_copy(c, keep ? c->kept : out, keep ? out : c->kept, bytes, err);
}

static cnn_status end(cnn_context *c, cnn_graph **graph, cnn_error *err)
{
    *graph = static_cast<cnn_graph *>(calloc(1, sizeof **graph));
    c->capturing = false;
    if (c->kept == NULL) TRY(cudaMalloc(&c->kept, 1 << 20));
    const cnn_status status = launch_noted(c, err);
    return status == CNN_OK ? copy(c, true, err) : status;
}

static cnn_status run(cnn_context *c, cnn_graph *, cnn_error *err) { return copy(c, false, err); }
static void forget(cnn_context *, cnn_graph *graph) { free(graph); }

static void cheat(tables *t)
{
    weighted(t, trick);
    t->capture.begin = begin, t->capture.end = end, t->capture.run = run, t->capture.free = forget;
}
CHEAT(cuda_graph_works_in_capture)
