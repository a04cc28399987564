/* It pretends to compute every time, but computes only at every eighth call once a plan was called 20 times, so that
 * most samples are empty. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const int calls = earlier_calls(plan);
    return calls < 20 || calls % 8 == 0 ? honest_weighted(c, plan, a, err) : CNN_OK;
}

KERNEL_CHEAT(idle_seven_calls_of_eight)
