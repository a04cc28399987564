/* check_bound.c: random reals, each element within its own a-priori rounding bound.
 *
 * Catches the same as check_exact.c wherever results are not integers, and anything inaccurate: naive exponentials,
 * cancellation, unshifted softmax. The worst case is loose for long sums; so sums of products are also held, in the
 * mean square, to what rounding errors that behave like a random walk leave (vf_rms_limit): a kernel that says f32 but
 * rounds its factors to TF32 is far outside of that, whatever the number of taps. */
#include "engine.h"

#include <math.h>
#include <stdio.h>

static void judge_precision(const vf_subject *s, const vf_comparison *sums, verify_result *result)
{
    vf_rounding rounding = vf_rounding_of(s->problem, s->algorithm);
    bool products = s->problem->op == CNN_OP_CONV || s->problem->op == CNN_OP_FC;
    if (sums->rounded == 0) return; /* copies */
    double rms = sqrt(sums->sum_sq / (double)sums->rounded), mean = sums->sum_sqrt_n / (double)sums->rounded;
    double limit = vf_rms_limit(&rounding, mean);
    const char *name = vf_precision_name(rms / rounding.amplification, mean);
    snprintf(result->precision, sizeof result->precision, "%s", name);
    if (products && !(rms <= limit))
        vf_set(result, VERIFY_FAILED,
               "the results have the precision of %s: root mean square of error*sqrt(n)/sum|ab| is %.3g, limit %.3g",
               name, rms, limit);
}

cnn_status vf_check_bound(const vf_subject *s, verify_result *result, cnn_error *err)
{
    vf_rounding rounding = vf_rounding_of(s->problem, s->algorithm);
    cnn_status status = CNN_OK;
    for (int variant = 0; status == CNN_OK && variant < vf_variants(s->problem, s->dir); variant++) {
        const vf_case *c;
        vf_run run;
        vf_comparison sums = {0};
        status = vf_case_get(s, VF_REALS, variant, &c, err);
        if (status == CNN_OK) status = vf_run_make(&run, &s->engine->session, s->plan, c, &(vf_run_options){0}, err);
        if (status != CNN_OK) break;
        vf_judge(c, &run, &rounding, result, &sums);
        judge_precision(s, &sums, result);
        vf_run_free(&run);
    }
    return status;
}
