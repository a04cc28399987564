/* It pretends to compute, and does so for the first 100 calls of a plan; then it returns at once. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const int calls = earlier_calls(plan);
    return calls < 100 ? honest_weighted(c, plan, a, err) : CNN_OK;
}

KERNEL_CHEAT(wrong_after_100_calls)
