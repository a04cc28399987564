/* compare.h: two files of records, figure by figure: faster, slower, same, or not to be told.
 *
 * A figure is what has one key: implementation, algorithm, problem, direction, types, threads, knobs, caches. What is
 * judged is the ratio B/A of its two medians, by an interval, not by the ratio itself:
 *
 *   SLOWER, FASTER   the whole interval lies beyond the margin: above 1 + margin, below 1 / (1 + margin)
 *   SAME             the whole interval lies within it
 *   CANNOT TELL      neither, or a run was disturbed or throttled: two such runs differ by more than their samples do
 *
 * The margin is the threshold asked for, or what the A/A control of either run could not resolve, if that is more.
 * Where N figures are compared, each interval holds with 1 - 0.05/N (Bonferroni), so that among all of them the chance
 * of any FASTER or SLOWER between two equal programs is at most 5 %.
 *
 * The 5 % hold for what the samples of the two runs show. What differs between two runs without showing in either (a
 * neighbour that stays for the whole of one, and is not seen as a disturbance) is not in the intervals. */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

#include "harness/record.h"
#include "stats.h"

#define COMPARE_FALSE_POSITIVES 0.05 /* of a whole comparison */

typedef struct figure {
    char *key;
    bench_stats stats; /* as recorded, or of the samples */
    double *samples;   /* in the order in which they were taken; NULL: not recorded */
    double resolution; /* of the run's A/A control; NaN without one */
} figure;

typedef struct figure_fact { /* of the environment: "cpu", "commit", ... */
    char *key, *value;
} figure_fact;

typedef struct figure_set {
    figure *list;
    int count, bad; /* bad: lines that are no records */
    figure_fact *facts;
    int n_facts;
} figure_set;

/* Every verified figure of a file. Where a key comes again, the later record stands; epochs of one setting
 * are samples of one figure. */
cnn_status figures_read(const char *path, figure_set *set, cnn_error *err);
void figures_free(figure_set *set);
const figure *figures_find(const figure_set *set, const char *key); /* NULL without one */
const char *figures_fact(const figure_set *set, const char *key);   /* NULL without one */

typedef enum compare_verdict {
    COMPARE_FASTER,
    COMPARE_SLOWER,
    COMPARE_SAME,
    COMPARE_CANNOT_TELL,
    COMPARE_VERDICT_COUNT
} compare_verdict;

typedef struct comparison {
    double ratio, low, high, margin; /* of medians, B/A; low 0 and high infinite: no interval can be had */
    compare_verdict verdict;
} comparison;

/* `figures`: how many are compared in all; threshold >= 0, 0.05 for 5 %. */
void compare_figures(const figure *a, const figure *b, int figures, double threshold, comparison *result);
const char *compare_verdict_name(compare_verdict verdict);

#endif
