/* whole.h: products of integers, u8 or s8 by s8, added up in s32, forward only; results are the sums, or quantized
 * (cnn_quantization). Sums that s32 cannot hold wrap, as the processor's do. */
#ifndef IMPL_CPU_WHOLE_H
#define IMPL_CPU_WHOLE_H

#include "harness/cnn/half.h"
#include "impl_cpu/cpu.h"

/* An FC layer is a convolution whose kernel is as large as the image; other convolutions as cnn_with_depth(). */
cnn_conv_desc whole_conv(const cnn_problem *problem);

/* What is added to a sum: the bias, and the old value times beta. */
static inline int32_t whole_result(int32_t sum, const int32_t *bias, double beta, const int32_t *old)
{
    uint32_t result = (uint32_t)sum + (bias != NULL ? (uint32_t)*bias : 0u);
    if (beta != 0.0) result += (uint32_t)(int32_t)(beta == 1.0 ? *old : (int32_t)(beta * *old));
    return (int32_t)result;
}

/* How results of 8 bits come of sums. Rounding keeps the order of numbers: so a ReLU of what is rounded is a least
 * number of results, zero_y, and its ceiling is a largest one. What is left of an epilogue is a residual and a slope.
 */
typedef struct whole_quantizer {
    const float *scale;
    int64_t step; /* from a channel's scale to the next one's: 0 or 1 */
    float zero, least, most;
    bool any; /* false: results are the sums */
    bool add, is_signed, sloped;
    float slope; /* of what is below 0 */
} whole_quantizer;

static inline whole_quantizer whole_quantizer_of(const cnn_conv_desc *d, const float *scale)
{
    const cnn_dtype result = cnn_part_dtype(d->t.dtype, CNN_PART_RESULT);
    const cnn_epilogue *e = &d->epilogue;
    whole_quantizer q = {.scale = scale,
                         .step = d->quant.per_oc,
                         .zero = d->quant.zero_y,
                         .least = (float)cnn_whole_least(result),
                         .most = (float)cnn_whole_most(result),
                         .any = cnn_is_quantized(d->t.dtype),
                         .add = e->add,
                         .is_signed = result == CNN_S8,
                         .sloped = e->act == CNN_ACT_LEAKY_RELU,
                         .slope = (float)e->alpha};
    if (e->act == CNN_ACT_RELU || e->act == CNN_ACT_CLIPPED_RELU) q.least = q.zero;
    if (e->act == CNN_ACT_CLIPPED_RELU) q.most = fminf(q.most, q.zero + nearbyintf((float)e->alpha));
    return q;
}

/* Number `at` of z, which has the type of y, less its zero point; 0 without z. */
static inline float whole_residual(const whole_quantizer *q, const void *z, int64_t at)
{
    if (!q->add) return 0.0f;
    return (float)(q->is_signed ? ((const int8_t *)z)[at] : ((const uint8_t *)z)[at]) - q->zero;
}

/* The bits of a u8 or an s8: of what is within the range both are made alike. The sum has the bias in it. */
static inline uint8_t whole_quantized(const whole_quantizer *q, float scale, int32_t sum, float residual)
{
    const float far = 0x1p20f, whole = 0x1.8p23f; /* beyond `far` all is saturated; at `whole` f32 has no fractions */
    float v = (float)sum * scale;
    if (q->add) v += residual;
    if (q->sloped && v < 0) v *= q->slope;
    v = v < -far ? -far : v > far ? far : v;
    v = v + whole - whole + q->zero;
    return (uint8_t)(int)(v < q->least ? q->least : v > q->most ? q->most : v);
}

#endif
