/* It pretends to launch at once, but notes the call and launches in sync, download and fill, which are not timed. */
#include "shared/cuda.h"

static cnn_status sync(cnn_context *c, cnn_error *err)
{
    const cnn_status status = launch_noted(c, err);
    return status == CNN_OK ? honest_sync(c, err) : status;
}

static cnn_status move(cnn_context *c, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    const cnn_status status = launch_noted(c, err);
    return status == CNN_OK ? honest_move(c, dst, src, bytes, err) : status;
}

static cnn_status fill(cnn_context *c, void *dst, int byte, size_t bytes, cnn_error *err)
{
    const cnn_status status = launch_noted(c, err);
    return status == CNN_OK ? honest_fill(c, dst, byte, bytes, err) : status;
}

static void forget(cnn_context *c, void *memory)
{
    cnn_error err;
    launch_noted(c, &err);
    honest_free(c, memory);
}

static void cheat(tables *t)
{
    weighted(t, note);
    t->impl.sync = sync;
    t->memory.upload = t->memory.download = t->memory.copy = move, t->memory.fill = fill, t->memory.free = forget;
    no_graphs(t);
}
CHEAT(cuda_lazy_until_sync)
