/* It pretends to compute, but gives back the first result that it made for a shape. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return recalled(hash_shape(plan), c, plan, a, err);
}

KERNEL_CHEAT(stale_by_shape)
