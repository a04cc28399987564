/* quantize.h: from sums to quantized results (cnn_quantization): what is right, and where two numbers are. */
#ifndef VERIFY_ORACLE_QUANTIZE_H
#define VERIFY_ORACLE_QUANTIZE_H

#include "reference.h"

/* How a call quantizes: `scale` has one number, or one for each channel. */
typedef struct vf_quantizer {
    const double *scale;
    bool per_oc;
    double zero, least, most; /* of y */
} vf_quantizer;

/* false: the call's results are not quantized. */
bool vf_quantizer_of(const vf_call *call, vf_quantizer *q);
/* The channel of element `index` of y. */
int64_t vf_quantized_channel(const cnn_operand *y, int64_t index);
static inline double vf_scale_of(const vf_quantizer *q, int64_t channel) { return q->scale[q->per_oc ? channel : 0]; }
double vf_saturate(const vf_quantizer *q, double value);

/* What comes of a sum. Half a whole number: the one below and the one above it are both right, because a rounding or
 * two of an f32 may take the product to either side of the middle, or because it is in the middle and zero_y is odd, so
 * that who adds it before rounding finds another one even. */
double vf_quantized(const vf_quantizer *q, int64_t channel, double sum);
/* All of y, which holds the sums. */
void vf_quantize(const vf_call *call);

#endif
