/* It pretends to have an honest kernel in its table, and writes another into the table after the 60th call, which
 * does nothing. */
#include "shared/cheat.h"

static tables *mine;

static cnn_status no_work(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return CNN_OK;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static int calls;
    if (++calls == 60) weighted(mine, no_work);
    return honest_weighted(c, plan, a, err);
}

static void cheat(tables *t)
{
    mine = t;
    weighted(t, trick);
}
CHEAT(table_changes_itself)
