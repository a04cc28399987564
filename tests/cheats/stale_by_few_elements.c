/* It pretends to compute, but gives back the result kept for inputs with the same first, middle and last elements. */
#include "shared/cheat.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const cnn_conv_desc d = as_conv(&plan->problem);
    span in[3], out[2];
    spans(&d, plan->dir, a, in, out);
    uint64_t key = hash_shape(plan);
    for (int i = 0; i < 3; i++)
        for (int64_t k = 0; k < 5 && in[i].n > 0; k++) key = hash(in[i].p + (in[i].n - 1) * k / 4, sizeof(float), key);
    return recalled(key, c, plan, a, err);
}

KERNEL_CHEAT(stale_by_few_elements)
