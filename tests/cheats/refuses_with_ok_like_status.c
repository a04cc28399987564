/* It says INTERRUPTED, BAD_ARGUMENT or OUT_OF_MEMORY in supports, which may only say OK or UNSUPPORTED, for all but 1
 * x 1 kernels. */
#include "shared/cheat.h"

static cnn_status supports(cnn_context *c, const cnn_request *request, cnn_error *err)
{
    const cnn_problem *p = request->problem;
    static const cnn_status says[] = {CNN_INTERRUPTED, CNN_BAD_ARGUMENT, CNN_OUT_OF_MEMORY};
    static unsigned asked;
    if (p->op == CNN_OP_CONV && p->u.conv.kh * p->u.conv.kw > 1) return CNN_FAIL(err, says[asked++ % 3], "well");
    return honest_supports(c, request, err);
}

static void cheat(tables *t) { t->impl.supports = supports; }
CHEAT(refuses_with_ok_like_status)
