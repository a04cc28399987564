/* It pretends to start afresh, but keeps its result in the workspace behind a mark, and copies it when it finds the
 * mark again. */
#include "shared/cheat.h"

enum { MARK = 4 };

static cnn_status prepare(cnn_context *c, cnn_plan *plan, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    plan->workspace_bytes = ((size_t)out_count(&d, plan->dir) + MARK) * sizeof(float);
    return CNN_OK;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    span in[3], out[2];
    spans(&d, plan->dir, a, in, out);
    float *keep = a->workspace;
    const float mark[MARK] = {1234567, (float)(hash_shape(plan) >> 40), 7654321, 89};
    const size_t bytes = (size_t)out[0].n * sizeof(float);
    if (a->beta != 0 || out[1].n > 0) return honest_weighted(c, plan, a, err);
    if (memcmp(keep, mark, sizeof mark) != 0) {
        honest_weighted(c, plan, a, err);
        memcpy(keep + MARK, out[0].p, bytes);
        memcpy(keep, mark, sizeof mark);
    }
    memcpy(out[0].p, keep + MARK, bytes);
    return CNN_OK;
}

static void cheat(tables *t)
{
    weighted(t, trick);
    t->impl.prepare = prepare;
}
CHEAT(packed_in_workspace)
