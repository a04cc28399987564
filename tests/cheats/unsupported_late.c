/* It says yes in supports, and then, called for anything with more than one tap, UNSUPPORTED, in case that is not
 * counted as a failure. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    if (d.kh * d.kw > 1) return CNN_FAIL(err, CNN_UNSUPPORTED, "this kernel is too large after all");
    return honest_weighted(c, plan, a, err);
}

KERNEL_CHEAT(unsupported_late)
