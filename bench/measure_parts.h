/* measure_parts.h: what the files of the measurement share: measure.c takes samples, measure_set_up.c comes before the
 * first of them, measure_run.c runs and times for both. */
#ifndef BENCH_MEASURE_PARTS_H
#define BENCH_MEASURE_PARTS_H

#include "amid.h"
#include "flush.h"
#include "measure.h"

struct measure {
    const cnn_session *session;
    const vf_case *c;
    measure_params params;
    cnn_plan plan;
    bool planned;
    void *buffers[CNN_MAX_OPERANDS], *workspace;
    cache_flush *flush; /* NULL: not cold */
    amid *amid;         /* NULL: not in a network */
    int repeats;
    cnn_graph *graph; /* `repeats` runs, where the device can replay them and nothing comes in between */
    double direct;    /* seconds a run, launched one by one by the host; NaN without a graph */
    sampling sampling;
    measure_costs costs;
    clock_watch *own_watch; /* NULL: the caller's */
    const clock_watch *watch;
    clock_report clocks;
};

/* Whether something is done to the caches before each sample. */
static inline bool measure_prepares(const measure *m) { return m->flush != NULL || m->amid != NULL; }

/* measure_run.c.
 *
 * Seconds a run of `repeats` in a row: replayed where there is a graph of just so many, else launched one by one. With
 * `prepared`, the caches are brought into their state first. */
cnn_status measure_time(measure *m, int repeats, bool prepared, double *seconds, cnn_error *err);
cnn_status measure_run(const measure *m, cnn_error *err);   /* once, not timed */
cnn_status measure_go_on(const measure *m, cnn_error *err); /* CNN_OK, or CNN_INTERRUPTED where params.stop() says so */
/* Outputs get NaN, so that what is checked later was really written; what is updated in place, and with `inputs` all
 * else, the case's values. */
cnn_status measure_reset(measure *m, bool inputs, cnn_error *err);

/* measure_set_up.c: plans, allocates, fills, warms up, finds `repeats`, captures. */
cnn_status measure_set_up(measure *m, const cnn_algorithm *algorithm, cnn_error *err);

#endif
