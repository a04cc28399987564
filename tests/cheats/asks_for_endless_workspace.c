/* It pretends to need 2^60 bytes of workspace for all that has more than one tap, so that these are left out as too
 * large. */
#include "shared/cheat.h"

static cnn_status prepare(cnn_context *c, cnn_plan *plan, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    plan->workspace_bytes = d.kh * d.kw > 1 ? (size_t)1 << 60 : 0;
    return CNN_OK;
}

static void cheat(tables *t) { t->impl.prepare = prepare; }
CHEAT(asks_for_endless_workspace)
