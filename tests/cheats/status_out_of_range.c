/* It gives zeros and returns a status that does not exist: 77 from the kernel, and -1 from supports for large
 * kernels. */
#include "shared/cheat.h"

static cnn_status supports(cnn_context *c, const cnn_request *request, cnn_error *err)
{
    const cnn_problem *p = request->problem;
    if (p->op == CNN_OP_CONV && p->u.conv.kh > 3) return (cnn_status)-1;
    return honest_supports(c, request, err);
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    answer_zero(c, plan, a, err);
    return (cnn_status)77;
}

static void cheat(tables *t)
{
    weighted(t, trick);
    t->impl.supports = supports;
}
CHEAT(status_out_of_range)
