/* solved.h: of how many problems each algorithm has the right answer, and how fast: records of many problems in one
 * number and one curve a candidate.
 *
 * - Without a baseline: of what share of the problems it is right and takes at most so many times as long as the
 * fastest of all: Dolan and Moré, "Benchmarking optimization software with performance profiles" (2002).
 * - With one: of what share it is right and at least p times as fast as the baseline: fast_p of Ouyang et al.,
 *   "KernelBench: Can LLMs Write Efficient GPU Kernels?" (2025). fast_0 is the share that is right.
 *
 * A problem is what record_identity() calls a task: operation, descriptor, direction, types, layout, caches. All
 * candidates are held to the same problems: those that any was asked, or of these what the baseline has timed. Where
 * one is wrong in any of its runs it is wrong there, however fast; where it refused, or was not asked, it has no
 * answer. */
#ifndef BENCH_FIGURES_SOLVED_H
#define BENCH_FIGURES_SOLVED_H

#include "harness/cnn.h"
#include "harness/record/record.h"
#include "names.h"

#include <stdio.h>

enum { SOLVED_CURVES_MAX = 16, SOLVED_LABEL_MAX = 3 * CNN_NAME_MAX };

typedef struct solved_request {
    const char *impl;     /* NAME[:ALGORITHM], comma-separated globs: a NAME alone at its fastest algorithm and knobs,
                             problem by problem. NULL: each algorithm that is not the baseline */
    const char *baseline; /* likewise: the fastest of these at each problem. NULL: none */
} solved_request;

typedef enum solved_state { SOLVED_NOT_ASKED, SOLVED_REFUSED, SOLVED_WRONG, SOLVED_RIGHT } solved_state;

/* A candidate's answer to a problem. */
typedef struct solved_answer {
    solved_state state;
    double seconds, low, high; /* of the fastest of what is right; low, high: NaN where there is no interval */
    double ratio;              /* times as long as the fastest, or as fast as the baseline; NaN where it is not right */
} solved_answer;

typedef struct solved_candidate {
    char label[SOLVED_LABEL_MAX]; /* "cpu:direct isa=1", "cpu", "kernel conv.c:conv"; with threads and machine where
                                     candidates differ in them */
    char source[CNN_NAME_MAX];    /* of `--kernel`: "conv.c:conv, 79e318be88d4bb70"; else "" */
    char impl[CNN_NAME_MAX], algorithm[CNN_NAME_MAX], knobs[CNN_NAME_MAX], machine[CNN_NAME_MAX];
    int threads;                          /* 0: not told */
    int right, wrong, refused, not_asked; /* problems */
    int fastest;    /* of those where it is right: its interval meets the fastest's (with a baseline, too) */
    int sure;       /* with a baseline: its interval lies wholly below the baseline's */
    double speedup; /* geometric mean over the problems where it is right; NaN without a baseline */
} solved_candidate;

/* One algorithm with its knobs, at one problem. */
typedef struct solved_figure {
    int candidate, problem; /* candidate -1: of the baseline alone */
    bool base, wrong, refused;
    double *runs; /* medians */
    int n_runs, room;
    double low, high;
} solved_figure;

typedef struct solved_set {
    solved_request request;
    figure_names problems, names, keys; /* names: of candidates; keys: of figures */
    solved_candidate *candidates;
    int candidate_room;
    solved_figure *figures;
    int n_figures, figure_room;
    /* When all are read: */
    int n_candidates, n_problems;
    int left_out;                    /* problems that the baseline has not timed */
    solved_answer *answers;          /* [candidate][problem] */
    char baseline[SOLVED_LABEL_MAX]; /* "cpu:direct, cpu:im2col": whose figures are the baseline; "" without one */
    char from[16], to[16];           /* days of the records; empty: not told */
    char source[CNN_NAME_MAX];       /* while reading: the kernel that the latest run has compiled */
} solved_set;

/* Adds the timed operations of a file; *bad counts the lines that are no records. set->request comes first, and its
 * texts must outlive the set. */
cnn_status solved_read(solved_set *set, const char *path, int *bad, cnn_error *err);
/* When all are read. CNN_BAD_ARGUMENT, with the reason, where there is nothing to count. */
cnn_status solved_make(solved_set *set, cnn_error *err);
void solved_free(solved_set *set);

static inline solved_answer *solved_at(const solved_set *set, int candidate, int problem)
{
    return &set->answers[(size_t)candidate * (size_t)set->n_problems + (size_t)problem];
}
/* The share of the problems where a candidate is right and within `factor` of the fastest, or at least that many times
 * as fast as the baseline: 0 to 1. */
double solved_share(const solved_set *set, int candidate, double factor);

/* A gnuplot_put (gnuplot.h) of a solved_set, for plots/solved.gp. CNN_BAD_ARGUMENT for more than SOLVED_CURVES_MAX. */
cnn_status solved_picture(FILE *to, void *set, cnn_error *err);
/* A candidate as a record for tables, of kind "solved", which is in no file. NULL when out of memory. */
cnn_record *solved_record(const solved_set *set, int candidate);

#endif
