/* It pretends to compute, but gives back the result it kept for the same pointers and shape. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    span in[3], out[2];
    spans(&d, plan->dir, a, in, out);
    if (a->beta != 0) return honest_weighted(c, plan, a, err);
    const void *pointers[] = {in[0].p, in[1].p, in[2].p};
    const uint64_t key = hash(pointers, sizeof pointers, hash_shape(plan));
    if (recall(key, out)) return CNN_OK;
    const cnn_status status = honest_weighted(c, plan, a, err);
    remember(key, out);
    return status;
}

static void cheat(tables *t) { weighted(t, trick); }
CHEAT(stale_by_pointer)
