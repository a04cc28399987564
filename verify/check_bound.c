/* check_bound.c: random reals, each element within its own a-priori rounding bound.
 *
 * Catches the same as check_exact.c wherever results are not integers, and anything inaccurate: naive exponentials,
 * cancellation, unshifted softmax. The worst case is loose for long sums; so sums of products are also held, in the
 * mean square, to what rounding errors that behave like a random walk leave (vf_rms_limit): a kernel that says f32 but
 * rounds its factors to TF32 is far outside of that, whatever the number of taps; channel by channel, too, since a few
 * that are coarser do not show in the mean of all. What even this leaves room for, fewer and fewer bits the longer the
 * sum, shows in some lines of the data: sums that one product alone decides, with a bound that knows no length
 * (oracle/lines.h). */
#include "engine.h"

static cnn_status judge(const vf_subject *s, const vf_case *c, const vf_run *run, const void *bounds,
                        verify_result *result, cnn_error *err)
{
    vf_comparison sums = {0};
    (void)s, (void)err;
    vf_judge(c, run, bounds, result, &sums);
    return CNN_OK;
}

cnn_status vf_judge_runs(const vf_subject *s, vf_fill fill, const vf_rounding *bounds, verify_result *result,
                         cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int variant = 0; status == CNN_OK && variant < vf_variants_of(s); variant++) {
        const vf_case *c;
        vf_run run;
        vf_comparison sums = {0};
        const bool held = result->state != VERIFY_FAILED;
        status = vf_case_get(s, fill, variant, &c, err);
        if (status == CNN_OK) status = vf_run_make(&run, s->place, c, &(vf_run_options){0}, err);
        if (status != CNN_OK) break;
        vf_judge(c, &run, bounds, result, &sums);
        vf_tell_failure(s, c, &run, bounds, result);
        if (held) vf_tell_beta(s, c, judge, bounds, result);
        if (bounds != NULL) vf_judge_precision(s->problem, bounds, &sums, result);
        if (bounds != NULL) vf_judge_channels(c, &run, bounds, result);
        vf_run_free(&run);
    }
    return status;
}

cnn_status vf_check_bound(const vf_subject *s, verify_result *result, cnn_error *err)
{
    if (vf_is_huge(&s->engine->options, s->problem)) return vf_huge_bound(s, result, err);
    return vf_judge_runs(s, VF_REALS, &s->rounding, result, err);
}
