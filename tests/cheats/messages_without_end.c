/* It refuses all but 1 x 1 kernels with a message that fills the whole buffer without an end, and calls its own line
 * number negative. */
#include "shared/cheat.h"

static cnn_status supports(cnn_context *c, const cnn_request *request, cnn_error *err)
{
    const cnn_problem *p = request->problem;
    if (p->op == CNN_OP_CONV && p->u.conv.kh * p->u.conv.kw > 1) {
        err->status = CNN_UNSUPPORTED, err->line = -1;
        memset(err->message, 65, sizeof err->message);
        return CNN_UNSUPPORTED;
    }
    return honest_supports(c, request, err);
}

static void cheat(tables *t) { t->impl.supports = supports; }
CHEAT(messages_without_end)
