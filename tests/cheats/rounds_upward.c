/* It leaves the rounding mode of the processor at upward after each call, so that the reference and the statistics of
 * others are off. */
#include "shared/cheat.h"

#include <fenv.h>

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_status status = honest_weighted(c, plan, a, err);
    fesetround(FE_UPWARD);
    return status;
}

KERNEL_CHEAT(rounds_upward)
