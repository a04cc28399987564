/* run.c: what set-up and sampling both do: run once, time some runs. */
#include "parts.h"

#include "harness/base/clock.h"
#include "harness/device/call.h"

cnn_status measure_run(const measure *m, int back, cnn_error *err)
{
    void *operands[CNN_MAX_OPERANDS];
    const cnn_run_extra extra = {.beta = 0.0, .scale = m->c->call.scale, .workspace = judge_workspace(m->judge)};
    judge_operands(m->judge, back, operands);
    return cnn_run(m->session, &m->plan, operands, &extra, err);
}

cnn_status measure_go_on(const measure *m, cnn_error *err)
{
    const bool stop = m->params.stop != NULL && m->params.stop();
    return stop ? CNN_FAIL(err, CNN_INTERRUPTED, "the measurement was interrupted") : CNN_OK;
}

static cnn_status run_all(const measure *m, int repeats, cnn_error *err)
{
    cnn_status status = CNN_OK;
    if (m->graph != NULL && repeats == m->repeats)
        return CNN_CALL(m->session->impl, capture->run, err, m->session->context, m->graph, err);
    for (int back = repeats; status == CNN_OK && back-- > 0;) status = measure_run(m, back, err);
    return status;
}

/* Whether the inputs change within the timed span. Memory of the implementation's own that only the host's clock times:
 * what it does when an input changes or a result is fetched is its work, too. */
static bool disturbs_within(const measure *m) { return m->own_clock && m->session->impl->memory != NULL; }

/* What is put off until it is waited for is in the time, too. */
static cnn_status by_own_clock(const measure *m, int repeats, double *seconds, cnn_error *err)
{
    const double start = cnn_now();
    cnn_status status = disturbs_within(m) ? judge_disturb(m->judge, repeats, err) : CNN_OK;
    if (status == CNN_OK) status = run_all(m, repeats, err);
    if (status == CNN_OK) status = cnn_sync(m->session, err);
    if (status == CNN_OK && disturbs_within(m)) status = judge_peek(m->judge, err);
    *seconds = cnn_now() - start;
    judge_returned(m->judge);
    return status;
}

/* `times` times `repeats` runs within one span of the implementation's timer. */
static cnn_status in_timer(const measure *m, int repeats, int times, double *seconds, cnn_error *err)
{
    cnn_timer timer;
    cnn_status status = cnn_timer_start(m->session, &timer, err);
    for (int i = 0; status == CNN_OK && i < times; i++) status = run_all(m, repeats, err);
    return status == CNN_OK ? cnn_timer_stop(m->session, &timer, seconds, err) : status;
}

cnn_status measure_both(measure *m, int times, double *seconds, double *wall, cnn_error *err)
{
    cnn_status status = cnn_sync(m->session, err);
    const double start = cnn_now();
    if (status == CNN_OK) status = in_timer(m, m->repeats, times, seconds, err);
    if (status == CNN_OK) status = cnn_sync(m->session, err); /* what is put off until then is in the clock's time */
    if (status == CNN_OK) status = judge_peek(m->judge, err);
    *wall = cnn_now() - start;
    return status;
}

/* A device's timer, with the harness's clock beside it: it can say less, for a launch takes time, but not more. */
static cnn_status by_timer(measure *m, int repeats, double *seconds, cnn_error *err)
{
    const double start = cnn_now();
    const cnn_status status = in_timer(m, repeats, 1, seconds, err);
    const double wall = cnn_now() - start;
    if (status == CNN_OK && m->lie[0] == '\0' && !(*seconds > 0 && *seconds <= wall))
        snprintf(m->lie, sizeof m->lie, "its timer says %.3g s of what took %.3g s by the harness's clock", *seconds,
                 wall);
    return status;
}

/* Nothing waits for the device between the preparing and the timed run: the host launches the one while the device is
 * busy with the other. */
cnn_status measure_time(measure *m, int repeats, bool prepared, double *seconds, cnn_error *err)
{
    cnn_status status = measure_go_on(m, err);
    if (status == CNN_OK && !disturbs_within(m)) status = judge_disturb(m->judge, repeats, err);
    if (status == CNN_OK) status = cnn_sync(m->session, err);
    if (status == CNN_OK && prepared && m->flush) status = cache_flush_run(m->flush, err);
    if (status == CNN_OK && prepared && m->in_network) status = in_network_run(m->in_network, err);
    if (status == CNN_OK)
        status = m->own_clock ? by_own_clock(m, repeats, seconds, err) : by_timer(m, repeats, seconds, err);
    if (status == CNN_OK) *seconds /= repeats;
    return status;
}
