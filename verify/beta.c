/* beta.c: whether a failure with beta 1 is one of beta: the same data come out right with beta 0 then. The data of the
 * run before, which had beta 0, are others, and what failed may have nothing to do with beta. */
#include "engine.h"

#include "harness/base/text.h"

/* One run more, judged by a result of its own. */
static cnn_status holds(const vf_subject *s, const vf_case *c, vf_judge_fn *judge, const void *user, bool *held,
                        cnn_error *err)
{
    verify_result told = vf_result(s, "beta");
    vf_run run;
    cnn_status status = vf_run_make(&run, s->place, c, &(vf_run_options){0}, err);
    if (status != CNN_OK) return status;
    status = judge(s, c, &run, user, &told, err);
    vf_run_free(&run);
    *held = told.state != VERIFY_FAILED;
    return status;
}

/* By turns, twice: what fails now and then, whatever beta is, seldom does so in this order. */
void vf_tell_beta(const vf_subject *s, const vf_case *c, vf_judge_fn *judge, const void *user, verify_result *result)
{
    enum { TURNS = 2 };
    vf_case zero;
    cnn_error why;
    bool its_fault = true;
    if (result->state != VERIFY_FAILED || c->call.beta == 0.0) return;
    if (vf_case_lend(c, &zero, &why) != CNN_OK) return;
    for (int turn = 0; turn < TURNS && its_fault; turn++) {
        bool zero_holds = false, one_holds = true;
        its_fault = holds(s, &zero, judge, user, &zero_holds, &why) == CNN_OK && zero_holds &&
                    holds(s, c, judge, user, &one_holds, &why) == CNN_OK && !one_holds;
    }
    vf_case_return(&zero);
    if (its_fault) cnn_append(result->worst, sizeof result->worst, " (only with beta 1; beta 0 is right)");
}
