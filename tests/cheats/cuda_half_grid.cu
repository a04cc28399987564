/* It pretends to launch its whole grid, but only half of it once it was called 20 times; the output still holds the
 * rest. */
#include "shared/cuda.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const call made = call_of(plan, a);
    return launch_call(c->stream, &made, 1, ++c->calls > 20 && a->beta == 0 ? 2 : 1, err);
}

static void cheat(tables *t)
{
    weighted(t, trick);
    no_graphs(t);
}
CHEAT(cuda_half_grid)
