/* It pretends to compute in the operation, but does the work anew in every upload, copy or fill, which are not timed,
 * and in the operation copies what it has. */
#include "shared/cheat.h"

static struct {
    bool known, ready;
    cnn_plan plan;
    cnn_weighted_args args;
} last;

static void ahead(cnn_context *c)
{
    cnn_error err;
    if (last.known) honest_weighted(c, &last.plan, &last.args, &err);
    last.ready = last.known;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const bool same = last.ready && memcmp(&last.args, a, sizeof *a) == 0 && hash_shape(&last.plan) == hash_shape(plan);
    if (same && a->beta == 0) return CNN_OK;
    last.known = a->beta == 0, last.plan = *plan, last.args = *a;
    last.ready = last.known;
    return honest_weighted(c, plan, a, err);
}

static cnn_status copy(cnn_context *c, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    own_copy(c, dst, src, bytes, err);
    ahead(c);
    return CNN_OK;
}

static cnn_status fill(cnn_context *c, void *dst, int byte, size_t bytes, cnn_error *err)
{
    own_fill(c, dst, byte, bytes, err);
    last.ready = false; /* the output is poisoned; the next upload, or the call, makes it anew */
    return CNN_OK;
}

static void free_(cnn_context *c, void *p)
{
    last.known = last.ready = false;
    free(p);
}

static void cheat(tables *t)
{
    own_memory(t);
    weighted(t, trick);
    t->memory.upload = t->memory.copy = copy, t->memory.fill = fill, t->memory.free = free_;
}
CHEAT(computes_in_upload)
