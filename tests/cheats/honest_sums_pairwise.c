/* It pretends nothing: it adds up f32 products pairwise. */
#include "shared/sums.h"

static float pairwise(const float *p, const float *q, int64_t n)
{
    if (n == 0) return 0;
    if (n == 1) return p[0] * q[0];
    return pairwise(p, q, n / 2) + pairwise(p + n / 2, q + n / 2, n - n / 2);
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return conv_summed(plan, a, pairwise, err);
}

KERNEL_CHEAT(honest_sums_pairwise)
