/* quantize.c: see quantize.h. */
#include "quantize.h"

#include "epilogue.h"
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
                        .most = cnn_whole_most(result),
                        .z = vf_in(call, "z"),
                        .act = vf_epilogue_act(call->problem),
                        .late = call->late};
    return q->scale != NULL;
}

int64_t vf_quantized_channel(const cnn_operand *y, int64_t index)
{
    return index / (y->dims[2] * y->dims[3]) % y->dims[1];
}

double vf_saturate(const vf_quantizer *q, double value) { return fmin(fmax(value, q->least), q->most); }

double vf_finished(const vf_quantizer *q, double product, double residual)
{
    const bool late = q->late & VF_LATE_Z;
    const double from = q->late & VF_LATE_ACT ? q->zero : 0.0; /* what the activation has added already */
    const double v = late ? product : product + residual;
    if (q->act.kind == CNN_ACT_IDENTITY) return product + residual;
    const double value = vf_act_element(&q->act, v + from).value - from;
    return late ? value + residual : value;
}

/* How far off f32 may be of what is rounded, before the activation and behind it. The sum that is converted has one
 * rounding, the product another, adding zero_y a third: each half a last place of 24 bits at most, of numbers below
 * |product| + |zero_y|. With an epilogue there are a residual, its zero point, and the activation's factor, too: two
 * roundings more of numbers below |product| + |z| + |zero_y|; and behind it no more than three of what it made. (So
 * there is room for fused and unfused additions, in any order.) */
typedef struct slack {
    double before, behind;
} slack;
static slack slack_of(const vf_quantizer *q, double product, double residual)
{
    const double z = q->z != NULL ? fabs(residual + q->zero) : 0.0, zero = fabs(q->zero), places = 0x1p-22;
    const double behind = places * (fabs(vf_finished(q, product, residual)) + zero);
    const bool any = q->z != NULL || q->act.kind != CNN_ACT_IDENTITY;
    return (slack){places * (fabs(product) + z + zero), any ? behind : 0.0};
}

static bool is_f32(double v) { return (double)(float)v == v; }

/* Whether f32 holds all on the way to what is rounded, so that nobody is off the middle. */
static bool is_exact(const vf_quantizer *q, double sum, double scale, double residual)
{
    const double product = sum * scale, v = product + residual;
    const bool sloped = q->act.kind == CNN_ACT_LEAKY_RELU && v < 0.0;
    return is_f32(sum) && fma(sum, scale, -product) == 0.0 && is_f32(product) && is_f32(v) &&
           (!sloped || (is_f32(q->act.alpha) && fma(q->act.alpha, v, -(q->act.alpha * v)) == 0.0));
}

double vf_quantized(const vf_quantizer *q, int64_t channel, int64_t index, double sum)
{
    const double scale = vf_scale_of(q, channel), product = sum * scale, residual = vf_residual_of(q, index);
    const double value = vf_finished(q, product, residual), middle = floor(value) + 0.5;
    const slack off = slack_of(q, product, residual);
    const double low = vf_finished(q, product - off.before, residual);
    const double high = vf_finished(q, product + off.before, residual);
    const bool flat = low == high; /* a ceiling: all come to it */
    const bool tie = value == middle && is_f32(value) && (flat || is_exact(q, sum, scale, residual));
    if (tie && fmod(q->zero, 2.0) == 0.0) return vf_saturate(q, nearbyint(value) + q->zero);
    const double least = ceil(low - off.behind - 0.5), most = floor(high + off.behind + 0.5);
    return (vf_saturate(q, least + q->zero) + vf_saturate(q, most + q->zero)) / 2.0;
}

typedef struct quantizing {
    vf_quantizer q;
    const cnn_operand *y;
    vf_out out;
} quantizing;

void vf_quantized_put(const vf_quantizer *q, int64_t channel, int64_t index, const vf_out *out, int64_t at)
{
    const double value = vf_quantized(q, channel, index, out->value[at]);
    out->value[at] = value;
    /* where no product adds anything there is no rounding either, but for that of what the epilogue makes */
    if (out->roundings != NULL && value != floor(value)) out->roundings[at] = fmax(out->roundings[at], 1.0);
}

/* Task: a plane of y. */
static void quantize_plane(void *arg, int64_t task, int worker)
{
    const quantizing *t = arg;
    const int64_t plane = t->y->dims[2] * t->y->dims[3], first = task * plane;
    (void)worker;
    for (int64_t e = first; e < first + plane; e++)
        vf_quantized_put(&t->q, vf_quantized_channel(t->y, e), e, &t->out, e);
}

void vf_quantize(const vf_call *call)
{
    const int y = vf_index(call->operands, call->count, "y");
    quantizing t = {.y = &call->operands[y], .out = call->out[y]};
    if (t.out.value == NULL || !vf_quantizer_of(call, &t.q)) return;
    parallel_for(call->pool, t.y->dims[0] * t.y->dims[1], quantize_plane, &t);
}
