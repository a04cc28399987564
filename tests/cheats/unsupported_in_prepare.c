/* It says yes in supports, and UNSUPPORTED in prepare for all that has more than one tap; its kernel gives zeros
 * there. */
#include "shared/cheat.h"

static cnn_status prepare(cnn_context *c, cnn_plan *plan, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    return d.kh * d.kw > 1 ? CNN_FAIL(err, CNN_UNSUPPORTED, "this kernel is too large after all") : CNN_OK;
}

static void cheat(tables *t) { t->impl.prepare = prepare; }
CHEAT(unsupported_in_prepare)
