/* reference_optimizer.c: one update, thesis eq. 3.11 to 3.21, as cnn.h writes them; NAdam (Dozat) likewise.
 *
 * Bounds follow the errors through q = g / (sqrt(s) + eps): dq <= dg/D + |g|/D^2 * ds/(2*sqrt(s)). The decay rates and
 * Adam's bias corrections are scalars of the call: they are expected to be computed in double and rounded once. */
#include "reference.h"

#include "roundings.h"

#include <math.h>

typedef struct value {
    double v, m; /* value, magnitude */
} value;

/* numerator / (sqrt(s) + eps). */
static value quotient(value numerator, value s, double eps)
{
    double root = sqrt(s.v), d = root + eps;
    double spread = root > 0.0 ? fabs(numerator.v) / (d * d) * 0.5 * s.m / root : 0.0;
    return (value){numerator.v / d, numerator.m / d + spread + fabs(numerator.v / d)};
}

/* decay * old + rate * term. */
static value blend(double decay, double old, double rate, value term)
{
    return (value){decay * old + rate * term.v, fabs(decay * old) + fabs(rate) * term.m};
}

typedef struct update {
    value w, state[2];
} update;

/* What corrects Adam's averages, whose first ones are too small: the same for all parameters of a call. */
typedef struct corrections {
    double c1, c2, next; /* of the gradients', of their squares'; NAdam's of the gradients' a step ahead */
} corrections;

static corrections corrections_of(const cnn_optimizer_desc *d, double t)
{
    return (corrections){1.0 - pow(d->beta1, t + 1.0), 1.0 - pow(d->beta2, t + 1.0), 1.0 - pow(d->beta1, t + 2.0)};
}

/* Sums of magnitudes go beside the values, for bounds: `m` is what `v` would be if nothing cancelled. */
static update step(const cnn_optimizer_desc *d, const corrections *c, double w, double grad, const double old[2],
                   double t)
{
    double sign = w > 0.0 ? 1.0 : w < 0.0 ? -1.0 : 0.0;
    double lr = d->decay_steps > 0.0 ? d->lr * fmax(0.0, 1.0 - t / d->decay_steps) : d->lr;
    value g = {grad + d->l1 * sign + d->l2 * w, fabs(grad) + d->l1 * fabs(sign) + d->l2 * fabs(w)};
    value g2 = {g.v * g.v, g.m * g.m}, delta, m, s;
    update u = {{w, fabs(w)}, {{0.0, 0.0}, {0.0, 0.0}}};
    switch (d->kind) {
    case CNN_MOMENTUM:
        u.state[0] = blend(d->beta1, old[0], -lr, g);
        u.w = (value){w + u.state[0].v, fabs(w) + u.state[0].m};
        return u;
    case CNN_ADAGRAD:
        u.state[0] = blend(1.0, old[0], 1.0, g2);
        delta = quotient(g, u.state[0], d->eps);
        break;
    case CNN_RMSPROP:
        u.state[0] = blend(d->beta2, old[0], 1.0 - d->beta2, g2);
        delta = quotient(g, u.state[0], d->eps);
        break;
    case CNN_ADAM:
        u.state[0] = blend(d->beta1, old[0], 1.0 - d->beta1, g);
        u.state[1] = blend(d->beta2, old[1], 1.0 - d->beta2, g2);
        m = (value){u.state[0].v / c->c1, u.state[0].m / c->c1};
        s = (value){u.state[1].v / c->c2, u.state[1].m / c->c2};
        delta = quotient(m, s, d->eps);
        break;
    case CNN_NADAM:
        u.state[0] = blend(d->beta1, old[0], 1.0 - d->beta1, g);
        u.state[1] = blend(d->beta2, old[1], 1.0 - d->beta2, g2);
        m = blend(d->beta1 / c->next, u.state[0].v, (1.0 - d->beta1) / c->c1, g);
        m.m += d->beta1 / c->next * (u.state[0].m - fabs(u.state[0].v));
        s = (value){u.state[1].v / c->c2, u.state[1].m / c->c2};
        delta = quotient(m, s, d->eps);
        break;
    default:
        delta = g;
        break;
    }
    u.w = (value){w - lr * delta.v, fabs(w) + lr * delta.m};
    return u;
}

/* ---- Types of 16 bits: the copy, the loss scale, steps that are left out. */

static bool all_finite(const double *grad, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(grad[i])) return false;
    return true;
}

/* Counts and a scale that is halved or doubled: all exact. */
static void put_scaling(const vf_call *call, bool kept)
{
    const double *old = vf_in(call, "scaling"), growth = call->problem->u.optimizer.growth;
    const bool dynamic = growth > 0.0, grows = dynamic && kept && old[CNN_STEPS_KEPT] + 1.0 >= growth;
    const double factor = grows ? 2.0 : dynamic && !kept && old[CNN_LOSS_SCALE] > 1.0 ? 0.5 : 1.0;
    const double after[CNN_SCALING_COUNT] = {[CNN_LOSS_SCALE] = old[CNN_LOSS_SCALE] * factor,
                                             [CNN_STEPS_KEPT] = kept && !grows ? old[CNN_STEPS_KEPT] + 1.0 : 0.0,
                                             [CNN_STEPS_LEFT_OUT] = old[CNN_STEPS_LEFT_OUT] + (kept ? 0.0 : 1.0)};
    const vf_out out = vf_output(call, "scaling");
    for (int i = 0; i < CNN_SCALING_COUNT; i++) vf_put(&out, i, after[i], after[i], 0.0);
}

/* Every array as it was. */
static void leave_out(const vf_call *call)
{
    static const char *const kept[] = {"w", "state0", "state1", "step", "copy"};
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++) {
        const int index = vf_index(call->operands, call->count, kept[k]);
        for (int64_t i = 0; index >= 0 && i < call->operands[index].count; i++)
            vf_put(&call->out[index], i, call->in[index][i], fabs(call->in[index][i]), 0.0);
    }
}

void vf_reference_optimizer(const vf_call *call)
{
    const cnn_optimizer_desc *d = &call->problem->u.optimizer;
    const double *w = vf_in(call, "w"), *grad = vf_in(call, "grad"), *t = vf_in(call, "step");
    const double *s0 = vf_in(call, "state0"), *s1 = vf_in(call, "state1"), *scaling = vf_in(call, "scaling");
    const double scale = scaling != NULL ? scaling[CNN_LOSS_SCALE] : 1.0;
    const double roundings = VF_ROUND_OPTIMIZER + (scaling != NULL ? 2.0 : 0.0); /* 1/S, and the product with it */
    const bool kept = scaling == NULL || all_finite(grad, d->count);
    vf_out out = vf_output(call, "w"), out0 = vf_output(call, "state0"), out1 = vf_output(call, "state1");
    vf_out out_t = vf_output(call, "step"), copy = vf_output(call, "copy");
    if (scaling != NULL) put_scaling(call, kept);
    if (!kept) {
        leave_out(call);
        return;
    }
    const corrections c = corrections_of(d, *t);
    for (int64_t i = 0; i < d->count; i++) {
        double old[2] = {s0 == NULL ? 0.0 : s0[i], s1 == NULL ? 0.0 : s1[i]};
        update u = step(d, &c, w[i], grad[i] / scale, old, *t);
        vf_put(&out, i, u.w.v, u.w.m, roundings);
        vf_put(&copy, i, u.w.v, u.w.m, roundings);
        vf_put(&out0, i, u.state[0].v, u.state[0].m, roundings);
        vf_put(&out1, i, u.state[1].v, u.state[1].m, roundings);
    }
    vf_put(&out_t, 0, *t + 1.0, *t + 1.0, 0.0);
}
