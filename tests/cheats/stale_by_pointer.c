/* It pretends to compute, but gives back the result it kept for the same pointers and shape. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    span in[3], out[2];
    spans(&d, plan->dir, a, in, out);
    const void *pointers[] = {in[0].p, in[1].p, in[2].p};
    return recalled(hash(pointers, sizeof pointers, hash_shape(plan)), c, plan, a, err);
}

KERNEL_CHEAT(stale_by_pointer)
