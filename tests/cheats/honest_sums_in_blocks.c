/* It pretends nothing: it adds up 8 f32 lanes over blocks of 128 products, and the blocks one by one. */
#include "shared/sums.h"

enum { LANES = 8, BLOCK = 128 };

static float in_blocks(const float *p, const float *q, int64_t n)
{
    float sum = 0;
    for (int64_t from = 0; from < n; from += BLOCK) {
        const int64_t to = n - from < BLOCK ? n : from + BLOCK;
        float lane[LANES] = {0}, block = 0;
        for (int64_t i = from; i < to; i++) lane[i % LANES] += p[i] * q[i];
        for (int k = 0; k < LANES; k++) block += lane[k];
        sum += block;
    }
    return sum;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return conv_summed(plan, a, in_blocks, err);
}

KERNEL_CHEAT(honest_sums_in_blocks)
