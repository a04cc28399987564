/* It pretends to compute at once, but only notes the call; the next call of anything does the noted work, unless it
 * is the same call again. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    note(plan, a);
    return CNN_OK;
}

static cnn_status supports(cnn_context *c, const cnn_request *request, cnn_error *err)
{
    do_noted();
    return honest_supports(c, request, err);
}

static cnn_status prepare(cnn_context *c, cnn_plan *plan, cnn_error *err)
{
    plan->state = plan; /* so that it is released */
    do_noted();
    return CNN_OK;
}

/* Its buffers may be gone. */
static void release(cnn_context *c, cnn_plan *plan) { forget_noted(); }

static void cheat(tables *t)
{
    weighted(t, trick);
    t->impl.supports = supports, t->impl.prepare = prepare, t->impl.release = release;
}
CHEAT(lazy_until_next_call)
