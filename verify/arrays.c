/* arrays.c: see verify.h.
 *
 * The expectation is no truth: another program computed it, in f32 or f64, with roundings of its own. So it is held to
 * the same kind of bound around the float64 reference, and the implementation to the sum of both around it. */
#include "verify.h"

#include "engine.h"
#include "expectation.h"
#include "harness/cnn/half.h"
#include "verify/oracle/lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A case with the user's inputs in the place of random ones; its reference where something is expected. */
static cnn_status make_case(vf_case *c, const vf_subject *s, const verify_arrays *a, bool reference, cnn_error *err)
{
    const vf_fill fill = reference ? VF_REALS : VF_DATA;
    const cnn_status status = vf_case_make(c, s->problem, s->dir, fill, 0, 0, s->engine->pool, err);
    if (status != CNN_OK) return status;
    for (int i = 0; i < c->call.count; i++)
        if (c->before[i] != NULL) memcpy(c->before[i], a->in[i], (size_t)c->call.operands[i].count * sizeof(double));
    if (reference) vf_reference(&c->call);
    for (int i = 0; i < c->call.count; i++) /* of the data that stood there before; what made the expectation may mix */
        if (c->kind[i] != NULL) memset(c->kind[i], VF_EVEN, (size_t)c->call.operands[i].count);
    return CNN_OK;
}

/* ---- NaN, and what is beyond the largest number. */

/* A NaN on both sides; or both beyond the type's largest number, with one sign: there f32 has no more than infinity. */
static bool same_not_finite(double a, double b, double most)
{
    return (isnan(a) && isnan(b)) || (fabs(a) > most && fabs(b) > most && (a > 0) == (b > 0));
}

static bool reads_nan(const vf_case *c)
{
    for (int i = 0; i < c->call.count; i++)
        for (int64_t e = 0; c->before[i] != NULL && e < c->call.operands[i].count; e++)
            if (isnan(c->before[i][e])) return true;
    return false;
}

/* What is no finite number on both sides is settled, and counts as nothing in the rest of the judgement: where the
 * reference has a NaN; where it has an infinity of that sign, or its terms add up to more than the type's largest
 * number, so that a partial sum may have left it; and, since not every operation says what it makes of a NaN (a ReLU, a
 * maximum), where an input holds one. Elsewhere a NaN that both sides have is wrong on both. */
static void settle_not_finite(const vf_case *c, const vf_run *run, const verify_arrays *a)
{
    const double most = cnn_largest(cnn_part_dtype(c->call.problem->u.type.dtype, CNN_PART_RESULT));
    const bool nan_in = reads_nan(c);
    for (int i = 0; i < c->call.count; i++) {
        if (c->after[i] == NULL) continue;
        for (int64_t e = 0; e < c->call.operands[i].count; e++) {
            double *truth = &c->after[i][e], *got = &run->after[i][e];
            double *expected = a->expect[i] != NULL ? &a->expect[i][e] : got;
            const bool may = nan_in || !(c->magnitude[i][e] <= most);
            const bool settled = isnan(*truth)
                                     ? isnan(*got) && isnan(*expected)
                                     : may && same_not_finite(*got, *expected, most) &&
                                           (isnan(*got) || !(fabs(*truth) > most) || (*got > 0) == (*truth > 0));
            if (!settled) continue;
            *truth = *got = *expected = 0.0;
            c->magnitude[i][e] = c->roundings[i][e] = 0.0;
        }
    }
}

/* ---- The result against the expectation. */

static void judge_result(const vf_subject *s, const vf_case *c, const vf_run *run, const verify_arrays *a, int i,
                         verify_result *result)
{
    const cnn_operand *o = &c->call.operands[i];
    const vf_theirs t = vf_theirs_of(c, a, i, a->math);
    const vf_rounding own = vf_rounding_in(&s->rounding, c, o);
    const vf_rounding their = vf_rounding_in(&t.rounding, c, o);
    const vf_allowance ours = vf_allow(c->call.pool, &own, &c->call.out[i], o->count);
    const vf_allowance other = vf_allow(c->call.pool, &their, &c->call.out[i], o->count);
    int64_t apart = 0, first = -1;
    for (int64_t e = 0; e < o->count; e++) {
        const double expected = a->expect[i][e];
        const double allowed =
            a->close ? a->atol + a->rtol * fabs(expected) : vf_theirs_allowed(&t, &other, e) + vf_allowed(&ours, e);
        if (!vf_held(expected, run->after[i][e], allowed) && apart++ == 0) first = e;
    }
    if (apart == 0) return;
    char where[128];
    vf_element_name(o, first, where, sizeof where);
    vf_set(result, VERIFY_FAILED, "%lld of %lld elements are not as expected%s, first %s: expected %.9g, got %.9g",
           (long long)apart, (long long)o->count, a->close ? " within --rtol and --atol" : "", where,
           vf_shown(a->expect[i][first]), vf_shown(run->after[i][first]));
}

static void judge_all(const vf_subject *s, const vf_case *c, const vf_run *run, const verify_arrays *a,
                      verify_result *result)
{
    vf_comparison sums = {0};
    settle_not_finite(c, run, a);
    vf_judge(c, run, &s->rounding, result, &sums);
    vf_judge_precision(s->problem, &s->rounding, &sums, result);
    vf_tell_failure(s, c, run, &s->rounding, result);
    const bool sound = a->close || vf_judge_expectation(c, a, result);
    for (int i = 0; i < c->call.count; i++)
        if (a->expect[i] != NULL) judge_result(s, c, run, a, i, result);
    for (int i = 0; !sound && i < c->call.count; i++) {
        const vf_theirs t = vf_theirs_of(c, a, i, a->math);
        if (a->expect[i] != NULL && result->where[0] == '\0')
            vf_tell_output(c, i, &t.rounding, a->expect[i], "the expected ", result);
    }
    if (result->state > VERIFY_PASSED && result->budget_used <= 1.0)
        result->worst[0] = '\0'; /* it is what was expected that is wrong */
    if (a->close && result->state == VERIFY_PASSED)
        snprintf(result->reason, sizeof result->reason,
                 "held to |got - expected| <= %g + %g |expected|, not to the bound around the expectation", a->atol,
                 a->rtol);
}

cnn_status verify_array_values(const cnn_problem *problem, const cnn_operand *o, const double *values, const char *what,
                               cnn_error *err)
{
    const bool labels = strcmp(o->name, "labels") == 0, step = strcmp(o->name, "step") == 0;
    const double above = labels ? (double)problem->u.loss.ic : 0x1p53;
    for (int64_t e = 0; (labels || step) && e < o->count; e++)
        if (!(values[e] >= 0 && values[e] < above))
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s holds %.17g, but %s of this problem are from 0 to below %.17g",
                            what, values[e], o->name, above);
    return CNN_OK;
}

cnn_status verify_run_arrays(verify_engine *engine, const cnn_problem *problem, cnn_dir dir,
                             const cnn_algorithm *algorithm, const verify_arrays *arrays, verify_result *result,
                             cnn_error *err)
{
    cnn_plan plan;
    vf_case c;
    vf_run run;
    vf_place place = {.session = &engine->session, .plan = &plan, .pool = engine->pool};
    vf_subject s = {engine, problem, dir, algorithm, .place = &place, .offered = algorithm};
    bool expected = false;
    for (int i = 0; i < CNN_MAX_OPERANDS; i++) expected = expected || arrays->expect[i] != NULL;
    *result = vf_result(&s, "expect");
    cnn_status status = cnn_plan_make(&engine->session, &(cnn_request){problem, dir, algorithm, NULL}, &plan, err);
    if (status != CNN_OK) return status;
    s.algorithm = &plan.algorithm;
    s.rounding = vf_rounding_of(problem, s.algorithm);
    vf_note_transform(problem, s.algorithm, result);
    status = make_case(&c, &s, arrays, expected, err);
    if (status == CNN_OK) {
        status = vf_run_make(&run, &place, &c, &(vf_run_options){0}, err);
        if (status == CNN_OK) {
            for (int i = 0; i < c.call.count; i++)
                if (run.after[i] != NULL)
                    memcpy(arrays->out[i], run.after[i], (size_t)c.call.operands[i].count * sizeof(double));
            if (run.fault[0] != '\0') vf_set(result, VERIFY_FAILED, "%s", run.fault);
            if (expected) judge_all(&s, &c, &run, arrays, result);
            vf_run_free(&run);
        }
        vf_case_free(&c);
    }
    vf_place_leave(&place);
    cnn_plan_release(&engine->session, &plan);
    return status;
}
