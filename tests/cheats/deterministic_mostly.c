/* It claims the same bits in every run, and in one call of 7 changes the last bit of one element. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static int calls;
    const cnn_conv_desc d = as_conv(&plan->problem);
    span in[3], out[2];
    honest_weighted(c, plan, a, err);
    spans(&d, plan->dir, a, in, out);
    float *last = out[0].p + out[0].n - 1;
    if (++calls % 7 == 0 && *last != rintf(*last)) *last = nextafterf(*last, INFINITY);
    return CNN_OK;
}

KERNEL_CHEAT(deterministic_mostly)
