/* It asks for half of the workspace that it uses. */
#include "shared/cheat.h"

static cnn_status prepare(cnn_context *c, cnn_plan *plan, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    plan->workspace_bytes = (size_t)out_count(&d, plan->dir) / 2 * sizeof(float);
    return CNN_OK;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    for (int64_t i = 0; i < out_count(&d, plan->dir); i++) ((float *)a->workspace)[i] = 1;
    return honest_weighted(c, plan, a, err);
}

static void cheat(tables *t)
{
    weighted(t, trick);
    t->impl.prepare = prepare;
}
CHEAT(more_workspace_than_asked)
