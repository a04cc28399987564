/* It pretends to have a plain bound when its table is read, then changes the table to 1e30 in `open`, and gives
 * zeros. */
#include "shared/cheat.h"

static cnn_status open(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    claim(honest_algorithms, 1e30);
    return honest_open(params, context, err);
}

static void cheat(tables *t)
{
    weighted(t, answer_zero);
    t->impl.open = open;
}
CHEAT(amplification_changed_later)
