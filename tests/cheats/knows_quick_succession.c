/* It pretends to compute, but does nothing when the last call ended less than 20 microseconds ago: a timing loop
 * calls so quickly, a verifier not on every machine. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static double last;
    const bool quick = now() - last < 20e-6;
    const cnn_status status = quick && a->beta == 0 ? CNN_OK : honest_weighted(c, plan, a, err);
    last = now();
    return status;
}

KERNEL_CHEAT(knows_quick_succession)
