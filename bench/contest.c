/* contest.c: whose turn it is, and what became of everyone. */
#include "contest.h"

#include "harness/names.h"

#include <math.h>

/* An error puts this contender out of the contest and leaves the others in; only an interrupt ends it for all. */
static cnn_status put_out(contender *c, cnn_status status, const cnn_error *err)
{
    if (status == CNN_OK || status == CNN_INTERRUPTED) return status;
    c->state = status == CNN_UNSUPPORTED     ? CONTENDER_UNSUPPORTED
               : status == CNN_OUT_OF_MEMORY ? CONTENDER_NO_MEMORY
                                             : CONTENDER_FAILED;
    snprintf(c->reason, sizeof c->reason, "%s", err->message);
    measure_close(c->measure);
    c->measure = NULL;
    return CNN_OK;
}

static cnn_status take_turns(contender *list, int count, cnn_error *err)
{
    bool waiting = true;
    for (int round = 0; waiting; round++) {
        waiting = false;
        for (int i = 0; i < count; i++) {
            contender *c = &list[round % 2 == 0 ? i : count - 1 - i];
            if (!c->measure || measure_done(c->measure)) continue;
            if (put_out(c, measure_turn(c->measure, err), err) != CNN_OK) return err->status;
            waiting = waiting || (c->measure && !measure_done(c->measure));
        }
    }
    return CNN_OK;
}

static cnn_status judge(contender *c, cnn_error *err)
{
    cnn_status status = measure_finish(c->measure, &c->result, err);
    if (status != CNN_OK) return put_out(c, status, err);
    const verify_result *check = &c->result.check;
    c->state = check->state == VERIFY_PASSED ? CONTENDER_TIMED : CONTENDER_WRONG;
    if (c->state == CONTENDER_WRONG)
        snprintf(c->reason, sizeof c->reason, "%s: %.200s; %.200s", verify_state_name(check->state), check->reason,
                 check->worst);
    return CNN_OK;
}

cnn_status contest_run(contender *list, int count, const vf_case *c, const measure_params *params, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < count; i++) {
        status = measure_open(list[i].session, c, &list[i].algorithm, params, &list[i].measure, err);
        status = put_out(&list[i], status, err);
    }
    if (status == CNN_OK) status = take_turns(list, count, err);
    for (int i = 0; status == CNN_OK && i < count; i++)
        if (list[i].measure) status = judge(&list[i], err);
    return status;
}

void contest_close(contender *list, int count)
{
    for (int i = 0; i < count; i++) {
        measure_close(list[i].measure);
        list[i].measure = NULL;
    }
}

int contest_best(const contender *list, int count)
{
    int best = -1;
    for (int i = 0; i < count; i++) {
        if (list[i].state != CONTENDER_TIMED) continue;
        if (best < 0 || list[i].result.stats.median < list[best].result.stats.median) best = i;
    }
    return best;
}

static void record_figures(cnn_record *record, const measure_result *r, const cnn_problem *problem, cnn_dir dir)
{
    const bench_stats *s = &r->stats;
    record_int(record, "samples", s->count);
    record_int(record, "repeats", r->repeats);
    record_real(record, "median_s", s->median);
    record_real(record, "min_s", s->min);
    record_real(record, "q1_s", s->q1);
    record_real(record, "q3_s", s->q3);
    record_real(record, "max_s", s->max);
    record_real(record, "low_s", s->low);
    record_real(record, "high_s", s->high);
    record_real(record, "noise", s->noise);
    record_bool(record, "noisy", bench_noisy(s));
    if (!isnan(r->launch_s)) record_real(record, "launch_s", r->launch_s);
    record_reals(record, "samples_s", r->samples, s->count);
    record_real(record, "gflops", cnn_flops(problem, dir) / s->median * 1e-9);
    record_real(record, "gbps", cnn_bytes(problem, dir) / s->median * 1e-9);
}

static const char *state_name(const contender *c)
{
    if (c->state == CONTENDER_UNSUPPORTED) return verify_state_name(VERIFY_UNSUPPORTED);
    if (c->state == CONTENDER_FAILED) return verify_state_name(VERIFY_FAILED);
    return c->state == CONTENDER_NO_MEMORY ? "OUT_OF_MEMORY" : verify_state_name(c->result.check.state);
}

cnn_record *contender_record(const contender *c, const vf_case *problem_case, const measure_params *params,
                             const char *repro)
{
    const cnn_problem *problem = &problem_case->problem;
    cnn_dir dir = problem_case->call.dir;
    cnn_record *record = record_new(cnn_op_name(problem->op));
    record_session(record, c->session, c->algorithm.name);
    record_problem(record, problem, dir);
    record_text(record, "cache", params->cold ? "cold" : "hot");
    record_real(record, "flops", cnn_flops(problem, dir));
    record_real(record, "bytes", cnn_bytes(problem, dir));
    if (c->state == CONTENDER_TIMED || c->state == CONTENDER_WRONG) {
        record_int(record, "workspace_bytes", (int64_t)c->result.workspace_bytes);
        if (c->result.choice[0] != '\0') record_text(record, "choice", c->result.choice);
        record_real(record, "budget_used", c->result.check.budget_used);
    }
    if (c->state == CONTENDER_TIMED) record_figures(record, &c->result, problem, dir);
    record_bool(record, "verified", c->state == CONTENDER_TIMED);
    record_text(record, "state", state_name(c));
    if (c->state != CONTENDER_TIMED) record_text(record, "reason", c->reason);
    record_text(record, "repro", repro);
    return record;
}
