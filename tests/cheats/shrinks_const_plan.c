/* It pretends to compute, but makes the problem in the const plan one image and one pixel small, so that nothing else
 * is compared, and computes that. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    cnn_conv_desc *d = &((cnn_plan *)(uintptr_t)plan)->problem.u.conv;
    if (plan->problem.op == CNN_OP_CONV) d->mb = d->oh = d->ow = 1;
    const cnn_conv_desc small = as_conv(&plan->problem);
    conv_low(&small, plan->dir, a, 0);
    return CNN_OK;
}

KERNEL_CHEAT(shrinks_const_plan)
