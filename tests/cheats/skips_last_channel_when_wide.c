/* It pretends to make all output channels, but copies the last one from the one before it where there are more than
 * 200. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    float *y = a->y;
    honest_weighted(c, plan, a, err);
    for (int64_t n = 0; plan->dir == CNN_FWD && d.oc > 200 && n < d.mb; n++)
        for (int64_t i = 0; i < d.oh * d.ow; i++)
            y[at4(d.t.layout, d.oc, d.oh * d.ow, 1, n, d.oc - 1, i, 0)] =
                y[at4(d.t.layout, d.oc, d.oh * d.ow, 1, n, d.oc - 2, i, 0)];
    return CNN_OK;
}

KERNEL_CHEAT(skips_last_channel_when_wide)
