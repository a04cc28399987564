/* stats.h: what is said of a set of timings. Order statistics only: a timing's distribution has a long right tail, for
 * which means and standard deviations mislead.
 *
 * The interval of the median is made of two of the samples themselves: it holds for any distribution. It would be too
 * narrow where samples that follow each other are alike (a neighbour that comes and goes, a clock that drifts), so the
 * number of samples is first divided by `dependence`, how many samples in a row say as much as one. */
#ifndef BENCH_MEASURE_STATS_H
#define BENCH_MEASURE_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* What is wrong with a figure: X(id, name, what it means). The first five are told from the samples alone. */
#define BENCH_MARKS(X)                                                                                                 \
    X(FEW, "few", "fewer samples than an interval of the median needs: give more time: a longer --max-time")           \
    X(NOISY, "noisy",                                                                                                  \
      "the median is not known within 3 %: close other programs, or give more time: a longer --max-time")              \
    X(DRIFTING, "drifting", "the second half of the samples differs from the first: try a longer --warm-up")           \
    X(SPREAD, "spread", "the quartiles are more than 10 % apart")                                                      \
    X(OUTLIERS, "outliers", "more than 5 % of the samples are far out")                                                \
    X(COARSE, "coarse", "the clock is too coarse for so short a sample")                                               \
    X(DISTURBED, "disturbed", "other work took more than 5 % of the processors meanwhile: end it, and measure again")  \
    X(THROTTLED, "throttled", "the device lowered its clock for heat or power meanwhile")                              \
    X(CEILING, "ceiling", "its share is in doubt: the figure beats the ceiling, or that one is marked itself")         \
    X(UNWATCHED, "unwatched", "this build reaches its device by its own upload and download only, and trusts them")    \
    X(APART, "apart", "its processors are farther apart than before, or were: their host moved them: measure again")
enum {
#define X(id, name, text) BENCH_MARK_##id##_BIT,
    BENCH_MARKS(X)
#undef X
        BENCH_MARK_COUNT
};
enum {
#define X(id, name, text) BENCH_##id = 1 << BENCH_MARK_##id##_BIT,
    BENCH_MARKS(X)
#undef X
};

/* Seconds, except `count` and what is said to be a share. */
typedef struct bench_stats {
    int count;
    double min, q1, median, q3, max; /* quartiles by linear interpolation (type 7 of Hyndman and Fan) */
    double low, high;  /* 95 % interval of the median from order statistics; [min, max] where these are too few */
    double noise;      /* (high - low) / 2 / median: how far off the median may be, as a share; NaN for one sample */
    double dependence; /* how many samples say as much as an independent one, >= 1 */
    double drift;      /* median of the second half less that of the first, as a share; NaN below 12 samples */
    int outliers;      /* samples above q3 by more than 3 interquartile ranges (Tukey's outer fence) */
    unsigned marks;    /* BENCH_FEW ... */
} bench_stats;

/* The statistics of samples[0..count-1], count >= 1, in the order in which they were taken. `sorted` is room for
 * `count` values and receives them sorted. */
void bench_stats_of(const double *samples, int count, double *sorted, bench_stats *stats);

/* Whether the figure is not to be relied on: its median is not known within 3 %, rests on too few samples to say so, or
 * drifts. */
bool bench_noisy(const bench_stats *stats);
/* Whether `other` may be as fast as `best`: their intervals meet, or their medians differ by no more than the share
 * `resolution`; NaN adds nothing. */
bool bench_tied(const bench_stats *best, const bench_stats *other, double resolution);
/* "noisy,drifting", or "". */
const char *bench_marks_text(unsigned marks, char *text, size_t size);
unsigned bench_marks_of(const char *text); /* the other way round; unknown names are no marks, nor is NULL */
/* "11.2 µs": three digits and a unit. */
void bench_time_text(double seconds, char *text, size_t size);
/* The name of a single mark's bit (0 ... BENCH_MARK_COUNT - 1), and what it means in a sentence. */
const char *bench_mark_name(int bit);
const char *bench_mark_meaning(int bit);

/* The quantile p in [0,1] of sorted values, type 7. */
double bench_quantile(const double *sorted, int count, double p);

double bench_median(double *values, int count); /* sorts them */

/* The rank k (from 1) such that the k-th smallest and the k-th largest of `count` samples enclose the median with a
 * probability of at least 95 %; 0 if no k does (count < 6). */
int bench_median_rank(int count);

#endif
