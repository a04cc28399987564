/* It pretends to launch every time, but leaves a launch out when nothing was uploaded, copied or filled since the
 * same call: right as long as it is told of everything, and timed at nothing. */
#include "shared/cuda.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const call made = call_of(plan, a);
    bool again;
    if (a->beta != 0) return honest_weighted(c, plan, a, err);
    number_of(c, &made, &again);
    if (again) return CNN_OK;
    return launch_call(c->stream, &made, 1, 1, err);
}

static cnn_status upload(cnn_context *c, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    c->noted = 0;
    return honest_move(c, dst, src, bytes, err);
}

static cnn_status copy(cnn_context *c, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    c->noted = 0;
    return honest_copy(c, dst, src, bytes, err);
}

static cnn_status fill(cnn_context *c, void *dst, int byte, size_t bytes, cnn_error *err)
{
    c->noted = 0;
    return honest_fill(c, dst, byte, bytes, err);
}

static void forget(cnn_context *c, void *memory)
{
    c->noted = 0;
    honest_free(c, memory);
}

static void cheat(tables *t)
{
    weighted(t, trick);
    t->memory.upload = upload, t->memory.copy = copy, t->memory.fill = fill, t->memory.free = forget;
    no_graphs(t);
}
CHEAT(cuda_knows_what_is_dirty)
