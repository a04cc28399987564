/* candidate_record.c: what became of a candidate, as a record. */
#include "candidates.h"

#include <math.h>
#include <string.h>

static void record_stats(cnn_record *record, const measure_result *r, bool samples)
{
    const bench_stats *s = &r->stats;
    char marks[128];
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
    record_real(record, "dependence", s->dependence);
    record_real(record, "drift", s->drift);
    record_int(record, "outliers", s->outliers);
    record_text(record, "marks", bench_marks_text(s->marks, marks, sizeof marks));
    if (samples) record_reals(record, "samples_s", r->samples, s->count);
}

static void record_costs(cnn_record *record, const measure_result *r)
{
    const measure_costs *c = &r->costs;
    record_real(record, "plan_s", c->plan_s);
    record_real(record, "setup_s", c->setup_s);
    if (c->upload_bytes > 0) {
        record_real(record, "upload_s", c->upload_s);
        record_int(record, "upload_bytes", (int64_t)c->upload_bytes);
        record_real(record, "download_s", c->download_s);
        record_int(record, "download_bytes", (int64_t)c->download_bytes);
    }
    record_real(record, "first_s", c->first_s);
    record_real(record, "warm_up_s", c->warm_up_s);
    record_real(record, "clock_s", c->clock_s);
    if (!isnan(c->own_clock_s)) record_real(record, "own_clock_s", c->own_clock_s);
    if (!isnan(r->launch_s)) record_real(record, "launch_s", r->launch_s);
}

static void record_floor(cnn_record *record, const candidate *c, const vf_case *pc, const measure_params *params)
{
    bench_floor floor;
    char marks[128];
    const bench_work work = {&pc->problem, pc->call.dir, params->cold, c->result.stats.median, &c->algorithm};
    if (!params->peaks || !bench_floor_of(params->peaks, c->session, &work, &floor)) return;
    record_real(record, "floor_s", floor.seconds);
    record_text(record, "floor_by", floor.by);
    record_real(record, "share", floor.seconds / c->result.stats.median);
    record_text(record, "floor_marks", bench_marks_text(floor.marks, marks, sizeof marks));
    record_text(record, "peaks_from", params->peaks->source);
}

static void record_counted(cnn_record *record, const counter_report *r)
{
    record_pair pairs[COUNTER_COUNT];
    int count = 0;
    for (int i = 0; i < COUNTER_COUNT; i++) {
        if (!(r->events & 1u << i) || r->count[i] < 0) continue;
        snprintf(pairs[count].key, sizeof pairs[count].key, "%s", counter_name((counter_event)i));
        snprintf(pairs[count++].value, sizeof pairs[0].value, "%lld", (long long)r->count[i]);
    }
    if (count == 0) return;
    record_int_pairs(record, "counted", pairs, count);
    record_int(record, "counted_runs", r->runs);
    record_real(record, "counted_share", r->share);
}

static void record_figures(cnn_record *record, const candidate *c, const vf_case *pc, const measure_params *params)
{
    const double median = c->result.stats.median;
    record_stats(record, &c->result, params->samples);
    record_costs(record, &c->result);
    clock_record(record, &c->result.clocks);
    if (!isnan(c->resolution)) record_real(record, "resolution", c->resolution);
    record_real(record, "gflops", cnn_flops(&pc->problem, pc->call.dir) / median * 1e-9);
    record_real(record, "gbps", cnn_bytes(&pc->problem, pc->call.dir) / median * 1e-9);
    record_floor(record, c, pc, params);
    record_counted(record, &c->counted);
}

/* Only where something was widened: plain sums of products have 1. */
static void record_transform(cnn_record *record, const verify_result *check)
{
    if (check->transform[0] == '\0') return;
    record_real(record, "amplification", check->amplification);
    record_text(record, "transform", check->transform);
}

static const char no_memory[] = "OUT_OF_MEMORY", too_short[] = "TOO_SHORT";

static const char *state_name(const candidate *c)
{
    if (c->state == CANDIDATE_UNSUPPORTED) return verify_state_name(VERIFY_UNSUPPORTED);
    if (c->state == CANDIDATE_FAILED) return verify_state_name(VERIFY_FAILED);
    if (c->state == CANDIDATE_TOO_SHORT) return too_short;
    return c->state == CANDIDATE_NO_MEMORY ? no_memory : verify_state_name(c->result.check.state);
}

candidate_state candidate_state_of(const char *name)
{
    if (strcmp(name, verify_state_name(VERIFY_PASSED)) == 0) return CANDIDATE_TIMED;
    if (strcmp(name, verify_state_name(VERIFY_UNSUPPORTED)) == 0) return CANDIDATE_UNSUPPORTED;
    if (strcmp(name, verify_state_name(VERIFY_FAILED)) == 0) return CANDIDATE_FAILED;
    if (strcmp(name, too_short) == 0) return CANDIDATE_TOO_SHORT;
    return strcmp(name, no_memory) == 0 ? CANDIDATE_NO_MEMORY : CANDIDATE_WRONG;
}

cnn_record *candidate_record(const char *kind, const candidate *c, const vf_case *problem_case,
                             const measure_params *params, const char *repro)
{
    const cnn_problem *problem = &problem_case->problem;
    cnn_dir dir = problem_case->call.dir;
    char machine[CNN_NAME_MAX];
    cnn_record *record = record_new(kind);
    record_session(record, c->session, c->tuned ? CNN_TUNED : c->algorithm.name);
    if (c->tuned) record_text(record, "tuning", tuning_state_name(c->tuning));
    const bool ran = c->state == CANDIDATE_TIMED || c->state == CANDIDATE_WRONG || c->state == CANDIDATE_TOO_SHORT;
    record_choice(record, c->tuned ? c->algorithm.name : NULL, ran ? c->result.choice : NULL);
    machine_name(c->session, machine, sizeof machine);
    record_text(record, "machine", machine);
    record_problem(record, problem, dir);
    record_text(record, "cache", params->network ? "network" : params->cold ? "cold" : "hot");
    if (params->network) record_text(record, "net", params->network->net.name);
    record_real(record, "flops", cnn_flops(problem, dir));
    record_real(record, "bytes", cnn_bytes(problem, dir));
    if (ran) {
        record_int(record, "workspace_bytes", (int64_t)c->result.workspace_bytes);
        record_real(record, "budget_used", c->result.check.budget_used);
        record_int(record, "runs", c->result.judged.runs);
        record_int(record, "runs_projected", c->result.judged.projected);
        record_int(record, "runs_compared", c->result.judged.whole);
        record_transform(record, &c->result.check);
    }
    if (c->state == CANDIDATE_TIMED) record_figures(record, c, problem_case, params);
    record_bool(record, "verified", c->state == CANDIDATE_TIMED && !c->beyond);
    record_text(record, "state", state_name(c));
    if (c->state != CANDIDATE_TIMED) record_text(record, "reason", c->reason);
    record_text(record, "repro", repro);
    if (c->arm) record_text(record, "arm", c->arm);
    return record;
}
