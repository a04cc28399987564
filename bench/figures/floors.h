/* floors.h: how near each layer of a network comes to its floor, the time below which no kernel can do it: from what
 * `train --profile` recorded and the ceilings of the same machine. */
#ifndef BENCH_FIGURES_FLOORS_H
#define BENCH_FIGURES_FLOORS_H

#include "bench/measure/peaks.h"
#include "bench/profiled.h"
#include "series.h"

#include <stdio.h>

enum { FLOORS_RUNS_MAX = 7, FLOORS_ROWS_MAX = 200 }; /* so many colours are told apart */

/* A run's layer and direction; medians over its epochs. */
typedef struct floors_bar {
    double seconds, share; /* all calls of an epoch; of the epoch */
    double floor_s;        /* 0: the run has no such layer, or there is no ceiling */
    bool moves, doubted;   /* the ceiling is a bandwidth; bears a mark itself */
    char by[3 * CNN_NAME_MAX];
} floors_bar;

typedef struct floors_set {
    profiled_table profiles; /* read */
    bench_peaks peaks;
    char first_date[16], last_date[16]; /* of the environments in the files; "": not told */
    series_set runs;                    /* what is drawn: of one network, batch and machine; how many epochs (count) */
    char job[SERIES_LABEL_MAX];         /* "network thesis, batch 100" */
    struct floors_row {
        char layer[CNN_NAME_MAX];
        cnn_dir dir;
        floors_bar bars[FLOORS_RUNS_MAX];
    } rows[FLOORS_ROWS_MAX]; /* in the network's order, its directions together; the last: all of them, layer "" */
    int n_rows;
    int left_out; /* profiled passes of other networks, batches or machines */
} floors_set;

/* Adds the profiles and ceilings of a file; *bad counts the lines that are no records. */
cnn_status floors_read(floors_set *set, const char *path, int *bad, cnn_error *err);
/* The bars. CNN_BAD_ARGUMENT where there are no profiles, where they do not tell of bytes, or where ceilings lack. */
cnn_status floors_make(floors_set *set, cnn_error *err);
/* A gnuplot_put (gnuplot.h) of a floors_set, for plots/floor.gp. */
cnn_status floors_picture(FILE *to, void *set, cnn_error *err);
void floors_free(floors_set *set); /* what it holds, not itself */

#endif
