/* It pretends to compute in f32, but cuts off what its sum cannot hold after every 16 products, as tensor cores do: the
 * errors of random signs stay small, those of positive data add up. */
#include "shared/sums.h"

static float cut(double v)
{
    const float f = (float)v;
    return fabs((double)f) > fabs(v) ? nextafterf(f, 0) : f;
}

static float truncated(const float *p, const float *q, int64_t n)
{
    enum { WIDTH = 16 };
    float sum = 0;
    for (int64_t from = 0; from < n; from += WIDTH) {
        double block = 0;
        for (int64_t i = from; i < n && i < from + WIDTH; i++) block += (double)p[i] * (double)q[i];
        sum = cut((double)sum + block);
    }
    return sum;
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    return conv_summed(plan, a, truncated, err);
}

KERNEL_CHEAT(truncates_sums)
