/* measure.h: times one operation with one algorithm, sample by sample, and judges what the runs leave behind (judge.h).
 *
 *   measure *m;
 *   measure_open(&session, &setting, &m, &err);
 *   while (!measure_done(m)) measure_turn(m, &err);        several of them by turns: A B, B A, A B, ...
 *   measure_finish(m, &result, &err);
 *   measure_close(m);
 *
 * A sample is the time of `repeats` runs divided by their number; repeats is 1 but for kernels so short that the clock
 * and the loop around them would be measured. Where the device can replay captured work, a sample is a replay of
 * `repeats` runs, so that what the host takes to launch them is not in it. Turns last some milliseconds, so that
 * algorithms that are compared see the same drifts of the machine; each begins with a run that is not timed, since the
 * others have used the caches.
 *
 * The caches are hot (the run before was the same one), cold (flushed before each sample), or as in a network
 * (in_network.c). Then a sample is a single run; on a device it is launched while the flushing still goes on, which
 * hides the launch.
 *
 * Inputs are the verifier's random reals, never zeros or constants, which some hardware computes faster or cooler, nor
 * denormal numbers, which some computes far slower; some elements change from run to run. What a run updates in place
 * goes on from what the last one left. */
#ifndef BENCH_MEASURE_MEASURE_H
#define BENCH_MEASURE_MEASURE_H

#include "clocks.h"
#include "harness/device/impl.h"
#include "harness/net/net.h"
#include "judge.h"
#include "peaks.h"
#include "sampling.h"
#include "verify/oracle/case.h"

struct candidate; /* candidates.h */
typedef struct measure_params {
    double min_time, max_time;  /* seconds spent, judging included: at least (unless max_time comes first); at most */
    double noise;               /* stop when the median is known this well, as a share */
    double warm_up;             /* seconds of runs before the first sample; three runs at least */
    bool cold;                  /* caches flushed before every sample */
    const cnn_network *network; /* (optional) before every sample a step of it: caches as in a network; not with cold */
    bool (*stop)(void);         /* asked before every sample; true ends with CNN_INTERRUPTED. NULL: never */
    bool control;               /* candidates.h: the first candidate also against itself */
    /* (optional) candidates.h: told of each candidate before its code is called, so that it can be named when it ends
     * the process; NULL: nobody is in hand. */
    void (*in_hand)(void *user, const struct candidate *c);
    void *in_hand_user;
    bool samples;             /* candidates.h: all samples into the record */
    const bench_peaks *peaks; /* (optional) candidates.h: the ceilings for floor_s and share */
    /* (optional) candidates.h: a figure is beyond a ceiling: measures these anew, a few times a run at most, where they
     * are kept ones or in doubt. */
    cnn_status (*peaks_again)(void *user, cnn_error *err);
    void *peaks_user;
} measure_params;

/* What measure_params.noise usually is: well below what bench_noisy() calls noisy. */
#define MEASURE_NOISE 0.02

typedef struct measure measure;

/* What comes before the steady state, in seconds. Not in `stats`, and not to be added up with them. */
typedef struct measure_costs {
    double plan_s;               /* supports, workspace, prepare: a search of algorithms shows here */
    double setup_s;              /* allocating the buffers */
    double upload_s, download_s; /* the operands, host to device; the outputs, back; 0 where memory is the host's */
    size_t upload_bytes, download_bytes;
    double first_s, warm_up_s; /* the first run, by the wall clock; all runs before the first sample */
    double clock_s;            /* what the timer shows around nothing at all */
    double own_clock_s;        /* a run by the harness's clock, launching and waiting with it; NaN: it is the timer */
} measure_costs;

typedef struct measure_result {
    bench_stats stats;     /* of the samples: seconds a run; its marks include those of the clocks */
    const double *samples; /* stats.count of them, in the order in which they were taken; the measure owns them */
    int repeats;
    size_t workspace_bytes;
    double launch_s;    /* what a launch by the host adds to a run, where samples are replays of a graph; else NaN */
    const char *choice; /* what a searching algorithm settled on, or "" */
    measure_costs costs;
    clock_report clocks;
    verify_result check; /* of the timed runs (judge.h): PASSED, or the figures are worth nothing */
    judge_count judged;
} measure_result;

/* What is timed, and how. `c` gives problem, direction and data, and must outlive the measure; so must `watch`, of the
 * session (NULL: nothing is told of clocks). basis: see judge.h. */
typedef struct measure_setting {
    const vf_case *c;
    const cnn_algorithm *algorithm;
    clock_watch *watch;
    const measure_params *params;
    judge_basis **basis;
} measure_setting;

/* Plans, allocates, uploads the case's operands and warms up. CNN_UNSUPPORTED with the reason; CNN_OUT_OF_MEMORY before
 * anything is allocated. */
cnn_status measure_open(const cnn_session *session, const measure_setting *setting, measure **result, cnn_error *err);
void measure_close(measure *m); /* NULL is accepted */

bool measure_done(const measure *m);
cnn_status measure_turn(measure *m, cnn_error *err); /* at least one sample */
/* One more run, on the case's own inputs, all of its outputs compared; a device's timer against the harness's clock;
 * then the statistics. Call it once. */
cnn_status measure_finish(measure *m, measure_result *result, cnn_error *err);

#endif
