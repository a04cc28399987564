/* It pretends to be asked for bf16: `prepare` sets the arithmetic of the plan's problem to bf16, so that it is held
 * to that, and it computes in bf16 although f32 was asked for. */
#include "shared/cheat.h"

static cnn_status prepare(cnn_context *c, cnn_plan *plan, cnn_error *err)
{
    plan->problem.u.type.math = CNN_MATH_BF16;
    return CNN_OK;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    conv_low(&d, plan->dir, a, 16);
    return CNN_OK;
}

static void cheat(tables *t)
{
    weighted(t, trick);
    t->impl.prepare = prepare;
}
CHEAT(math_changed_in_prepare)
