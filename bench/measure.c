/* measure.c: samples: the clock around some runs, in turns, until enough is known. */
#include "measure_parts.h"

#include <math.h>
#include <stdlib.h>

static const double turn_seconds = 0.02;

cnn_status measure_open(const cnn_session *session, const vf_case *c, const cnn_algorithm *algorithm,
                        const measure_params *params, measure **result, cnn_error *err)
{
    *result = NULL;
    measure *m = calloc(1, sizeof *m);
    if (!m) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a measurement");
    m->session = session;
    m->c = c;
    m->params = *params;
    m->sampling.rules = (sampling_rules){params->min_time, params->max_time, params->noise};
    const cnn_status status = measure_set_up(m, algorithm, err);
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
    amid_close(m->amid);
    cache_flush_close(m->flush);
    for (int i = 0; i < CNN_MAX_OPERANDS; i++)
        if (m->buffers[i]) cnn_mem_free(m->session, m->buffers[i]);
    if (m->workspace) cnn_mem_free(m->session, m->workspace);
    if (m->planned) cnn_plan_release(m->session, &m->plan);
    clock_watch_close(m->own_watch);
    sampling_free(&m->sampling);
    free(m);
}

static cnn_status take_sample(measure *m, cnn_error *err)
{
    double seconds;
    cnn_status status = sampling_reserve(&m->sampling, err);
    if (status == CNN_OK) status = measure_time(m, m->repeats, measure_prepares(m), &seconds, err);
    if (status == CNN_OK) sampling_add(&m->sampling, seconds, m->repeats);
    return status;
}

cnn_status measure_turn(measure *m, cnn_error *err)
{
    double ignored;
    clock_span span;
    const double start = cnn_now();
    cnn_status status = measure_prepares(m) ? CNN_OK : measure_time(m, 1, false, &ignored, err);
    clock_watch_start(m->watch, &span);
    do {
        if (status == CNN_OK) status = take_sample(m, err);
    } while (status == CNN_OK && cnn_now() - start < turn_seconds);
    clock_watch_stop(m->watch, &span, &m->clocks);
    sampling_spend(&m->sampling, cnn_now() - start);
    return status;
}

bool measure_done(const measure *m) { return sampling_done(&m->sampling); }

/* The outputs once more to the host, for how long that takes; judging fetches them again in its own way. */
static cnn_status time_download(measure *m, cnn_error *err)
{
    cnn_status status = cnn_sync(m->session, err);
    for (int i = 0; m->session->impl->alloc && status == CNN_OK && i < m->c->call.count; i++) {
        const cnn_operand *o = &m->c->call.operands[i];
        void *bytes = o->access == CNN_IN ? NULL : malloc(o->bytes);
        if (!bytes) continue;
        const double start = cnn_now();
        status = cnn_mem_download(m->session, bytes, m->buffers[i], o->bytes, err);
        m->costs.download_s += cnn_now() - start;
        m->costs.download_bytes += o->bytes;
        free(bytes);
    }
    return status;
}

/* Timed like all the others. Where the caches are brought into their state before each sample, it is one of them; hot
 * ones saw the poison last, not the run before: then its time is no sample. */
static cnn_status checked_sample(measure *m, cnn_error *err)
{
    double poisoned;
    return measure_prepares(m) ? take_sample(m, err) : measure_time(m, m->repeats, false, &poisoned, err);
}

/* What is updated in place has changed with every run; it is put back and the kernel run once more, in the same
 * buffers. Otherwise a timed run itself is what is checked. */
static cnn_status last_run(measure *m, cnn_error *err)
{
    const measure_costs costs = m->costs; /* putting back is no transfer that anyone asked for */
    bool in_place = false;
    for (int i = 0; i < m->c->call.count; i++)
        if (m->c->call.operands[i].access == CNN_INOUT) in_place = true;
    cnn_status status = measure_go_on(m, err);
    if (status == CNN_OK) status = measure_reset(m, false, err);
    m->costs = costs;
    if (status == CNN_OK) status = in_place ? measure_run(m, err) : checked_sample(m, err);
    return status;
}

cnn_status measure_finish(measure *m, measure_result *result, cnn_error *err)
{
    cnn_status status = last_run(m, err);
    if (status == CNN_OK)
        status = check_timed_outputs(m->session, &m->plan.algorithm, m->c, m->buffers, &result->check, err);
    if (status == CNN_OK) status = time_download(m, err);
    if (status != CNN_OK) return status;
    sampling_stats(&m->sampling, &result->stats);
    /* A sample shorter than this is off by more than 5 % where the clock is off by its own cost. */
    if (!(result->stats.median * m->repeats > 20 * m->costs.clock_s)) result->stats.marks |= BENCH_COARSE;
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
