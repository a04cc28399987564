/* set_up.c: everything before the first sample, each part of it timed for itself. */
#include "parts.h"

#include "harness/base/clock.h"
#include "harness/device/call.h"

#include <math.h>

static const double sample_seconds = 20e-6, longest_sample = 0.05;
enum { WARM_UPS = 3, MAX_REPEATS = 256, EMPTY_CLOCKS = 16, CLOCKS_IN_SAMPLE = 50 };

/* What the timer says of nothing: samples must be far longer. */
static cnn_status time_the_clock(measure *m, cnn_error *err)
{
    double seconds, least = INFINITY;
    for (int i = 0; i < EMPTY_CLOCKS; i++) {
        cnn_timer timer;
        const double start = cnn_now();
        cnn_status status = m->own_clock ? cnn_sync(m->session, err) : cnn_timer_start(m->session, &timer, err);
        seconds = cnn_now() - start;
        if (status == CNN_OK && !m->own_clock) status = cnn_timer_stop(m->session, &timer, &seconds, err);
        if (status == CNN_OK && !m->own_clock) status = cnn_sync(m->session, err);
        if (status == CNN_OK && !m->own_clock) status = judge_peek(m->judge, err);
        m->empty = fmin(m->empty, cnn_now() - start);
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
    const double wanted = fmax(m->own_clock ? 0 : sample_seconds, CLOCKS_IN_SAMPLE * m->costs.clock_s);
    const double runs = fmin(wanted / fmax(fastest, 1e-9), longest_sample / fmax(wall, 1e-9));
    m->repeats = (int)fmin(ceil(fmax(runs, 1.0)), MAX_REPEATS);
    return CNN_OK;
}

static cnn_status capture_runs(measure *m, cnn_error *err)
{
    const cnn_impl *impl = m->session->impl;
    cnn_status status = cnn_sync(m->session, err);
    if (status == CNN_OK) status = CNN_CALL(impl, capture->begin, err, m->session->context, err);
    if (status == CNN_UNSUPPORTED) return CNN_OK; /* as its context was opened, nothing is captured: launched, then */
    if (status != CNN_OK) return status;
    for (int back = m->repeats; status == CNN_OK && back-- > 0;) status = measure_run(m, back, err);
    return cnn_capture_end(m->session, status, &m->graph, err);
}

/* On a device a short kernel takes less time than its launch, so that runs launched one by one would time the host.
 * They are replayed from a graph instead, and the difference is what a launch costs. */
static cnn_status capture(measure *m, cnn_error *err)
{
    enum { LEAST_REPEATS = 10, DIRECT_SAMPLES = 5 };
    double seconds;
    m->direct = NAN;
    const bool replays = m->session->impl->capture != NULL && !measure_prepares(m);
    if (replays && m->repeats < LEAST_REPEATS) m->repeats = LEAST_REPEATS;
    if (judge_windows(m->judge, 2 * m->repeats - 1, err) != CNN_OK) return err->status; /* as many as may be drawn */
    if (!replays) return CNN_OK;
    for (int i = 0; i < DIRECT_SAMPLES; i++) {
        if (measure_time(m, m->repeats, false, &seconds, err) != CNN_OK) return err->status;
        m->direct = fmin(isnan(m->direct) ? seconds : m->direct, seconds);
    }
    const cnn_status status = capture_runs(m, err);
    /* the first replay uploads the graph */
    return status == CNN_OK ? measure_time(m, m->repeats, false, &seconds, err) : status;
}

cnn_status measure_set_up(measure *m, const measure_setting *setting, cnn_error *err)
{
    const measure_params *params = &m->params;
    double start = cnn_now();
    m->own_clock = m->session->impl->device_kind == CNN_DEVICE_CPU;
    m->empty = INFINITY;
    const cnn_request request = {.problem = &m->c->problem, .dir = m->c->call.dir, .algorithm = setting->algorithm};
    cnn_status status = cnn_plan_make(m->session, &request, &m->plan, err);
    m->planned = status == CNN_OK;
    m->costs.plan_s = cnn_now() - start;
    judge_upload upload = {.bytes = 0};
    start = cnn_now();
    if (status == CNN_OK) status = judge_open(m->session, m->c, &m->plan, setting->basis, &m->judge, &upload, err);
    m->costs.upload_s = upload.seconds;
    m->costs.upload_bytes = upload.bytes;
    m->costs.setup_s = cnn_now() - start - upload.seconds - upload.own_s;
    if (status == CNN_OK && params->cold) status = cache_flush_open(m->session, judge_hands(m->judge), &m->flush, err);
    if (status == CNN_OK && params->network)
        status = in_network_open(m->session, params->network, m->c, judge_buffers(m->judge), &m->in_network, err);
    if (status == CNN_OK) status = time_the_clock(m, err);
    if (status == CNN_OK) status = warm_up(m, err);
    return status == CNN_OK ? capture(m, err) : status;
}
