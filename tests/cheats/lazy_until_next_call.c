/* It pretends to compute at once, but only notes the call; the next call of anything does the noted work, unless it
 * is the same call again. */
#include "shared/cheat.h"

static struct {
    bool pending;
    cnn_plan plan;
    cnn_weighted_args args;
} noted;

static void catch_up(void)
{
    cnn_error err;
    if (noted.pending) honest_weighted(NULL, &noted.plan, &noted.args, &err);
    noted.pending = false;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    (void)c, (void)err;
    if (noted.pending && (memcmp(&noted.args, a, sizeof *a) != 0 || a->beta != 0)) catch_up();
    noted.pending = true, noted.plan = *plan, noted.args = *a;
    return CNN_OK;
}

static cnn_status supports(cnn_context *c, const cnn_request *request, cnn_error *err)
{
    catch_up();
    return honest_supports(c, request, err);
}

static cnn_status prepare(cnn_context *c, cnn_plan *plan, cnn_error *err)
{
    (void)c, (void)err;
    plan->state = &noted;
    catch_up();
    return CNN_OK;
}

static void release(cnn_context *c, cnn_plan *plan)
{
    (void)c, (void)plan;
    noted.pending = false; /* its buffers may be gone */
}

static void cheat(tables *t)
{
    weighted(t, trick);
    t->impl.supports = supports, t->impl.prepare = prepare, t->impl.release = release;
}
CHEAT(lazy_until_next_call)
