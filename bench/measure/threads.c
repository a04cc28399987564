/* threads.c: whether an operation on the host computes in no more threads than it was given. */
#include "parts.h"

#include "harness/base/clock.h"

#include <time.h>

/* At least so long is looked; up to so much is done by threads beyond those asked for before anybody is accused. */
static const double long_enough = 2e-3, share_allowed = 0.1;
/* Work that is handed from one thread to another, which one does at a time, costs up to so much a run: what is less is
 * held against it only where threads computed at the same time. */
static const double handing_over = 50e-6;

static bool is_too_many(const measure_crowd *c, int asked)
{
    const busy_work *w = &c->work;
    if (!(w->beyond > share_allowed * w->seconds)) return false;
    return w->beyond > handing_over * c->runs || w->seconds > (1 + share_allowed) * asked * w->wall;
}

/* A run, and the waiting for it. */
static cnn_status run(const measure *m, cnn_error *err)
{
    const cnn_status status = measure_run(m, 0, err);
    return status == CNN_OK ? cnn_sync(m->session, err) : status;
}

cnn_status measure_begin_turn(measure *m, cnn_error *err)
{
    busy_span span;
    double ignored;
    const bool counts = m->own_clock && m->crowd.runs == 0 && m->costs.first_s > long_enough;
    if (counts) busy_start(&span);
    const cnn_status status = measure_time(m, 1, false, &ignored, err);
    if (counts) m->crowd = (measure_crowd){busy_stop(&span, m->session->threads), 1};
    return status;
}

/* Some runs, as they are timed; the changing of their inputs is the harness's own work. */
static cnn_status look(measure *m, cnn_error *err)
{
    busy_span span;
    cnn_status status = CNN_OK;
    const double start = cnn_now();
    int runs = 0;
    for (busy_start(&span); status == CNN_OK && (runs == 0 || cnn_now() - start < long_enough); runs++) {
        status = measure_go_on(m, err);
        busy_pause(&span);
        if (status == CNN_OK) status = judge_disturb(m->judge, 1, err);
        if (status == CNN_OK) status = cnn_sync(m->session, err);
        busy_go_on(&span);
        if (status == CNN_OK) status = run(m, err);
    }
    m->crowd = (measure_crowd){busy_stop(&span, m->session->threads), runs};
    return status;
}

static void accuse(measure *m, int asked)
{
    const busy_work *w = &m->crowd.work;
    snprintf(
        m->lie, sizeof m->lie,
        "it keeps %d threads busy where %d %s asked for, and %.0f %% of its processor time is beyond: compute in no "
        "more than cnn_open_params.threads, and let those that wait sleep",
        w->threads > asked ? w->threads : asked + 1, asked, asked == 1 ? "was" : "were", 100 * w->beyond / w->seconds);
}

/* Threads of a library or of another candidate may spin for a while after their work: some tenths of a second (OpenBLAS
 * does so when it is loaded). While they do, threads that ended cannot be counted: one is clear after an exact look, or
 * after looks that lasted longer than all that. Who is accused was seen every time. */
cnn_status measure_threads(measure *m, cnn_error *err)
{
    enum { TRIES = 9 };
    const int asked = m->session->threads;
    struct timespec pause = {.tv_nsec = 1000000};
    if (!m->own_clock) return CNN_OK;
    for (int i = 0; i < TRIES; i++, pause.tv_nsec *= 2) {
        if (i > 0) nanosleep(&pause, NULL);
        const cnn_status status = i == 0 && m->crowd.work.wall > long_enough ? CNN_OK : look(m, err);
        if (status != CNN_OK) return status;
        const bool clear = m->crowd.work.exact || m->crowd.work.seconds == 0;
        if (clear && !is_too_many(&m->crowd, asked)) return CNN_OK;
    }
    if (is_too_many(&m->crowd, asked)) accuse(m, asked);
    return CNN_OK;
}
