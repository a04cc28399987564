/* check_determinism.c: the same bits in repeated runs and, on CPUs, for 1, 2, 3 and the session's number of threads.
 *
 * Catches races, sums whose order depends on who comes first, and kernels that cut their work by the thread count. An
 * algorithm that does not claim CNN_ALGO_DETERMINISTIC may differ: that is stated, not failed. */
#include "engine.h"

#include <stdio.h>

enum { REPEATS = 2 };

static void judge_difference(const vf_subject *s, const char *name, const char *when, int threads,
                             verify_result *result)
{
    if (name == NULL) return;
    if (s->algorithm->flags & CNN_ALGO_DETERMINISTIC)
        vf_set(result, VERIFY_FAILED, "%s differs %s (threads: %d)", name, when, threads);
    else
        vf_set(result, VERIFY_PASSED, "not deterministic, as stated: %s differs %s (threads: %d)", name, when, threads);
}

/* Runs with `threads` threads in a session of its own and compares. */
static cnn_status try_threads(const vf_subject *s, const vf_case *c, const vf_run *first, int threads,
                              verify_result *result, cnn_error *err)
{
    cnn_session_params params = s->engine->params;
    cnn_session session;
    cnn_plan plan;
    vf_run run;
    params.threads = threads;
    cnn_status status = vf_go_on(&s->engine->options, err);
    if (status == CNN_OK) status = cnn_session_open(s->engine->impl, &params, &session, err);
    if (status != CNN_OK) return status;
    status = cnn_plan_make(&session, s->problem, s->dir, s->algorithm, &plan, err);
    if (status == CNN_OK) {
        status = vf_run_make(&run, &session, &plan, c, &(vf_run_options){.garbage = 0}, err);
        if (status == CNN_OK) {
            judge_difference(s, vf_run_difference(c, first, &run), "with another number of threads", threads, result);
            vf_run_free(&run);
        }
        cnn_plan_release(&session, &plan);
    }
    cnn_session_close(&session);
    return status;
}

cnn_status vf_check_determinism(const vf_subject *s, verify_result *result, cnn_error *err)
{
    const cnn_session *session = &s->engine->session;
    const vf_case *c;
    vf_run first, run;
    cnn_status status = vf_case_get(s, VF_REALS, 0, &c, err);
    if (status == CNN_OK) status = vf_run_make(&first, session, s->plan, c, &(vf_run_options){.garbage = 0}, err);
    if (status != CNN_OK) return status;
    for (int i = 0; status == CNN_OK && i < REPEATS; i++) {
        status = vf_go_on(&s->engine->options, err);
        if (status == CNN_OK) status = vf_run_make(&run, session, s->plan, c, &(vf_run_options){.garbage = 0}, err);
        if (status != CNN_OK) break;
        judge_difference(s, vf_run_difference(c, &first, &run), "between runs", session->threads, result);
        vf_run_free(&run);
    }
    for (int threads = 1; status == CNN_OK && threads <= 3; threads++)
        if (s->engine->impl->device_kind == CNN_DEVICE_CPU && threads != session->threads)
            status = try_threads(s, c, &first, threads, result, err);
    vf_run_free(&first);
    return status;
}
