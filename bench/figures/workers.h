/* workers.h: from epoch records to speedup and efficiency over threads, or over the workers of --parallel exemplar. */
#ifndef BENCH_FIGURES_WORKERS_H
#define BENCH_FIGURES_WORKERS_H

#include "series.h"

/* A curve's points have their count of workers or threads as `batch`, and as `seconds` those of training in the fastest
 * epoch: what else a machine does makes none faster, and with fewer threads than cores it shows less. */
typedef struct workers_set {
    series_set curves;              /* those published behind the others */
    char network[SERIES_LABEL_MAX]; /* that all train, and on what; "": it differs */
    bool workers, threads;          /* whether there are curves over the one, and over the other */
    int left_out;                   /* curves without a point of 1, or with nothing else */
} workers_set;

/* CNN_BAD_ARGUMENT where no curve can be drawn. */
cnn_status workers_make(const epoch_table *table, workers_set *set, cnn_error *err);
/* Karv's figures 2 and 5 (plots/karv_workers.dat), beside his network by workers. */
cnn_status workers_add_published(workers_set *set, cnn_error *err);
void workers_free(workers_set *set);
/* A gnuplot_put (gnuplot.h) of a workers_set, for plots/workers.gp. */
cnn_status workers_picture(FILE *to, void *set, cnn_error *err);

#endif
