/* measure_set_up.c: everything before the first sample, each part of it timed for itself. */
#include "measure_parts.h"

#include "harness/call.h"

#include <math.h>

static const double sample_seconds = 20e-6, longest_sample = 0.05;
enum { SAMPLES_IN_MIN_TIME = 1000, WARM_UPS = 3, MAX_REPEATS = 1000000, EMPTY_CLOCKS = 16, CLOCKS_IN_SAMPLE = 50 };

static cnn_status allocate(measure *m, cnn_error *err)
{
    const vf_call *call = &m->c->call;
    size_t total = m->plan.workspace_bytes;
    for (int i = 0; i < call->count; i++) total += call->operands[i].bytes + CNN_ALIGN;
    cnn_status status = cnn_mem_check(m->session, total, err);
    for (int i = 0; status == CNN_OK && i < call->count; i++)
        status = cnn_mem_alloc(m->session, call->operands[i].bytes, &m->buffers[i], err);
    if (status == CNN_OK && m->plan.workspace_bytes > 0)
        status = cnn_mem_alloc(m->session, m->plan.workspace_bytes, &m->workspace, err);
    return status;
}

/* What the timer says of nothing: samples must be far longer. */
static cnn_status time_the_clock(measure *m, cnn_error *err)
{
    double seconds, least = INFINITY;
    for (int i = 0; i < EMPTY_CLOCKS; i++) {
        cnn_timer timer;
        cnn_status status = cnn_timer_start(m->session, &timer, err);
        if (status == CNN_OK) status = cnn_timer_stop(m->session, &timer, &seconds, err);
        if (status != CNN_OK) return status;
        least = fmin(least, seconds);
    }
    m->costs.clock_s = least;
    return CNN_OK;
}

/* The first run pays for page faults and cold code; the ones after it bring clocks up. The fastest says how many runs
 * make a sample long enough; by the wall clock, too, lest a timer that stands still asks for more than can be run. */
static cnn_status warm_up(measure *m, cnn_error *err)
{
    double seconds, fastest = INFINITY, wall = INFINITY;
    const double start = cnn_now();
    double now = start;
    for (int i = 0; i < WARM_UPS || now - start < m->params.warm_up; i++) {
        const double before = now;
        if (measure_time(m, 1, false, &seconds, err) != CNN_OK) return err->status;
        now = cnn_now();
        if (i == 0) m->costs.first_s = now - before;
        fastest = fmin(fastest, seconds);
        wall = fmin(wall, now - before);
        if (now - start > m->params.max_time) break; /* once is enough for a run that takes so long */
    }
    m->costs.warm_up_s = now - start;
    m->repeats = 1;
    if (measure_prepares(m)) return CNN_OK;
    const double shortest = fmax(sample_seconds, CLOCKS_IN_SAMPLE * m->costs.clock_s);
    const double wanted = fmax(shortest, m->params.min_time / SAMPLES_IN_MIN_TIME);
    const double runs = fmin(wanted / fmax(fastest, 1e-9), longest_sample / fmax(wall, 1e-9));
    m->repeats = (int)fmin(ceil(fmax(runs, 1.0)), MAX_REPEATS);
    return CNN_OK;
}

static cnn_status capture_runs(measure *m, cnn_error *err)
{
    const cnn_impl *impl = m->session->impl;
    cnn_graph *graph = NULL;
    cnn_error ended;
    cnn_status status = cnn_sync(m->session, err);
    if (status == CNN_OK) status = CNN_CALL(impl, capture_begin, err, m->session->context, err);
    if (status == CNN_UNSUPPORTED) return CNN_OK; /* as its context was opened, nothing is captured: launched, then */
    if (status != CNN_OK) return status;
    for (int i = 0; status == CNN_OK && i < m->repeats; i++) status = measure_run(m, err);
    const cnn_status end = CNN_CALL(impl, capture_end, status == CNN_OK ? err : &ended, m->session->context, &graph,
                                    status == CNN_OK ? err : &ended);
    if (status == CNN_OK && end == CNN_OK) {
        m->graph = graph;
        return CNN_OK;
    }
    if (end == CNN_OK) impl->graph_free(m->session->context, graph);
    return status != CNN_OK ? status : end;
}

/* On a device a short kernel takes less time than its launch, so that runs launched one by one would time the host.
 * They are replayed from a graph instead, and the difference is what a launch costs. */
static cnn_status capture(measure *m, cnn_error *err)
{
    enum { LEAST_REPEATS = 10, DIRECT_SAMPLES = 5 };
    double seconds;
    m->direct = NAN;
    if (m->session->impl->capture_begin == NULL || measure_prepares(m)) return CNN_OK;
    if (m->repeats < LEAST_REPEATS) m->repeats = LEAST_REPEATS;
    for (int i = 0; i < DIRECT_SAMPLES; i++) {
        if (measure_time(m, m->repeats, false, &seconds, err) != CNN_OK) return err->status;
        m->direct = fmin(isnan(m->direct) ? seconds : m->direct, seconds);
    }
    const cnn_status status = capture_runs(m, err);
    /* the first replay uploads the graph */
    return status == CNN_OK ? measure_time(m, m->repeats, false, &seconds, err) : status;
}

cnn_status measure_set_up(measure *m, const cnn_algorithm *algorithm, cnn_error *err)
{
    const measure_params *params = &m->params;
    double start = cnn_now();
    cnn_status status = cnn_plan_make(m->session, &m->c->problem, m->c->call.dir, algorithm, &m->plan, err);
    m->planned = status == CNN_OK;
    m->costs.plan_s = cnn_now() - start;
    start = cnn_now();
    if (status == CNN_OK) status = allocate(m, err);
    m->costs.setup_s = cnn_now() - start;
    if (status == CNN_OK) status = measure_reset(m, true, err);
    if (status == CNN_OK && params->cold) status = cache_flush_open(m->session, &m->flush, err);
    if (status == CNN_OK && params->network)
        status = amid_open(m->session, params->network, m->c, m->buffers, &m->amid, err);
    if (status == CNN_OK && !params->watch) status = clock_watch_open(m->session, &m->own_watch, err);
    m->watch = params->watch ? params->watch : m->own_watch;
    if (status == CNN_OK) status = time_the_clock(m, err);
    if (status == CNN_OK) status = warm_up(m, err);
    return status == CNN_OK ? capture(m, err) : status;
}
