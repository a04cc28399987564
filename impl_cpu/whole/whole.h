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

/* What is done to a scaled sum (cnn_epilogue): it is brought to within [low, high], and what is below 0 is multiplied
 * by the slope. Without an activation all of this changes nothing. */
typedef struct whole_finish {
    bool any, add;
    float low, high, slope;
} whole_finish;

/* How results of 8 bits come of sums. */
typedef struct whole_quantizer {
    const float *scale;
    int64_t step; /* from a channel's scale to the next one's: 0 or 1 */
    float zero, least, most;
    bool any, is_signed; /* any false: results are the sums */
    whole_finish finish;
} whole_quantizer;

static inline whole_finish whole_finish_of(const cnn_epilogue *e)
{
    const float far = 0x1p100f; /* finite, so that 0 times it is 0 */
    const bool cut = e->act == CNN_ACT_RELU || e->act == CNN_ACT_CLIPPED_RELU;
    return (whole_finish){.any = e->add || e->act != CNN_ACT_IDENTITY,
                          .add = e->add,
                          .low = cut ? 0.0f : -far,
                          .high = e->act == CNN_ACT_CLIPPED_RELU && e->alpha < (double)far ? (float)e->alpha : far,
                          .slope = e->act == CNN_ACT_LEAKY_RELU ? (float)e->alpha : 1.0f};
}

static inline whole_quantizer whole_quantizer_of(const cnn_conv_desc *d, const float *scale)
{
    const cnn_dtype result = cnn_part_dtype(d->t.dtype, CNN_PART_RESULT);
    return (whole_quantizer){.scale = scale,
                             .step = d->quant.per_oc,
                             .zero = d->quant.zero_y,
                             .least = (float)cnn_whole_least(result),
                             .most = (float)cnn_whole_most(result),
                             .any = cnn_is_quantized(d->t.dtype),
                             .is_signed = result == CNN_S8,
                             .finish = whole_finish_of(&d->epilogue)};
}

/* Number `at` of z, which has the type of y, less its zero point; 0 without z. */
static inline float whole_residual(const whole_quantizer *q, const void *z, int64_t at)
{
    if (!q->finish.add) return 0.0f;
    return (float)(q->is_signed ? ((const int8_t *)z)[at] : ((const uint8_t *)z)[at]) - q->zero;
}

static inline float whole_finished(const whole_finish *f, float v)
{
    v = v < f->low ? f->low : v > f->high ? f->high : v;
    return v < 0 ? v * f->slope : v;
}

/* The bits of a u8 or an s8: of what is within the range both are made alike. The sum has the bias in it. */
static inline uint8_t whole_quantized(const whole_quantizer *q, float scale, int32_t sum, float residual)
{
    const float far = 0x1p20f, whole = 0x1.8p23f; /* beyond `far` all is saturated; at `whole` f32 has no fractions */
    float v = (float)sum * scale;
    if (q->finish.any) v = whole_finished(&q->finish, v + residual);
    v = v < -far ? -far : v > far ? far : v;
    v = v + whole - whole + q->zero;
    return (uint8_t)(int)(v < q->least ? q->least : v > q->most ? q->most : v);
}

#endif
