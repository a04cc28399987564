/* It writes its result, and 8 more elements behind it, as a kernel that does not mask its last vectors. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    span in[3], out[2];
    honest_weighted(c, plan, a, err);
    spans(&d, plan->dir, a, in, out);
    for (int i = 0; i < 8; i++) out[0].p[out[0].n + i] = 1;
    return CNN_OK;
}

KERNEL_CHEAT(writes_beyond)
