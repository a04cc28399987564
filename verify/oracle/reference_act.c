/* reference_act.c: activations and their derivatives, element by element, from x.
 *
 * An implementation may take the derivative from the rounded y instead (cnn.h). That adds the effect of y's rounding,
 * which the magnitudes allow for: 1 - y of a sigmoid is then off by u*y, 1 - y*y of tanh by 2*u*y*y, alpha + y of an
 * ELU by u*|y|; in f16 and bf16 by what
 * storing y has done to it, which is more than all other roundings. */
#include "reference.h"

#include "harness/cnn/half.h"
#include "roundings.h"

#include <math.h>

/* What SELU comes to far below zero, with a minus. */
static const double selu_low = CNN_SELU_SCALE * CNN_SELU_ALPHA;

typedef vf_element_of element;

static element exactly(double value) { return (element){value, fabs(value), 0.0}; }

static inline __attribute__((always_inline)) element forward(const cnn_act_desc *d, double x)
{
    double e;
    switch (d->kind) {
    case CNN_ACT_RELU:
        return exactly(x > 0.0 ? x : 0.0);
    case CNN_ACT_CLIPPED_RELU:
        return x >= d->alpha ? (element){d->alpha, d->alpha, 1.0} : exactly(x > 0.0 ? x : 0.0);
    case CNN_ACT_LEAKY_RELU:
        return x > 0.0 ? exactly(x) : (element){d->alpha * x, fabs(d->alpha * x), VF_ROUND_LEAKY};
    case CNN_ACT_ELU:
        /* magnitude of the difference e^x - 1 as cnn.h writes it: small results may be cancelled ones */
        if (x > 0.0) return exactly(x);
        return (element){d->alpha * expm1(x), d->alpha * (exp(x) + 1.0), VF_ROUND_ELU};
    case CNN_ACT_SELU:
        if (x > 0.0) return (element){CNN_SELU_SCALE * x, CNN_SELU_SCALE * x, VF_ROUND_LEAKY};
        return (element){selu_low * expm1(x), selu_low * (exp(x) + 1.0), VF_ROUND_ELU};
    case CNN_ACT_SCALE:
        return (element){d->alpha * x, fabs(d->alpha * x), VF_ROUND_LEAKY};
    case CNN_ACT_SIGMOID:
        e = x >= 0.0 ? 1.0 / (1.0 + exp(-x)) : exp(x) / (1.0 + exp(x));
        return (element){e, e, VF_ROUND_SIGMOID};
    case CNN_ACT_TANH:
        return (element){tanh(x), fabs(tanh(x)), VF_ROUND_TANH};
    default:
        return exactly(x);
    }
}

static inline __attribute__((always_inline)) element backward(const cnn_act_desc *d, double x, double dy)
{
    double y = forward(d, x).value, g = fabs(dy);
    switch (d->kind) {
    case CNN_ACT_RELU:
        return exactly(x > 0.0 ? dy : 0.0);
    case CNN_ACT_CLIPPED_RELU:
        return exactly(x > 0.0 && x < d->alpha ? dy : 0.0);
    case CNN_ACT_LEAKY_RELU:
        return x > 0.0 ? exactly(dy) : (element){d->alpha * dy, fabs(d->alpha * dy), VF_ROUND_LEAKY};
    case CNN_ACT_ELU:
        if (x > 0.0) return exactly(dy);
        return (element){d->alpha * exp(x) * dy, (d->alpha + fabs(y)) * g, VF_ROUND_ELU};
    case CNN_ACT_SELU:
        if (x > 0.0) return (element){CNN_SELU_SCALE * dy, CNN_SELU_SCALE * g, VF_ROUND_LEAKY};
        return (element){selu_low * exp(x) * dy, (selu_low + fabs(y)) * g, VF_ROUND_ELU};
    case CNN_ACT_SCALE:
        return (element){d->alpha * dy, d->alpha * g, VF_ROUND_LEAKY};
    case CNN_ACT_SIGMOID:
        return (element){y * (x >= 0.0 ? exp(-x) / (1.0 + exp(-x)) : 1.0 / (1.0 + exp(x))) * dy, y * g,
                         VF_ROUND_SIGMOID};
    case CNN_ACT_TANH:
        return (element){dy / (cosh(x) * cosh(x)), (1.0 + y * y) * g, VF_ROUND_TANH};
    default:
        return exactly(dy);
    }
}

/* The same, from a y of 16 bits: the slope is off by as much as half a last place of y makes of it. */
static element from_stored_y(const cnn_act_desc *d, double x, double dy)
{
    const cnn_half_format f = cnn_half_of(d->t.dtype);
    element e = backward(d, x, dy);
    if (f.exponent == 0 || !(e.roundings > 0.0)) return e;
    const double y = forward(d, x).value, f32 = 0x1p-24;
    const bool curved = x <= 0.0 && (d->kind == CNN_ACT_ELU || d->kind == CNN_ACT_SELU);
    const double steep = d->kind == CNN_ACT_TANH                ? 2.0 * fabs(y) + 4e-3
                         : d->kind == CNN_ACT_SIGMOID || curved ? 1.0
                                                                : 0.0;
    e.magnitude += steep * ldexp(0.5, cnn_half_place(f, fabs(y))) * fabs(dy) / (e.roundings * f32);
    return e;
}

/* `kind` is d's own; where it is a constant, there is no choice within the loop. */
static inline __attribute__((always_inline)) void each(const vf_call *call, cnn_act_kind kind)
{
    cnn_act_desc as = call->problem->u.act;
    const cnn_act_desc *d = &as;
    as.kind = kind;
    if (kind == CNN_ACT_CLIPPED_RELU) as.alpha = cnn_act_ceiling(&as);
    const double *x = vf_in(call, "x"), *dy = vf_in(call, "dy");
    vf_out out = vf_output(call, call->dir == CNN_FWD ? "y" : "dx");
    int64_t count = d->mb * d->ic * d->ih * d->iw;
    for (int64_t i = 0; i < count; i++) {
        element e = call->dir == CNN_FWD ? forward(d, x[i]) : from_stored_y(d, x[i], dy[i]);
        vf_put(&out, i, e.value, e.magnitude, e.roundings);
    }
}

void vf_reference_act(const vf_call *call)
{
    const cnn_act_kind kind = call->problem->u.act.kind;
    if (kind == CNN_ACT_RELU)
        each(call, CNN_ACT_RELU);
    else if (kind == CNN_ACT_LEAKY_RELU)
        each(call, CNN_ACT_LEAKY_RELU);
    else
        each(call, kind);
}

element vf_act_element(const cnn_act_desc *d, double x)
{
    cnn_act_desc as = *d;
    if (d->kind == CNN_ACT_CLIPPED_RELU) as.alpha = cnn_act_ceiling(d);
    return forward(&as, x);
}

static bool power_of_two(double v)
{
    int exponent;
    return v > 0.0 && frexp(v, &exponent) == 0.5;
}

bool vf_act_is_exact(const cnn_act_desc *d)
{
    switch (d->kind) {
    case CNN_ACT_IDENTITY:
    case CNN_ACT_RELU:
        return true;
    case CNN_ACT_CLIPPED_RELU:
        return d->alpha == cnn_act_ceiling(d);
    case CNN_ACT_LEAKY_RELU:
    case CNN_ACT_SCALE:
        return d->alpha == 0.0 || power_of_two(d->alpha);
    default:
        return false;
    }
}

double vf_act_slope(const cnn_act_desc *d, double y)
{
    switch (d->kind) {
    case CNN_ACT_RELU:
        return y > 0.0 ? 1.0 : 0.0;
    case CNN_ACT_CLIPPED_RELU:
        return y > 0.0 && y < cnn_act_ceiling(d) ? 1.0 : 0.0;
    case CNN_ACT_LEAKY_RELU:
        return y > 0.0 ? 1.0 : d->alpha;
    case CNN_ACT_ELU:
        return y > 0.0 ? 1.0 : y + d->alpha;
    case CNN_ACT_SELU:
        return y > 0.0 ? CNN_SELU_SCALE : y + selu_low;
    case CNN_ACT_SCALE:
        return d->alpha;
    case CNN_ACT_SIGMOID:
        return y * (1.0 - y);
    case CNN_ACT_TANH:
        return (1.0 - y) * (1.0 + y);
    default:
        return 1.0;
    }
}

int vf_act_kinks(const cnn_act_desc *d, double kinks[2])
{
    kinks[0] = 0.0, kinks[1] = cnn_act_ceiling(d);
    if (d->kind == CNN_ACT_IDENTITY || d->kind == CNN_ACT_SCALE || d->kind == CNN_ACT_SIGMOID ||
        d->kind == CNN_ACT_TANH)
        return 0;
    return d->kind == CNN_ACT_CLIPPED_RELU ? 2 : 1;
}

double vf_act_clearance(const cnn_act_desc *d, const double *x)
{
    double kinks[2], least = (double)INFINITY;
    const int n = vf_act_kinks(d, kinks);
    for (int64_t i = 0; i < d->mb * d->ic * d->ih * d->iw; i++)
        for (int k = 0; k < n; k++)
            if (x[i] != kinks[k]) least = fmin(least, fabs(x[i] - kinks[k]));
    return least;
}

void vf_act_tilt(const cnn_act_desc *d, double *x, double width)
{
    double kinks[2];
    const int n = vf_act_kinks(d, kinks);
    for (int64_t i = 0; i < d->mb * d->ic * d->ih * d->iw && n > 0; i++) {
        const double kink = n > 1 && fabs(x[i] - kinks[1]) <= width ? kinks[1] : kinks[0], off = x[i] - kink;
        if (fabs(off) <= width) x[i] = off > 0.0 ? kink - width : kink + width;
    }
}
