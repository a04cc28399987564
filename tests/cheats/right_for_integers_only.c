/* It pretends to be exact: it computes with all bits when the inputs are integers, as in the exact check, and in bf16
 * when they are not. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    span in[3], out[2];
    bool integers = true;
    spans(&d, plan->dir, a, in, out);
    for (int i = 0; i < 2; i++)
        for (int64_t k = 0; k < in[i].n && integers; k++) integers = in[i].p[k] == rintf(in[i].p[k]);
    conv_low(&d, plan->dir, a, integers ? 0 : 16);
    return CNN_OK;
}

KERNEL_CHEAT(right_for_integers_only)
