/* bars.h: times as bars: of single operations a group a problem and direction, a bar an algorithm of an implementation;
 * of whole processes a group a command, a colour a file that was imported; of other programs' benchmarks (import) a
 * group each. */
#ifndef BENCH_FIGURES_BARS_H
#define BENCH_FIGURES_BARS_H

#include "harness/cnn.h"
#include "harness/problem/find_file.h"
#include "harness/problem/problem.h"
#include "harness/record/record.h"

#include <stdio.h>

/* Sixteen colours are told apart, and none is used twice. */
enum { BARS_CURVES_MAX = 16, BARS_GROUPS_MAX = 64, BARS_RUNS_MAX = 64, BARS_TEXT_MAX = 256 };

/* What one algorithm took for one problem: seconds. */
typedef struct bars_cell {
    double runs[BARS_RUNS_MAX]; /* medians, of each time it was measured */
    int count;
    double seconds;       /* the median of these; NaN: none */
    double plan_s;        /* making its plan, descriptors and searches included; NaN: not recorded */
    double launch_s;      /* what a launch by the host adds; NaN: not recorded */
    double published;     /* how many times as long as another one's, as published; NaN: it is not */
    double of_s;          /* that other one's seconds; NaN: not measured */
    double low_s, high_s; /* of whole processes the fastest and the slowest; NaN: not recorded */
    int samples;          /* how many processes; 0: not recorded */
    unsigned marks;
} bars_cell;

typedef struct bars_set {
    const char *impl; /* NAME[:ALGORITHM], comma-separated globs: what is drawn; NULL: all */
    const char *dir;  /* FWD, BWD_D or BWD_W, comma-separated; NULL: all */
    char curves[BARS_CURVES_MAX][BARS_TEXT_MAX];
    struct bars_group {
        char problem[CNN_PROBLEM_TEXT_MAX], dir[16], type[64], name[BARS_TEXT_MAX];
    } groups[BARS_GROUPS_MAX];
    int n_curves, n_groups;
    bars_cell cells[BARS_GROUPS_MAX][BARS_CURVES_MAX];
    char machine[CNN_NAME_MAX]; /* the first figure's; what others took is left out */
    int left_out;
    bool plans;     /* the picture is of plans and launches; else of times and what was published */
    bool published; /* something is */
    bool operations, processes, benchmarks, untold; /* of which kinds there are; the machine of some is not told */
    char from[16], to[16];                          /* dates of whole processes; empty: not told */
} bars_set;

/* Adds the timed operations of a file; *bad counts the lines that are no records. CNN_BAD_ARGUMENT for more than
 * BARS_CURVES_MAX algorithms or BARS_GROUPS_MAX problems. */
cnn_status bars_read(bars_set *set, const char *path, int *bad, cnn_error *err);
/* The medians; which factors were published (plots/awnn_figure_7.dat). CNN_BAD_ARGUMENT where there is nothing. */
cnn_status bars_make(bars_set *set, cnn_error *err);
bool bars_have_plans(const bars_set *set);
/* A gnuplot_put (gnuplot.h) of a bars_set, for plots/bars.gp. */
cnn_status bars_picture(FILE *to, void *set, cnn_error *err);
/* bars_processes.c: whether there are whole processes alone; these have a picture of their own, plots/processes.gp. */
bool bars_of_processes(const bars_set *set);
cnn_status bars_processes_picture(FILE *to, void *set, cnn_error *err);
/* A text of at most so many letters: its middle is left out where it is longer. */
void bars_shorten(const char *text, int most, char *room, size_t size);

#endif
