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

/* How results of 8 bits come of sums. */
typedef struct whole_quantizer {
    const float *scale;
    int64_t step; /* from a channel's scale to the next one's: 0 or 1 */
    float zero, least, most;
    bool any; /* false: results are the sums */
} whole_quantizer;

static inline whole_quantizer whole_quantizer_of(const cnn_conv_desc *d, const float *scale)
{
    const cnn_dtype result = cnn_part_dtype(d->t.dtype, CNN_PART_RESULT);
    return (whole_quantizer){.scale = scale,
                             .step = d->quant.per_oc,
                             .zero = d->quant.zero_y,
                             .least = (float)cnn_whole_least(result),
                             .most = (float)cnn_whole_most(result),
                             .any = cnn_is_quantized(d->t.dtype)};
}

/* The bits of a u8 or an s8: of what is within the range both are made alike. The sum has the bias in it. */
static inline uint8_t whole_quantized(const whole_quantizer *q, float scale, int32_t sum)
{
    const float far = 0x1p20f, whole = 0x1.8p23f; /* beyond `far` all is saturated; at `whole` f32 has no fractions */
    float v = (float)sum * scale;
    v = v < -far ? -far : v > far ? far : v;
    v = v + whole - whole + q->zero;
    return (uint8_t)(int)(v < q->least ? q->least : v > q->most ? q->most : v);
}

#endif
