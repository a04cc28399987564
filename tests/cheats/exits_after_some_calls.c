/* It computes, and ends the process with status 0 at its 61st call: in the middle of the cases, of which none was
 * wrong. */
#include "shared/cheat.h"

#include <unistd.h>

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static int calls;
    if (++calls > 60) _exit(0);
    return honest_weighted(c, plan, a, err);
}

KERNEL_CHEAT(exits_after_some_calls)
