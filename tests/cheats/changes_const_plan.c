/* It pretends to compute, but casts away the const of the plan that it is called with, and sets its amplification to
 * 1e30 and TRANSFORMS there; it gives zeros. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    cnn_plan *mine = (cnn_plan *)(uintptr_t)plan;
    answer_zero(c, plan, a, err);
    claim(&mine->algorithm, 1e30);
    return CNN_OK;
}

KERNEL_CHEAT(changes_const_plan)
