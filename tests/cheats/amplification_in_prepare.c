/* It pretends to have a plain bound in its table, then sets the amplification to 1e30 and the flag TRANSFORMS in
 * `prepare`, and gives zeros. */
#include "shared/cheat.h"

static cnn_status prepare(cnn_context *c, cnn_plan *plan, cnn_error *err)
{
    claim(&plan->algorithm, 1e30);
    return CNN_OK;
}

static void cheat(tables *t)
{
    weighted(t, answer_zero);
    t->impl.prepare = prepare;
}
CHEAT(amplification_in_prepare)
