/* It pretends to compute, but computes only when the output holds a NaN, as the verifier puts there, or when beta is
 * 1. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    span in[3], out[2];
    spans(&d, plan->dir, a, in, out);
    const bool poisoned = isnan(out[0].p[0]) || isnan(out[0].p[out[0].n - 1]) || isnan(out[0].p[out[0].n / 2]);
    return poisoned || a->beta != 0 ? honest_weighted(c, plan, a, err) : CNN_OK;
}

KERNEL_CHEAT(only_over_poison)
