/* Its algorithm has a name that fills the buffer without an end, and so has the choice in its plans. */
#include "shared/cheat.h"

static cnn_status prepare(cnn_context *c, cnn_plan *plan, cnn_error *err)
{
    memset(plan->choice, 66, sizeof plan->choice);
    return CNN_OK;
}

static void cheat(tables *t)
{
    memset(honest_algorithms[0].name, 67, sizeof honest_algorithms[0].name);
    t->impl.prepare = prepare;
}
CHEAT(names_without_end)
