/* It calls abort() in its kernel, as a failed assertion does. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    (void)c, (void)plan, (void)a, (void)err;
    abort();
}

static void cheat(tables *t) { weighted(t, trick); }
CHEAT(aborts_itself)
