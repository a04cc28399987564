/* measure.c: samples: the clock around some runs, in turns, until enough is known. */
#include "parts.h"

#include "harness/base/clock.h"
#include "harness/device/call.h"
#include "verify/oracle/guard.h"

#include <math.h>
#include <stdlib.h>

static const double turn_seconds = 0.02;

cnn_status measure_open(const cnn_session *session, const measure_setting *setting, measure **result, cnn_error *err)
{
    *result = NULL;
    measure *m = calloc(1, sizeof *m);
    if (!m) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a measurement");
    m->session = session;
    m->c = setting->c;
    m->params = *setting->params;
    m->watch = setting->watch;
    m->sampling.rules = (sampling_rules){m->params.min_time, m->params.max_time, m->params.noise};
    const cnn_status status = measure_set_up(m, setting, err);
    if (status == CNN_OK)
        *result = m;
    else
        measure_close(m);
    return status;
}

void measure_close(measure *m)
{
    if (!m) return;
    if (m->graph) CNN_CALL_VOID(m->session->impl, capture->free, m->session->context, m->graph);
    in_network_close(m->in_network);
    cache_flush_close(m->flush);
    judge_close(m->judge);
    if (m->planned) cnn_plan_release(m->session, &m->plan);
    sampling_free(&m->sampling);
    free(m);
}

/* Judging reads the outputs, from this thread: a run that is not timed brings the caches back to what a run leaves in
 * them, unless it would take long beside what it brings. */
static cnn_status settle(measure *m, cnn_error *err)
{
    const double longest = 2e-3;
    double ignored;
    if (measure_prepares(m) || m->graph || m->last > longest) return CNN_OK;
    return measure_time(m, 1, false, &ignored, err);
}

/* How many runs a sample has, nobody knows beforehand: the last one is judged, and may be any. */
static int draw_repeats(measure *m)
{
    if (m->graph || m->repeats == 1) return m->repeats;
    return m->repeats + (int)judge_draw(m->judge, m->repeats);
}

static cnn_status take_sample(measure *m, cnn_error *err)
{
    double seconds;
    const double start = cnn_now();
    const int repeats = draw_repeats(m);
    cnn_status status = sampling_reserve(&m->sampling, err);
    if (status == CNN_OK) status = settle(m, err);
    if (status == CNN_OK) status = measure_time(m, repeats, measure_prepares(m), &seconds, err);
    const double took = cnn_now() - start;
    if (status == CNN_OK) status = judge_run(m->judge, took, err);
    if (status != CNN_OK) return status;
    m->last = seconds * repeats;
    sampling_add(&m->sampling, seconds);
    return CNN_OK;
}

cnn_status measure_turn(measure *m, cnn_error *err)
{
    clock_span span;
    const double start = cnn_now();
    cnn_status status = measure_prepares(m) ? CNN_OK : measure_begin_turn(m, err);
    clock_watch_start(m->watch, &span);
    do {
        if (status == CNN_OK) status = take_sample(m, err);
    } while (status == CNN_OK && cnn_now() - start < turn_seconds);
    clock_watch_stop(m->watch, &span, &m->clocks);
    m->sampling.spent += cnn_now() - start;
    return status;
}

bool measure_done(const measure *m) { return sampling_done(&m->sampling); }

/* ---- What is looked at behind the last sample. */

/* A run, of which the very next thing on the device's stream takes a copy. */
static cnn_status look(const measure *m, const vf_glimpse *g, const char **late, cnn_error *err)
{
    const vf_call *call = &m->c->call;
    const cnn_session *by = judge_hands(m->judge);
    void *const *operands = judge_buffers(m->judge);
    cnn_status status = vf_glimpse_spoil(g, by, call, operands, 0x20 + (int)judge_draw(m->judge, 0x20), err);
    if (status == CNN_OK) status = measure_run(m, 0, err);
    if (status == CNN_OK) status = vf_glimpse_take(g, m->session, call, operands, err);
    if (status == CNN_OK) status = cnn_sync(m->session, err);
    return status == CNN_OK ? vf_glimpse_judge(g, by, call, operands, late, err) : status;
}

/* Whether runs are complete for what comes next on the stream (verify/oracle/guard.h). */
static cnn_status glimpse(measure *m, cnn_error *err)
{
    enum { TRIES = 4 }; /* work that is not joined may be done in time by chance */
    const char *late = NULL;
    vf_glimpse g = {.memory = {NULL}};
    cnn_status status = vf_glimpse_open(&g, m->session, &m->c->call, err);
    for (int i = 0; m->session->impl->memory && status == CNN_OK && !late && i < TRIES; i++)
        status = look(m, &g, &late, err);
    vf_glimpse_close(&g, m->session);
    if (late && m->lie[0] == '\0') snprintf(m->lie, sizeof m->lie, "it " VF_GLIMPSE_LATE, late);
    return status;
}

/* The outputs once more to the host, for how long that takes; judging fetches them again in its own way. */
static cnn_status time_download(measure *m, cnn_error *err)
{
    cnn_status status = cnn_sync(m->session, err);
    for (int i = 0; m->session->impl->memory && status == CNN_OK && i < m->c->call.count; i++) {
        const cnn_operand *o = &m->c->call.operands[i];
        void *bytes = o->access == CNN_IN ? NULL : malloc(o->bytes);
        if (!bytes) continue;
        const double start = cnn_now();
        status = cnn_mem_download(m->session, bytes, judge_buffers(m->judge)[i], o->bytes, err);
        m->costs.download_s += cnn_now() - start;
        m->costs.download_bytes += o->bytes;
        free(bytes);
    }
    return status;
}

/* What is updated in place has changed with every run; it is put back, and all inputs with it: they tell the precision,
 * too, which the large values of other runs would hide. */
static cnn_status last_run(measure *m, cnn_error *err)
{
    const double most = fmin(0.02 + 4 * m->last, 1.0);
    cnn_status status = judge_idle(m->judge, most, err);
    if (status == CNN_OK) status = judge_calm(m->judge, err);
    if (status == CNN_OK) status = measure_run(m, 0, err);
    if (status == CNN_OK) status = cnn_sync(m->session, err);
    judge_returned(m->judge);
    if (status == CNN_OK) status = judge_last(m->judge, err);
    /* What is wrong may only have been late, and is at work still. */
    const bool wrong = status == CNN_OK && judge_verdict(m->judge)->state != VERIFY_PASSED;
    return wrong ? judge_idle(m->judge, most, err) : status;
}

/* Seconds of some samples by the device's timer and by the harness's clock, in spans of two kinds. */
typedef struct spans {
    double single, many, wall; /* one sample in a span of its own, all in one go; the latter by the clock */
} spans;

/* Some samples, each in a span of its own as the figure's samples are, and several in one go. What a disturbed host
 * adds to the one it adds to the other. By a timer that stands still samples last no time, and `times` is large: where
 * the first kind shows as much, and `longest` would pass, they stand for the other. */
static cnn_status time_spans(measure *m, int times, double longest, spans *s, cnn_error *err)
{
    enum { SINGLES = 9, STANDS_STILL = 1000 };
    const int singles = times < SINGLES ? times : SINGLES;
    cnn_status status = CNN_OK;
    *s = (spans){.single = 0};
    for (int i = 0; status == CNN_OK && i < singles; i++) {
        double seconds = 0, wall = 0;
        status = measure_both(m, 1, &seconds, &wall, err);
        s->single += seconds / singles;
        s->wall += wall / singles * times;
    }
    s->many = s->single * times;
    if (status != CNN_OK || (s->many * STANDS_STILL < s->wall && s->wall > longest)) return status;
    return measure_both(m, times, &s->many, &s->wall, err);
}

/* The device's timer against the harness's clock, which has the launching and the waiting in it beside the work, once:
 * what an empty span costs, and then some. So many samples in one go that this is little beside the work. A disturbed
 * host needs another try. */
static cnn_status check_timer(measure *m, cnn_error *err)
{
    enum { LEAST = 2, USUAL = 9, MOST = 200, TRIES = 20 };
    const double around = 3 * m->empty + 20e-6, share = 0.3, longest = 0.1;
    const double wanted = fmin(fmax(20 * around / m->last, USUAL), MOST);
    const int times = (int)fmin(wanted, fmax(longest / m->last, LEAST));
    double by_clock = INFINITY, by_timer = INFINITY;
    bool agree = m->own_clock || m->lie[0] != '\0';
    if (agree) return CNN_OK;
    for (int i = 0; i < TRIES && !agree; i++) {
        spans s;
        const cnn_status status = time_spans(m, times, fmax(longest, 2 * around), &s, err);
        if (status != CNN_OK) return status;
        by_clock = fmin(by_clock, s.wall / (times * m->repeats));
        by_timer = fmin(by_timer, fmin(s.many / times, s.single) / m->repeats);
        agree = s.many >= (s.wall - around) / (1 + share) && s.single * times >= s.many / (1 + 2 * share);
    }
    if (!agree)
        snprintf(m->lie, sizeof m->lie, "its timer says %.3g s a run, the harness's clock %.3g s", by_timer, by_clock);
    m->costs.own_clock_s = by_clock;
    return CNN_OK;
}

cnn_status measure_finish(measure *m, measure_result *result, cnn_error *err)
{
    cnn_status status = measure_go_on(m, err);
    sampling_stats(&m->sampling, &result->stats);
    m->costs.own_clock_s = NAN;
    if (status == CNN_OK) status = check_timer(m, err);
    if (status == CNN_OK) status = glimpse(m, err);
    if (status == CNN_OK) status = last_run(m, err);
    if (status == CNN_OK) status = time_download(m, err);
    if (status == CNN_OK) status = measure_threads(m, err);
    if (status != CNN_OK) return status;
    result->check = *judge_verdict(m->judge);
    if (m->lie[0] != '\0') {
        if (result->check.state == VERIFY_PASSED) result->check.worst[0] = '\0'; /* no element was wrong */
        vf_set(&result->check, VERIFY_FAILED, "%s", m->lie);
    }
    result->judged = judge_counts(m->judge);
    /* A sample shorter than this is off by more than 5 % where the clock is off by its own cost. */
    if (!(result->stats.median * m->repeats > 20 * m->costs.clock_s)) result->stats.marks |= BENCH_COARSE;
    if (!judge_trusted(m->judge)) result->stats.marks |= BENCH_UNWATCHED;
    result->stats.marks |= clock_marks(&m->clocks);
    result->samples = m->sampling.samples;
    result->repeats = m->repeats;
    result->workspace_bytes = m->plan.workspace_bytes;
    result->choice = m->plan.choice;
    result->launch_s = m->graph ? fmax(m->direct - result->stats.min, 0.0) : NAN;
    result->costs = m->costs;
    result->clocks = m->clocks;
    return CNN_OK;
}
