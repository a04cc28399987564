/* It pretends nothing: it adds products to one f32 sum, one by one, by fused multiply-adds. */
#include "shared/sums.h"

static float with_fma(const float *p, const float *q, int64_t n)
{
    float sum = 0;
    for (int64_t i = 0; i < n; i++) sum = fmaf(p[i], q[i], sum);
    return sum;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return conv_summed(plan, a, with_fma, err);
}

KERNEL_CHEAT(honest_sums_with_fma)
