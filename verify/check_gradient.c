/* check_gradient.c: backward kernels against central differences of the reference's forward, in float64.
 *
 * L(x) = <dy, f(x)> (the loss itself for the loss), D(h) = (L(x+hv) - L(x-hv)) / 2h along random directions v, compared
 * to <grad, v>. Catches a backward that is not the derivative of the forward, in the reference too: that is what makes
 * the reference's backward more than an opinion.
 *
 * Error model, h = cbrt(2^-53): truncation is told by |D(2h) - D(h)| (three times the error at h); rounding by each
 * result's own bound in quadrature (independent errors), times 8, over h; rounding of x+hv likewise; that of <grad, v>
 * without the h. Directions leave out elements within reach of a kink: |x - kink| <= 4h, or a window whose two largest
 * values are that close. */
#include "engine.h"

#include "harness/base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIRECTIONS = 3 };
static const double unit = 0x1p-53, safety = 8.0;

typedef struct derivative {
    vf_case forward, backward; /* intermediates not rounded: the derivative at exactly this x */
    double *v, *moved;         /* a direction, and x along it: of one array */
    double *out[CNN_MAX_OPERANDS];
    const double *weight; /* of the output that L sums: dy, or scales */
    double scales;        /* of a loss: scale, and the loss scale of a type of 16 bits */
    int output;           /* index of that output in forward */
    double h;
} derivative;

static const char *loss_output(const cnn_problem *p) { return p->op == CNN_OP_LOSS ? "loss_sum" : "y"; }

/* L at x + t*v, operand `k` of the forward being x. */
static long double loss_at(derivative *d, int k, double t)
{
    vf_call call = d->forward.call;
    const cnn_operand *o = &call.operands[k];
    for (int64_t i = 0; i < o->count; i++) d->moved[i] = d->forward.before[k][i] + t * d->v[i];
    call.in[k] = d->moved;
    for (int i = 0; i < call.count; i++) call.out[i] = (vf_out){.value = d->out[i]};
    vf_reference(&call);
    return vf_dot(d->weight, d->out[d->output], call.operands[d->output].count);
}

static double difference(derivative *d, int k, double h)
{
    return (double)((loss_at(d, k, h) - loss_at(d, k, -h)) / (2.0L * h));
}

static int64_t mask_act(const cnn_act_desc *a, const double *x, double *v, int64_t count, double reach)
{
    double kinks[2];
    const int n = vf_act_kinks(a, kinks);
    int64_t left_out = 0;
    for (int64_t i = 0; i < count; i++)
        if ((n > 0 && fabs(x[i] - kinks[0]) <= reach) || (n > 1 && fabs(x[i] - kinks[1]) <= reach))
            v[i] = 0.0, left_out++;
    return left_out;
}

static int64_t mask_kinks(derivative *d, int k)
{
    const cnn_problem *p = &d->forward.problem;
    const double *x = d->forward.before[k], reach = 4.0 * d->h;
    if (p->op == CNN_OP_ACT) return mask_act(&p->u.act, x, d->v, d->forward.call.operands[k].count, reach);
    return cnn_is_pool(p) ? vf_pool_mask(p, x, 2.0 * reach, d->v) : 0;
}

/* What rounding may do to D(h). x + hv is larger than x where x is tiny; and so is what comes of it then, by h times
 * the terms of D. */
static double rounding_error(const derivative *d, int k, const double *grad)
{
    const vf_case *f = &d->forward;
    double sum = 0.0, most = 0.0, terms = 0.0;
    for (int64_t i = 0; i < f->call.operands[d->output].count; i++) {
        double e = d->weight[i] * sqrt(f->roundings[d->output][i] + 1.0) * f->magnitude[d->output][i];
        most = fmax(most, f->roundings[d->output][i]);
        sum += e * e;
    }
    for (int64_t i = 0; i < f->call.operands[k].count; i++) {
        double e = grad[i] * f->before[k][i];
        terms += fabs(grad[i] * d->v[i]);
        sum += e * e;
    }
    terms *= d->h * sqrt(most + 1.0);
    sum += terms * terms;
    return safety * unit * sqrt(sum) / d->h;
}

/* What rounding may do to <grad, v>: beside the error of D(h), which has h below it, it is nothing, but where x is
 * tiny. */
static double gradient_error(const derivative *d, int g)
{
    const vf_case *b = &d->backward;
    double sum = 0.0;
    for (int64_t i = 0; i < b->call.operands[g].count; i++) {
        const double e = d->v[i] * sqrt(b->roundings[g][i] + 1.0) * b->magnitude[g][i];
        sum += e * e;
    }
    return safety * unit * sqrt(sum);
}

/* Everything that is compared along one direction. */
typedef struct slopes {
    double difference, reference, rounded, kernel; /* D(h), <grad,v> of: reference, the same on rounded data, kernel */
    double tolerance, budget, scale;               /* of D; of the kernel's rounding; size of the terms */
} slopes;

static slopes measure(derivative *d, int k, int g, const vf_case *rounded, const vf_run *run,
                      const vf_rounding *rounding)
{
    const double *grad = d->backward.after[g];
    int64_t count = d->backward.call.operands[g].count;
    slopes s = {.difference = difference(d, k, d->h)};
    s.reference = (double)vf_dot(grad, d->v, count);
    s.rounded = (double)vf_dot(rounded->after[g], d->v, count);
    s.kernel = (double)vf_dot(run->after[g], d->v, count);
    s.tolerance = fabs(difference(d, k, 2.0 * d->h) - s.difference) + rounding_error(d, k, grad) + gradient_error(d, g);
    s.budget = fabs(s.rounded - s.reference);
    for (int64_t i = 0; i < count; i++) {
        const double bound = vf_bound(rounding, rounded->roundings[g][i], rounded->magnitude[g][i]);
        s.budget += fabs(d->v[i]) * (bound + vf_storing(rounding, rounded->after[g][i], bound));
        s.scale += grad[i] * d->v[i] * grad[i] * d->v[i];
    }
    s.scale = fmax(fabs(s.difference), sqrt(s.scale));
    return s;
}

static void judge(const slopes *s, const char *name, double *relative, verify_result *result)
{
    double own = fabs(s->difference - s->reference), kernel = fabs(s->difference - s->kernel);
    double allowed = s->tolerance + s->budget, used = allowed > 0.0 ? kernel / allowed : kernel > 0.0 ? INFINITY : 0.0;
    if (!(own <= s->tolerance))
        vf_set(result, VERIFY_FAILED, "the reference's own %s: difference %.12g, gradient %.12g, allowed %.3g", name,
               s->difference, s->reference, s->tolerance);
    if (!(vf_finite(s->kernel) && kernel <= allowed))
        vf_set(result, VERIFY_FAILED, "%s: central difference %.12g, <%s,v> %.12g, allowed difference %.3g", name,
               s->difference, name, s->kernel, allowed);
    if (!(used <= result->budget_used)) result->budget_used = used;
    if (s->scale > 0.0) *relative = fmax(*relative, kernel / s->scale);
}

/* All directions of one gradient, operand g of the backward, k of the forward. */
static cnn_status check_operand(derivative *d, const vf_subject *s, int k, int g, const vf_case *rounded,
                                const vf_run *run, double *relative, int64_t *left_out, verify_result *result,
                                cnn_error *err)
{
    const cnn_operand *o = &d->forward.call.operands[k];
    cnn_rng rng = rng_stream(s->engine->options.seed, 1000 + (uint64_t)g);
    cnn_status status = CNN_OK;
    d->v = malloc(2 * (size_t)o->count * sizeof(double));
    if (d->v == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a direction");
    d->moved = d->v + o->count;
    for (int i = 0; status == CNN_OK && i < DIRECTIONS; i++) {
        for (int64_t e = 0; e < o->count; e++) d->v[e] = rng_real(&rng, -1.0, 1.0);
        int64_t kinks = mask_kinks(d, k);
        if (i == 0) *left_out += kinks;
        status = vf_go_on(&s->engine->options, err);
        if (status != CNN_OK) break;
        const vf_rounding own = vf_rounding_in(&s->rounding, &d->backward, &d->backward.call.operands[g]);
        const slopes values = measure(d, k, g, rounded, run, &own);
        judge(&values, d->backward.call.operands[g].name, relative, result);
    }
    free(d->v);
    return status;
}

static cnn_status derivative_make(derivative *d, const vf_subject *s, cnn_error *err)
{
    verify_engine *engine = s->engine;
    memset(d, 0, sizeof *d);
    d->h = cbrt(unit);
    cnn_status status =
        vf_case_make(&d->forward, s->problem, CNN_FWD, VF_EXACT_REALS, 0, engine->options.seed, engine->pool, err);
    if (status == CNN_OK)
        status =
            vf_case_make(&d->backward, s->problem, s->dir, VF_EXACT_REALS, 0, engine->options.seed, engine->pool, err);
    if (status != CNN_OK) return status;
    const vf_call *f = &d->forward.call;
    d->output = vf_index(f->operands, f->count, loss_output(s->problem));
    const double *loss_scale = vf_in(&d->backward.call, "loss_scale");
    d->scales = d->backward.call.scale * (loss_scale != NULL ? *loss_scale : 1.0);
    d->weight = s->problem->op == CNN_OP_LOSS ? &d->scales : vf_in(&d->backward.call, "dy");
    for (int i = 0; i < f->count; i++) {
        if (d->forward.after[i] == NULL) continue;
        d->out[i] = malloc((size_t)f->operands[i].count * sizeof(double));
        if (d->out[i] == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the differences");
    }
    return CNN_OK;
}

static void derivative_free(derivative *d)
{
    vf_case_free(&d->forward);
    vf_case_free(&d->backward);
    for (int i = 0; i < CNN_MAX_OPERANDS; i++) free(d->out[i]);
}

static cnn_status check_all(derivative *d, const vf_subject *s, const vf_case *rounded, const vf_run *run,
                            verify_result *result, cnn_error *err)
{
    const vf_call *b = &d->backward.call, *f = &d->forward.call;
    double relative = 0.0;
    int64_t left_out = 0;
    cnn_status status = CNN_OK;
    for (int g = 0; status == CNN_OK && g < b->count; g++) {
        if (b->operands[g].access == CNN_IN || b->operands[g].name[0] != 'd') continue;
        int k = vf_index(f->operands, f->count, b->operands[g].name + 1);
        if (k >= 0) status = check_operand(d, s, k, g, rounded, run, &relative, &left_out, result, err);
    }
    if (result->state == VERIFY_PASSED)
        vf_set(result, VERIFY_PASSED, "relative error %.2g (1e-4 is usual), %lld elements at kinks left out", relative,
               (long long)left_out);
    return status;
}

/* The kernel sees rounded data, the differences do not: what that changes is allowed for (measure). */
cnn_status vf_check_gradient(const vf_subject *s, verify_result *result, cnn_error *err)
{
    const double flops = cnn_flops(s->problem, s->dir), limit = 4e7;
    const vf_case *rounded;
    derivative d;
    vf_run run;
    const bool huge = vf_is_huge(&s->engine->options, s->problem); /* nothing to take differences of */
    if (s->dir == CNN_FWD || flops > limit || huge) {
        if (s->dir == CNN_FWD)
            vf_set(result, VERIFY_SKIPPED, "the backward directions check it");
        else
            vf_set(result, VERIFY_SKIPPED, "%.3g FLOP are more than the %.3g that differences are taken for", flops,
                   huge ? fmin(limit, s->engine->options.reference_flops) : limit);
        return CNN_OK;
    }
    cnn_status status = vf_case_get(s, VF_REALS, 0, &rounded, err);
    if (status == CNN_OK) status = vf_run_make(&run, s->place, rounded, &(vf_run_options){0}, err);
    if (status != CNN_OK) return status;
    status = derivative_make(&d, s, err);
    if (status == CNN_OK) status = check_all(&d, s, rounded, &run, result, err);
    derivative_free(&d);
    vf_run_free(&run);
    return status;
}
