/* compare.h: two files of records, figure by figure: faster, slower, same, or not to be told.
 *
 * A figure is what has one key: implementation, algorithm, problem, direction, types, threads, knobs, caches; in one
 * file, of one machine. (That of the other file may differ, and is a fact of the environment, like a driver's version.)
 * The samples of one run say little of the next: a neighbour stays for the whole of one, memory lies elsewhere. So what
 * is compared are runs: each record of a key is one (`bench --repeat 5`, or the command given five times with the same
 * --out), and its median one number. What is judged is the ratio B/A, by Welch's interval over the runs' logarithms:
 *
 *   SLOWER, FASTER   the whole interval lies beyond the margin: above 1 + margin, below 1 / (1 + margin)
 *   SAME             the whole interval lies within it
 *   CANNOT TELL      neither, or a side has fewer than COMPARE_RUNS runs
 *
 * The margin is the threshold asked for, or what the A/A control of either run could not resolve, if that is more.
 * Records of `bench --processes` are compared otherwise where both stand in one file: compare_rounds.c.
 *
 * Where N figures are compared, each interval holds with 1 - 0.05/N (Bonferroni), so that among all of them the chance
 * of any FASTER or SLOWER between two equal programs is at most 5 %, as long as the runs of both saw the same machine:
 * on a shared one, let A and B take turns. */
#ifndef BENCH_FIGURES_COMPARE_H
#define BENCH_FIGURES_COMPARE_H

#include "harness/record/identity.h"
#include "harness/record/record.h"

#define COMPARE_FALSE_POSITIVES 0.05   /* of a whole comparison */
#define COMPARE_FALSE_DISCOVERIES 0.01 /* of the differences found between fresh processes, the share that is none */
enum { COMPARE_RUNS = 3 };

/* A fresh process of `bench --processes`. */
typedef struct figure_process {
    int64_t round;  /* one number for all that were started one after the other, among all rounds of the file */
    double seconds; /* the process's median */
    bool again;     /* of the arm A', which is the baseline a second time */
} figure_process;

typedef struct figure {
    char *key, *whole, machine[CNN_NAME_MAX]; /* whole: with what is compared across; machine "": not told */
    char build[BUILD_ID_MAX];                 /* of the program and its plug-ins; "": not told */
    double *runs;                             /* their medians, in seconds, in order; without those of the arm A' */
    int n_runs;
    figure_process *processes; /* of rounds, in order */
    int n_processes, process_room;
    double resolution; /* the largest of the runs' A/A controls; NaN without one */
    double near, far;  /* seconds that a cache line took between processors, in any of the runs; 0: not told */
    double *epochs;    /* of the latest run of a training figure, whose median is its runs' last */
    int n_epochs, run; /* run: number of the environment record that the latest stands under */
} figure;

typedef struct figure_fact { /* of the environment: "cpu", "commit", "cuda_naive.gpu", ... */
    char *key, *value;
} figure_fact;

typedef struct figure_set {
    figure *list;
    int count, room, bad; /* bad: lines that are no records */
    int impossible;       /* times that are none: not finite, or not above 0 */
    int environments;
    figure_fact *facts;
    int n_facts, fact_room;
} figure_set;

/* The fields of an environment that a figure depends on, 0, 1 ...; NULL behind the last. */
const char *figures_fact_field(int index);

/* Which figures of a file, all optional. */
typedef struct figure_choice {
    const char *across; /* fields that do not count: "threads,knobs" */
    const char *only;   /* the value of those fields, as figures_values() gives it */
    const char *match;  /* a regular expression (POSIX, extended) that an identity must match */
} figure_choice;

/* Every verified figure that is chosen. CNN_BAD_ARGUMENT where one has runs on two machines, of two builds, or with two
 * values of a field that does not count; or for a bad expression. */
cnn_status figures_read(const char *path, const figure_choice *choice, figure_set *set, cnn_error *err);
/* The values of the fields `across` that the chosen figures have, in the order in which they come: "cpu:direct". */
enum { FIGURE_VALUES_MAX = 32 };
typedef struct figure_values {
    char *list[FIGURE_VALUES_MAX];
    int count;
} figure_values;
cnn_status figures_values(const char *path, const figure_choice *choice, figure_values *values, cnn_error *err);
void figures_values_free(figure_values *values);
void figures_free(figure_set *set);
/* Whether any value of this field of an identity is in both sets. */
bool figures_share(const figure_set *a, const figure_set *b, int field);
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
    double a, b;                     /* geometric means of the runs' medians */
    double ratio, low, high, margin; /* b/a; low 0 and high infinite: no interval can be had */
    compare_verdict verdict;
    int pairs;      /* rounds that both have; 0: they were compared run by run, and what follows says nothing */
    double p, rate; /* that chance alone makes such a difference; corrected for all that are compared */
    int far_slower, far_faster; /* rounds that count for nothing */
    double itself, itself_p;    /* A' by A of the baseline, likewise; NaN without that arm */
} comparison;

/* `figures`: how many are compared in all; threshold >= 0, 0.05 for 5 %. */
void compare_figures(const figure *a, const figure *b, int figures, double threshold, comparison *result);

/* compare_rounds.c. Each round of `bench --processes` has a fresh process of each candidate, one right after the other,
 * in turning order: what the machine does for longer hits all of a round, and is not in their ratio. So the ratios of
 * the rounds are what is judged, by Wilcoxon's signed-rank test without what is far out (signed_rank.h):
 *
 *   SLOWER, FASTER   beyond the margin, at a rate of false discoveries of at most COMPARE_FALSE_DISCOVERIES among all
 *                    that are compared
 *   SAME             the 95 % interval, of this ratio alone, lies within the margin
 *   CANNOT TELL      neither; or A' differs from A, which is the same program
 *
 * All comparisons are gathered first, and corrected for their number; then each is judged, in the same order. */
#define COMPARE_MARGIN 0.01    /* unless another is asked for */
typedef struct compare_rates { /* begins as zeros; free(list) */
    double *list;              /* p of each comparison; once they are corrected, its rate */
    int count, room, next;     /* next: that is judged */
} compare_rates;
/* Of all figures that both sets have, and rounds of them; the sets are of one file. CNN_OUT_OF_MEMORY. */
cnn_status compare_gather(const figure_set sets[2], double threshold, compare_rates *rates, cnn_error *err);
void compare_correct(compare_rates *rates);
/* The next one; result->pairs is 0, and none is taken, where a and b have no round in common. CNN_OUT_OF_MEMORY. */
cnn_status compare_processes(const figure *a, const figure *b, double threshold, compare_rates *rates,
                             comparison *result, cnn_error *err);
/* How far A' is from A over all processes, as a share; NaN without that arm. */
double compare_itself(const figure *f);

const char *compare_verdict_name(compare_verdict verdict);
/* Of CANNOT TELL, why, in a few words: too few runs, or too much noise; "" of the others. */
const char *compare_reason(const figure *a, const figure *b, const comparison *result, char *text, size_t size);

/* What was compared, with both values of what differs: "conv cpu:direct mb2ic16 FWD f32 nchw threads 1 -> 2". */
void compare_name(const figure *a, const figure *b, char *text, size_t size);

/* compare_record.c: as a record of kind `compare`; `across`: what is compared across, or NULL. NULL: no memory. */
cnn_record *compare_record(const figure *a, const figure *b, const comparison *result, const char *across);
/* Facts of the environments that differ, 0, 1 ...; false behind the last. `was`, `is`: NULL where one is not told. */
typedef struct figure_difference {
    const char *key, *was, *is;
} figure_difference;
bool figures_differ(const figure_set *a, const figure_set *b, int index, figure_difference *difference);

/* t such that Student's t with df >= 1 degrees of freedom is farther out, on either side, with probability alpha. */
double student_quantile(double alpha, int df);

#endif
