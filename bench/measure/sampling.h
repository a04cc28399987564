/* sampling.h: when enough samples have been taken. It knows no clock and no device: it is told each sample and what the
 * taking cost, and says whether to go on; so it can be tried with any stream of numbers. It always wants a first
 * sample, and SAMPLING_FEWEST where these take no longer than SAMPLING_PATIENCE seconds, whatever the most time: one
 * run that is right says little. It always comes to an end: by what is known, by time spent, or, should every clock
 * stand still, by their number. */
#ifndef BENCH_MEASURE_SAMPLING_H
#define BENCH_MEASURE_SAMPLING_H

#include "harness/cnn.h"
#include "stats.h"

typedef struct sampling_rules {
    double min_time, max_time; /* seconds spent at least, and at most */
    double noise;              /* enough is known when the median is known this well, as a share, and does not drift */
} sampling_rules;

typedef struct sampling {
    sampling_rules rules;
    double *samples, *sorted; /* every one, in the order taken; room for the statistics */
    int count, capacity;
    double spent; /* seconds, on samples and all around them; the caller's to add to */
    bool known;   /* as well as the rules ask, when last looked at */
    int look_at;  /* the number of samples at which to look again */
} sampling;

/* LEAST: to say how well the median is known. */
enum { SAMPLING_FEWEST = 3, SAMPLING_LEAST = 6, SAMPLING_MOST = 200000 };
enum { SAMPLING_PATIENCE = 1 };

/* Room for one more sample: call it before taking one. */
cnn_status sampling_reserve(sampling *s, cnn_error *err);
void sampling_add(sampling *s, double seconds);
bool sampling_done(const sampling *s);
void sampling_stats(sampling *s, bench_stats *stats); /* of at least one sample */
void sampling_free(sampling *s);

#endif
