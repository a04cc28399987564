/* parts.h: what the files of the measurement share: measure.c takes samples, set_up.c comes before the
 * first of them, run.c runs and times for both. */
#ifndef BENCH_MEASURE_PARTS_H
#define BENCH_MEASURE_PARTS_H

#include "harness/cpu/busy.h"
#include "harness/net/net.h"
#include "judge.h"
#include "measure.h"
#include "verify/oracle/case.h"

typedef struct cache_flush cache_flush;
typedef struct in_network in_network;

typedef struct measure_crowd {
    busy_work work;
    int runs; /* 0: nobody has looked yet */
} measure_crowd;

struct measure {
    const cnn_session *session;
    const vf_case *c;
    measure_params params;
    cnn_plan plan;
    bool planned;
    judge *judge;           /* the operands, and whether what is timed is right */
    cache_flush *flush;     /* NULL: not cold */
    in_network *in_network; /* NULL: not in a network */
    int repeats;
    cnn_graph *graph; /* `repeats` runs, where the device can replay them and nothing comes in between */
    double direct;    /* seconds a run, launched one by one by the host; NaN without a graph */
    bool own_clock;   /* the harness's clock around the run and the wait for it: of what runs on the host */
    double empty;     /* seconds by the harness's clock around a timer of nothing */
    char lie[200];    /* what a timer said that cannot be, or threads that were not asked for; "": nothing */
    measure_crowd crowd;
    double last; /* seconds that the last sample took */
    sampling sampling;
    measure_costs costs;
    clock_watch *watch;
    clock_report clocks;
};

/* Whether something is done to the caches before each sample. */
static inline bool measure_prepares(const measure *m) { return m->flush != NULL || m->in_network != NULL; }

/* run.c.
 *
 * Seconds a run of `repeats` in a row: replayed where there is a graph of just so many, else launched one by one. The
 * inputs have changed before (judge.h). With `prepared`, the caches are brought into their state first. */
cnn_status measure_time(measure *m, int repeats, bool prepared, double *seconds, cnn_error *err);
/* `times` samples' runs in one go, by the timer and by the harness's clock. */
cnn_status measure_both(measure *m, int times, double *seconds, double *wall, cnn_error *err);
/* Once, not timed; `back` others follow it in this sample. */
cnn_status measure_run(const measure *m, int back, cnn_error *err);
cnn_status measure_go_on(const measure *m, cnn_error *err); /* CNN_OK, or CNN_INTERRUPTED where params.stop() says so */

/* threads.c: the run before the samples of a turn, whose threads are counted once where it is long enough.
 * Then, behind the last sample, whether runs compute in no more threads than the session has, by that run or by some
 * more. */
cnn_status measure_begin_turn(measure *m, cnn_error *err);
cnn_status measure_threads(measure *m, cnn_error *err);

/* flush.c: empties the caches of a session's device by writing through a buffer larger than they are. hands: fills
 * first, where it is another session: what is judged might leave its own caches alone. */
cnn_status cache_flush_open(const cnn_session *session, const cnn_session *hands, cache_flush **flush, cnn_error *err);
cnn_status cache_flush_run(cache_flush *flush, cnn_error *err);
void cache_flush_close(cache_flush *flush); /* NULL is accepted */

/* in_network.c: the layers around an operation, for timing it as it runs in a network. Before each sample a whole
 * training step of the network runs, in buffers of its own, so that the caches hold what a step leaves in them; then
 * what the neighbouring layer hands over (x going forward, dy going back) is written afresh, as that layer would have
 * just done. */
/* For an operation of `c` whose operands stand in `buffers`, filled; all of them must outlive it. CNN_OUT_OF_MEMORY
 * when the network does not fit beside them. */
cnn_status in_network_open(const cnn_session *session, const cnn_network *network, const vf_case *c,
                           void *const *buffers, in_network **result, cnn_error *err);
/* Everything is on its way when this returns; on a device it may not have happened yet. */
cnn_status in_network_run(in_network *a, cnn_error *err);
void in_network_close(in_network *a); /* NULL is accepted */

/* set_up.c: plans, allocates, fills, warms up, finds `repeats`, captures. */
cnn_status measure_set_up(measure *m, const measure_setting *setting, cnn_error *err);

#endif
