/* arrays.c: see verify.h.
 *
 * The expectation is no truth: another program computed it, in f32 or f64, with roundings of its own. So it is held to
 * the same kind of bound around the float64 reference, and the implementation to the sum of both around it. */
#include "verify.h"

#include "engine.h"

#include <float.h>
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
    return CNN_OK;
}

/* The expectation against the reference, and the result against the expectation. */
static void judge_expectation(const vf_subject *s, const vf_case *c, const vf_run *run, const verify_arrays *a, int i,
                              verify_result *result)
{
    const cnn_operand *o = &c->call.operands[i];
    cnn_problem problem = *s->problem;
    problem.u.type = (cnn_type){a->computed[i], a->computed[i], CNN_NCHW, CNN_MATH_F32};
    const vf_rounding theirs = vf_rounding_of(&problem, NULL);
    const vf_allowance ours = vf_allow(&s->rounding, &c->call.out[i], o->count);
    const vf_allowance other = vf_allow(&theirs, &c->call.out[i], o->count);
    int64_t apart = 0, outside = 0, first = -1;
    for (int64_t e = 0; e < o->count; e++) {
        const double bound = vf_allowed(&other, e);
        if (!vf_held(c->after[i][e], a->expect[i][e], bound)) outside++;
        if (vf_held(a->expect[i][e], run->after[i][e], bound + vf_allowed(&ours, e))) continue;
        if (apart++ == 0) first = e;
    }
    if (outside > 0)
        vf_set(result, VERIFY_FAILED,
               "the expected %s itself leaves the float64 reference's bound in %lld of %lld elements", o->name,
               (long long)outside, (long long)o->count);
    if (apart == 0) return;
    char where[128];
    vf_element_name(o, first, where, sizeof where);
    vf_set(result, VERIFY_FAILED, "%lld of %lld elements are not as expected, first %s: expected %.9g, got %.9g",
           (long long)apart, (long long)o->count, where, vf_shown(a->expect[i][first]), vf_shown(run->after[i][first]));
}

static bool alike(double a, double b) { return (isnan(a) && isnan(b)) || (isinf(a) && isinf(b) && (a > 0) == (b > 0)); }

/* Where the reference is no number, or beyond the type's largest, the same must be expected and come out; what is so is
 * settled, and counts as nothing in the rest of the judgement. */
static void settle_not_finite(const vf_case *c, const vf_run *run, const verify_arrays *a)
{
    const double most = c->call.problem->u.type.dtype == CNN_F64 ? DBL_MAX : (double)FLT_MAX;
    for (int i = 0; i < c->call.count; i++) {
        if (c->after[i] == NULL) continue;
        for (int64_t e = 0; e < c->call.operands[i].count; e++) {
            double *truth = &c->after[i][e], *got = &run->after[i][e];
            double *expected = a->expect[i] != NULL ? &a->expect[i][e] : truth;
            const bool settled = isnan(*truth) ? isnan(*got) && isnan(*expected)
                                               : fabs(*truth) > most && alike(*got, *expected) && *got * *truth > 0;
            if (!settled) continue;
            *truth = *got = *expected = 0.0;
            c->magnitude[i][e] = c->roundings[i][e] = 0.0;
        }
    }
}

static void judge_all(const vf_subject *s, const vf_case *c, const vf_run *run, const verify_arrays *a,
                      verify_result *result)
{
    vf_comparison sums = {0};
    settle_not_finite(c, run, a);
    vf_judge(c, run, &s->rounding, result, &sums);
    vf_judge_precision(s->problem, &s->rounding, &sums, result);
    vf_tell_failure(s, c, run, &s->rounding, result);
    for (int i = 0; i < c->call.count; i++)
        if (a->expect[i] != NULL) judge_expectation(s, c, run, a, i, result);
    const vf_rounding plain = vf_rounding_of(s->problem, NULL);
    for (int i = 0; result->state == VERIFY_FAILED && i < c->call.count; i++) /* it may be what is wrong */
        if (a->expect[i] != NULL && result->where[0] == '\0')
            vf_tell_output(c, i, &plain, a->expect[i], "the expected ", result);
}

cnn_status verify_run_arrays(verify_engine *engine, const cnn_problem *problem, cnn_dir dir,
                             const cnn_algorithm *algorithm, const verify_arrays *arrays, verify_result *result,
                             cnn_error *err)
{
    cnn_plan plan;
    vf_case c;
    vf_run run;
    vf_place place = {.session = &engine->session, .plan = &plan};
    vf_subject s = {engine, problem, dir, algorithm, .place = &place};
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
