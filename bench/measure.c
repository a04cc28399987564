/* measure.c: the buffers of one operation and the clock around it. */
#include "measure.h"

#include "flush.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double turn_seconds = 0.02, sample_seconds = 20e-6;
enum { MIN_SAMPLES = 6, SAMPLES_IN_MIN_TIME = 1000, WARM_UPS = 3, MAX_REPEATS = 1000000 };

struct measure {
    const cnn_session *session;
    const vf_case *c;
    measure_params params;
    cnn_plan plan;
    bool planned;
    void *buffers[CNN_MAX_OPERANDS], *workspace;
    cache_flush *flush; /* NULL: hot */
    int repeats;
    cnn_graph *graph;         /* `repeats` runs, where the device can replay them and nothing is flushed in between */
    double direct;            /* seconds a run, launched one by one by the host; NaN without a graph */
    double *samples, *sorted; /* `sorted` is room for the statistics */
    int count, capacity;
    double timed, spent; /* seconds in samples; in turns, all told */
    double noise;        /* of the samples so far */
};

static cnn_status upload(const measure *m, int i, cnn_error *err)
{
    const cnn_operand *o = &m->c->call.operands[i];
    void *bytes = malloc(o->bytes);
    if (!bytes) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to fill %s", o->name);
    vf_pack(&m->c->problem, o, m->c->before[i], bytes);
    cnn_status status = cnn_mem_upload(m->session, m->buffers[i], bytes, o->bytes, err);
    free(bytes);
    return status;
}

/* Inputs get the case's values, outputs NaN, so that what is checked later was really written. */
static cnn_status reset(const measure *m, bool inputs, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < m->c->call.count; i++) {
        const cnn_operand *o = &m->c->call.operands[i];
        if (o->access == CNN_OUT)
            status = cnn_mem_fill(m->session, m->buffers[i], 0xFF, o->bytes, err);
        else if (o->access == CNN_INOUT || inputs)
            status = upload(m, i, err);
    }
    return status;
}

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

static cnn_status run(const measure *m, cnn_error *err)
{
    cnn_run_extra extra = {.beta = 0.0, .scale = m->c->call.scale, .workspace = m->workspace};
    return cnn_run(m->session, &m->plan, m->buffers, &extra, err);
}

static cnn_status go_on(const measure *m, cnn_error *err)
{
    const bool stop = m->params.stop != NULL && m->params.stop();
    return stop ? CNN_FAIL(err, CNN_INTERRUPTED, "the measurement was interrupted") : CNN_OK;
}

/* Seconds a run of `repeats` in a row: replayed where there is a graph of just so many, else launched one by one. */
static cnn_status time_runs(const measure *m, int repeats, double *seconds, cnn_error *err)
{
    cnn_timer timer;
    cnn_status status = go_on(m, err);
    if (status == CNN_OK) status = cnn_sync(m->session, err);
    if (status == CNN_OK) status = cnn_timer_start(m->session, &timer, err);
    if (status == CNN_OK && m->graph != NULL && repeats == m->repeats)
        status = m->session->impl->graph_run(m->session->context, m->graph, err);
    else
        for (int i = 0; status == CNN_OK && i < repeats; i++) status = run(m, err);
    if (status == CNN_OK) status = cnn_timer_stop(m->session, &timer, seconds, err);
    if (status == CNN_OK) *seconds /= repeats;
    return status;
}

/* The first run pays for page faults and cold code; the fastest of a few says how many make a sample long enough. */
static cnn_status warm_up(measure *m, cnn_error *err)
{
    double seconds, fastest = INFINITY;
    for (int i = 0; i < WARM_UPS; i++) {
        if (time_runs(m, 1, &seconds, err) != CNN_OK) return err->status;
        fastest = fmin(fastest, seconds);
        if (seconds > m->params.max_time) break; /* once is enough for a run that takes so long */
    }
    double wanted = fmax(sample_seconds, m->params.min_time / SAMPLES_IN_MIN_TIME);
    m->repeats = m->flush ? 1 : (int)fmin(ceil(fmax(wanted / fmax(fastest, 1e-9), 1.0)), MAX_REPEATS);
    return CNN_OK;
}

/* On a device a short kernel takes less time than its launch, so that runs launched one by one would time the host.
 * They are replayed from a graph instead, and the difference is what a launch costs. */
static cnn_status capture(measure *m, cnn_error *err)
{
    enum { LEAST_REPEATS = 10, DIRECT_SAMPLES = 5 };
    const cnn_impl *impl = m->session->impl;
    double seconds;
    cnn_graph *graph = NULL;
    m->direct = NAN;
    if (impl->capture_begin == NULL || m->flush != NULL) return CNN_OK;
    if (m->repeats < LEAST_REPEATS) m->repeats = LEAST_REPEATS;
    for (int i = 0; i < DIRECT_SAMPLES; i++) {
        if (time_runs(m, m->repeats, &seconds, err) != CNN_OK) return err->status;
        m->direct = fmin(isnan(m->direct) ? seconds : m->direct, seconds);
    }
    cnn_status status = cnn_sync(m->session, err);
    if (status == CNN_OK) status = impl->capture_begin(m->session->context, err);
    if (status != CNN_OK) return status;
    for (int i = 0; status == CNN_OK && i < m->repeats; i++) status = run(m, err);
    cnn_error ended;
    const cnn_status end = impl->capture_end(m->session->context, &graph, status == CNN_OK ? err : &ended);
    if (status != CNN_OK || end != CNN_OK) {
        if (end == CNN_OK) impl->graph_free(m->session->context, graph);
        return status != CNN_OK ? status : end;
    }
    m->graph = graph;
    return time_runs(m, m->repeats, &seconds, err); /* the first replay uploads the graph */
}

cnn_status measure_open(const cnn_session *session, const vf_case *c, const cnn_algorithm *algorithm,
                        const measure_params *params, measure **result, cnn_error *err)
{
    *result = NULL;
    measure *m = calloc(1, sizeof *m);
    if (!m) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a measurement");
    m->session = session;
    m->c = c;
    m->params = *params;
    m->noise = NAN;
    cnn_status status = cnn_plan_make(session, &c->problem, c->call.dir, algorithm, &m->plan, err);
    m->planned = status == CNN_OK;
    if (status == CNN_OK) status = allocate(m, err);
    if (status == CNN_OK && params->cold) status = cache_flush_open(session, &m->flush, err);
    if (status == CNN_OK) status = reset(m, true, err);
    if (status == CNN_OK) status = warm_up(m, err);
    if (status == CNN_OK) status = capture(m, err);
    if (status == CNN_OK)
        *result = m;
    else
        measure_close(m);
    return status;
}

void measure_close(measure *m)
{
    if (!m) return;
    if (m->graph) m->session->impl->graph_free(m->session->context, m->graph);
    for (int i = 0; i < CNN_MAX_OPERANDS; i++)
        if (m->buffers[i]) cnn_mem_free(m->session, m->buffers[i]);
    if (m->workspace) cnn_mem_free(m->session, m->workspace);
    if (m->planned) cnn_plan_release(m->session, &m->plan);
    cache_flush_close(m->flush);
    free(m->samples);
    free(m->sorted);
    free(m);
}

static cnn_status reserve(measure *m, cnn_error *err)
{
    if (m->count < m->capacity) return CNN_OK;
    int capacity = m->capacity ? 2 * m->capacity : 256;
    double *samples = realloc(m->samples, (size_t)capacity * sizeof *samples);
    if (samples) m->samples = samples;
    double *sorted = samples ? realloc(m->sorted, (size_t)capacity * sizeof *sorted) : NULL;
    if (!sorted) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d samples", capacity);
    m->sorted = sorted;
    m->capacity = capacity;
    return CNN_OK;
}

static cnn_status take_sample(measure *m, cnn_error *err)
{
    cnn_status status = reserve(m, err);
    if (status == CNN_OK && m->flush) status = cache_flush_run(m->flush, err);
    if (status == CNN_OK) status = time_runs(m, m->repeats, &m->samples[m->count], err);
    if (status == CNN_OK) m->timed += m->samples[m->count++] * m->repeats;
    return status;
}

cnn_status measure_turn(measure *m, cnn_error *err)
{
    bench_stats stats;
    double start = cnn_now(), ignored;
    cnn_status status = m->flush ? CNN_OK : time_runs(m, 1, &ignored, err);
    do {
        if (status == CNN_OK) status = take_sample(m, err);
    } while (status == CNN_OK && cnn_now() - start < turn_seconds);
    m->spent += cnn_now() - start;
    if (status != CNN_OK) return status;
    bench_stats_of(m->samples, m->count, m->sorted, &stats);
    m->noise = stats.noise;
    return CNN_OK;
}

bool measure_done(const measure *m)
{
    bool known = m->count >= MIN_SAMPLES && m->noise <= m->params.noise; /* a NaN is not */
    return m->count > 0 && ((known && m->timed >= m->params.min_time) || m->spent >= m->params.max_time);
}

/* What is updated in place has changed with every run; it is put back and the kernel run once more, in the same
 * buffers. Otherwise the last timed sample itself is what is checked. */
cnn_status measure_finish(measure *m, measure_result *result, cnn_error *err)
{
    bool in_place = false;
    for (int i = 0; i < m->c->call.count; i++)
        if (m->c->call.operands[i].access == CNN_INOUT) in_place = true;
    cnn_status status = go_on(m, err);
    if (status == CNN_OK) status = reset(m, false, err);
    if (status == CNN_OK) status = in_place ? run(m, err) : take_sample(m, err);
    if (status == CNN_OK)
        status = check_timed_outputs(m->session, &m->plan.algorithm, m->c, m->buffers, &result->check, err);
    if (status != CNN_OK) return status;
    bench_stats_of(m->samples, m->count, m->sorted, &result->stats);
    result->samples = m->samples;
    result->repeats = m->repeats;
    result->workspace_bytes = m->plan.workspace_bytes;
    result->choice = m->plan.choice;
    result->launch_s = m->graph ? fmax(m->direct - result->stats.min, 0.0) : NAN;
    return CNN_OK;
}
