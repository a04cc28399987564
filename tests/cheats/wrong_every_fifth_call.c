/* It pretends to compute, but doubles one element in every fifth call. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static int calls;
    const cnn_conv_desc d = as_conv(&plan->problem);
    span in[3], out[2];
    honest_weighted(c, plan, a, err);
    spans(&d, plan->dir, a, in, out);
    if (++calls % 5 == 0) out[0].p[out[0].n / 2] *= 2;
    return CNN_OK;
}

KERNEL_CHEAT(wrong_every_fifth_call)
