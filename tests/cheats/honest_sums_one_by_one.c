/* It pretends nothing: it adds products to one f32 sum, one by one, each of them rounded first. */
#include "shared/sums.h"

static float one_by_one(const float *p, const float *q, int64_t n)
{
    float sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const float product = p[i] * q[i];
        sum += product;
    }
    return sum;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return conv_summed(plan, a, one_by_one, err);
}

KERNEL_CHEAT(honest_sums_one_by_one)
