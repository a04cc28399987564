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
 * answer.
 *
 * The problems may be counted in groups, too, of those that agree in some fields: each direction by itself, say. */
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
    const char *by; /* "dir,math": fields of a record, whose values make groups; NULL: none. `batch` of an operation
                       that has none is its problem's mb */
} solved_request;

typedef enum solved_state { SOLVED_NOT_ASKED, SOLVED_REFUSED, SOLVED_WRONG, SOLVED_RIGHT } solved_state;

/* A candidate's answer to a problem. */
typedef struct solved_answer {
    solved_state state;
    double seconds, low, high; /* of the fastest of what is right; low, high: NaN where there is no interval */
    double ratio;              /* times as long as the fastest, or as fast as the baseline; NaN where it is not right */
    bool fastest;              /* its interval meets the fastest's */
    bool sure;                 /* with a baseline: its interval lies wholly below the baseline's */
} solved_answer;

/* What a candidate's answers come to: to all problems, or to a group's. */
typedef struct solved_count {
    int problems, right, wrong, refused, not_asked;
    int fastest;         /* of those where it is right */
    int sure;            /* with a baseline */
    double mean, median; /* of the ratios where it is right, the geometric mean; NaN where it is right nowhere */
    double worst;        /* ratio: the largest, with a baseline the smallest; NaN likewise */
    int worst_problem;   /* -1: none */
} solved_count;

typedef struct solved_candidate {
    char label[SOLVED_LABEL_MAX]; /* "cpu:direct isa=1", "cpu", "kernel conv.c:conv"; with threads and machine where
                                     candidates differ in them */
    char source[CNN_NAME_MAX];    /* of `--kernel`: "conv.c:conv, 79e318be88d4bb70"; else "" */
    char impl[CNN_NAME_MAX], algorithm[CNN_NAME_MAX], knobs[CNN_NAME_MAX], machine[CNN_NAME_MAX];
    int threads;      /* 0: not told */
    solved_count all; /* of all problems */
} solved_candidate;

typedef struct solved_problem {
    int group;  /* number in solved_set.groups; 0 without any */
    char *name; /* for people: "resnet50_stem FWD" */
} solved_problem;

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
    figure_names groups;                /* the values of request.by, one behind the other, each ended by a line feed */
    solved_problem *asked;              /* by number of a problem */
    int n_asked, asked_room;
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

/* ---- solved_count.c */

enum { SOLVED_ALL = -1 }; /* a group: all problems */
/* The number of the group that a record belongs to. -1: CNN_OUT_OF_MEMORY. */
int solved_group_of(solved_set *set, const cnn_record *record, cnn_error *err);
/* Whether any problem that is counted is in the group. */
bool solved_has(const solved_set *set, int group);
cnn_status solved_count_answers(const solved_set *set, int candidate, int group, solved_count *count, cnn_error *err);

/* A gnuplot_put (gnuplot.h) of a solved_set, for plots/solved.gp. CNN_BAD_ARGUMENT for more than SOLVED_CURVES_MAX. */
cnn_status solved_picture(FILE *to, void *set, cnn_error *err);
/* A candidate's answers to a group or to SOLVED_ALL as a record for tables, of kind "solved", which is in no file. NULL
 * when out of memory. */
cnn_record *solved_record(const solved_set *set, int candidate, int group);

#endif
