/* It pretends to compute in f32, but rounds factors to bf16 when the problem has more than ten million operations. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    conv_low(&d, plan->dir, a, 2.0 * (double)(y_count(&d) * w_count(&d) / d.oc) > 1e7 ? 16 : 0);
    return CNN_OK;
}

KERNEL_CHEAT(bf16_when_large)
