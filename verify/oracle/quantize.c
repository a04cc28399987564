/* quantize.c: see quantize.h. */
#include "quantize.h"

#include "harness/cnn/half.h"

#include <math.h>

bool vf_quantizer_of(const vf_call *call, vf_quantizer *q)
{
    const cnn_dtype dtype = call->problem->u.type.dtype, result = cnn_part_dtype(dtype, CNN_PART_RESULT);
    const cnn_quantization quant = cnn_quantization_of(call->problem);
    if (!cnn_is_quantized(dtype)) return false;
    *q = (vf_quantizer){.scale = vf_in(call, "scale"),
                        .per_oc = quant.per_oc,
                        .zero = quant.zero_y,
                        .least = cnn_whole_least(result),
                        .most = cnn_whole_most(result)};
    return q->scale != NULL;
}

int64_t vf_quantized_channel(const cnn_operand *y, int64_t index)
{
    return index / (y->dims[2] * y->dims[3]) % y->dims[1];
}

double vf_saturate(const vf_quantizer *q, double value) { return fmin(fmax(value, q->least), q->most); }

/* The product has one rounding in f32, the sum that is converted another, adding zero_y a third: each half a last place
 * of 24 bits at most, of numbers below |product| + |zero_y|. */
static double slack_of(double product, double zero) { return 0x1p-22 * (fabs(product) + fabs(zero)); }

/* Whether f32 holds the sum and the product, so that nobody is off the middle. */
static bool is_exact(double sum, double scale, double product)
{
    return (double)(float)sum == sum && fma(sum, scale, -product) == 0.0 && (double)(float)product == product;
}

double vf_quantized(const vf_quantizer *q, int64_t channel, double sum)
{
    const double scale = vf_scale_of(q, channel), product = sum * scale, below = floor(product);
    const double off = fabs(product - (below + 0.5));
    const bool tie = off == 0.0 && is_exact(sum, scale, product), odd = fmod(q->zero, 2.0) != 0.0;
    if (tie ? !odd : off > slack_of(product, q->zero)) return vf_saturate(q, nearbyint(product) + q->zero);
    return (vf_saturate(q, below + q->zero) + vf_saturate(q, below + 1.0 + q->zero)) / 2.0;
}

typedef struct quantizing {
    vf_quantizer q;
    const cnn_operand *y;
    double *value;
} quantizing;

/* Task: a plane of y. */
static void quantize_plane(void *arg, int64_t task, int worker)
{
    const quantizing *t = arg;
    const int64_t plane = t->y->dims[2] * t->y->dims[3], first = task * plane;
    (void)worker;
    for (int64_t e = first; e < first + plane; e++)
        t->value[e] = vf_quantized(&t->q, vf_quantized_channel(t->y, e), t->value[e]);
}

void vf_quantize(const vf_call *call)
{
    const int y = vf_index(call->operands, call->count, "y");
    quantizing t = {.y = &call->operands[y], .value = call->out[y].value};
    if (t.value == NULL || !vf_quantizer_of(call, &t.q)) return;
    parallel_for(call->pool, t.y->dims[0] * t.y->dims[1], quantize_plane, &t);
}
