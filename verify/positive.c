/* positive.c: sums of positive numbers: is what a sum cannot hold rounded, or cut off?
 *
 * Products of either sign hide it: what is cut off one partial sum is added to the next. Where all are positive, the
 * partial sums only grow, and each cut makes them smaller. Rounding to nearest leaves errors of either sign: with u the
 * unit roundoff and S the result, each of n roundings is off by at most u*S, evenly spread, so that all of them come to
 * a root mean square of at most u * S * sqrt(n / 3), in whatever order is added up; the product and the bias round once
 * more each. Cuts leave about n/3 of u*S on the average: as n grows, there is no mistaking it. So the mean of the
 * errors of many results, with their sign, is held to six standard deviations of what rounding leaves, and to a few
 * units more: tensor cores cut the sums of a few products, and where these are added up with rounding, that is all that
 * they leave, however many there are. The root mean square is held to its own limit. Arithmetic below f32 is not held
 * to it, nor are f16 and bf16: the adders of tensor cores cut. */
#include "engine.h"
#include "harness/cnn/half.h"
#include "precision.h"
#include "verify/oracle/element.h"
#include "verify/oracle/pieces.h"

#include <math.h>

static const double sample_products = 1e6, terms_most = 0x1p20; /* beyond: sums so large that products are lost */

static void draw_units(void *user, int64_t first, int64_t last, cnn_rng *rng)
{
    double *const v = user;
    for (int64_t e = first; e < last; e++) v[e] = rng_unit(rng);
}

static void fill(vf_case *c)
{
    cnn_rng rng = rng_stream(c->seed, 6000);
    for (int i = 0; i < c->call.count; i++) {
        const cnn_operand *o = &c->call.operands[i];
        if (c->before[i] == NULL) continue;
        vf_draw_pieces(c->call.pool, o->count, 1, &rng, draw_units, c->before[i]);
        vf_round(c->call.pool, &c->problem, o, c->before[i]);
    }
}

/* failed: a check before has found the results wrong. Where one is off by more than any sum of f32 is, that says it
 * all. */
static void judge(const vf_elements *e, const vf_rounding *bounds, bool failed, verify_result *result)
{
    const double unit = bounds->unit;
    const double deviations = 6.0,
                 cut = 6.0; /* units: sums of 64 products by 8 at a time are short by 4 on the average */
    const double no_rounding = 0x1p-9;
    double sum = 0.0, squares = 0.0, terms = 0.0, n = 0.0, most = 0.0;
    for (int64_t i = 0; i < e->count; i++) {
        if (!(e->expected.magnitude[i] > 0.0)) continue;
        const double off = e->got[i] - e->expected.value[i], stored = vf_storing(bounds, e->expected.value[i], 0.0);
        const double error = copysign(fmax(0.0, fabs(off) - stored), off) / e->expected.magnitude[i];
        sum += error, squares += error * error, n++;
        most = fmax(most, vf_finite(e->got[i]) ? fabs(error) : (double)INFINITY);
        terms = fmax(terms, e->expected.roundings[i]);
    }
    if (n == 0.0 || (failed && !(most < no_rounding))) return;
    const double one = unit * (sqrt(terms / 3.0) + 2.0), mean = sum / n, rms = sqrt(squares / n);
    /* samples may meet an element twice: half of them count as independent */
    const double mean_limit = deviations * one / sqrt(fmax(1.0, n / 2.0)) + cut * unit;
    if (!(fabs(mean) <= mean_limit))
        vf_set(result, VERIFY_FAILED,
               "sums of up to %.0f positive terms are off by %.3g of their size on the average, by %.3g at most where "
               "partial sums are rounded to nearest%s",
               terms, mean, mean_limit, mean < 0.0 ? ": what they cannot hold is cut off, or lost" : "");
    else if (!(rms <= one * vf_spread_of_few(n)))
        vf_set(result, VERIFY_FAILED,
               "sums of up to %.0f positive terms are off by %.3g of their size (root mean square), by %.3g at most "
               "where partial sums have all bits of their type",
               terms, rms, one * vf_spread_of_few(n));
}

cnn_status vf_judge_positive(const vf_subject *s, verify_result *result, cnn_error *err)
{
    static const char *const outputs[] = {[CNN_FWD] = "y", [CNN_BWD_D] = "dx", [CNN_BWD_W] = "dw"};
    const cnn_type *t = &s->problem->u.type;
    vf_case c;
    vf_run run;
    vf_elements e;
    if (s->rounding.normwise || cnn_is_half(cnn_part_dtype(t->dtype, CNN_PART_FACTOR)) ||
        (t->dtype == CNN_F32 && t->math != CNN_MATH_F32))
        return CNN_OK;
    if (vf_terms(s->problem, s->dir) > terms_most) return CNN_OK;
    cnn_status status = vf_go_on(&s->engine->options, err);
    if (status == CNN_OK)
        status = vf_case_make(&c, s->problem, s->dir, VF_DATA, 0, s->engine->options.seed, s->engine->pool, err);
    if (status != CNN_OK) return status;
    fill(&c);
    status = vf_run_make(&run, s->place, &c, &(vf_run_options){0}, err);
    if (status == CNN_OK) {
        const int at = vf_index(c.call.operands, c.call.count, outputs[s->dir]);
        status = vf_elements_make(&e, &c, at, run.after[at], sample_products, s->engine->pool, err);
        if (status == CNN_OK) {
            judge(&e, &s->rounding, s->failed, result);
            vf_elements_free(&e);
        }
        vf_run_free(&run);
    }
    vf_case_free(&c);
    return status;
}
