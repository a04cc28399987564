/* stats.h: what is said of a set of timings. Order statistics only: a timing's distribution has a long right tail, for
 * which means and standard deviations mislead. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <stdbool.h>

/* Seconds, except `count` and `noise`. */
typedef struct bench_stats {
    int count;
    double min, q1, median, q3, max; /* quartiles by linear interpolation (type 7 of Hyndman and Fan) */
    double low, high; /* 95 % interval of the median from order statistics; [min, max] below six samples, which are too
                         few for 95 % */
    double noise;     /* (high - low) / 2 / median: how far off the median may be, as a share; NaN for one sample */
} bench_stats;

/* The statistics of samples[0..count-1], count >= 1. `sorted` is room for `count` values and receives them sorted. */
void bench_stats_of(const double *samples, int count, double *sorted, bench_stats *stats);

/* Whether the median is not known within 5 %, or rests on too few samples to say so. */
bool bench_noisy(const bench_stats *stats);

/* The quantile p in [0,1] of sorted values, type 7. */
double bench_quantile(const double *sorted, int count, double p);

/* The rank k (from 1) such that the k-th smallest and the k-th largest of `count` samples enclose the median with a
 * probability of at least 95 %; 0 if no k does (count < 6). */
int bench_median_rank(int count);

#endif
