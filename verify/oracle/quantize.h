/* quantize.h: from sums to quantized results (cnn_quantization): what is right, and where two numbers are. */
#ifndef VERIFY_ORACLE_QUANTIZE_H
#define VERIFY_ORACLE_QUANTIZE_H

#include "reference.h"

/* How a call quantizes: `scale` has one number, or one for each channel. All 0 from z on: without an epilogue. */
typedef struct vf_quantizer {
    const double *scale;
    bool per_oc;
    double zero, least, most; /* of y */
    const double *z;          /* the residual; NULL: none */
    cnn_act_desc act;         /* in units of y's steps */
    unsigned late;            /* mistakes: VF_LATE_Z, VF_LATE_ACT (reference.h) */
} vf_quantizer;

/* false: the call's results are not quantized. */
bool vf_quantizer_of(const vf_call *call, vf_quantizer *q);
/* The channel of element `index` of y. */
int64_t vf_quantized_channel(const cnn_operand *y, int64_t index);
static inline double vf_scale_of(const vf_quantizer *q, int64_t channel) { return q->scale[q->per_oc ? channel : 0]; }
double vf_saturate(const vf_quantizer *q, double value);

/* z less its zero point, of element `index` of y; 0 without z. */
static inline double vf_residual_of(const vf_quantizer *q, int64_t index)
{
    return q->z != NULL ? q->z[index] - q->zero : 0.0;
}
/* What is rounded: the product of sum and scale behind the epilogue. */
double vf_finished(const vf_quantizer *q, double product, double residual);

/* What comes of a sum, for element `index` of y. Half a whole number: the one below and the one above it are both
 * right, because a rounding or two of an f32 may take what is rounded to either side of the middle, or because it is in
 * the middle and zero_y is odd, so that who adds it before rounding finds another one even. */
double vf_quantized(const vf_quantizer *q, int64_t channel, int64_t index, double sum);
/* The same in place: number `at` of `out` holds the sum. */
void vf_quantized_put(const vf_quantizer *q, int64_t channel, int64_t index, const vf_out *out, int64_t at);
/* All of y, which holds the sums. */
void vf_quantize(const vf_call *call);

#endif
