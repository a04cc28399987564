/* It pretends to be right above the size from which the verifier only samples elements: there, and with inputs that
 * are not integers, one inner element is wrong by a five-thousandth. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    span in[3], out[2];
    honest_weighted(c, plan, a, err);
    spans(&d, plan->dir, a, in, out);
    if (y_count(&d) * w_count(&d) / d.oc > 500000 && in[0].p[0] != rintf(in[0].p[0]))
        out[0].p[out[0].n * 5 / 13] *= 1.0002f;
    return CNN_OK;
}

KERNEL_CHEAT(one_wrong_element_above_limit)
