/* curves.h: from epoch records to learning curves: loss and accuracy over epochs and over the seconds of training, a
 * line a run. */
#ifndef BENCH_FIGURES_CURVES_H
#define BENCH_FIGURES_CURVES_H

#include "series.h"

/* A run is epochs of one setting, seed and batch size included, that follow each other: an epoch that does not follow
 * the last one begins another run. */
typedef struct curves_point {
    int run;
    const epoch_row *row;
    double trained_s; /* of the run's training, up to this epoch's end */
} curves_point;

typedef struct curves_set {
    series_set runs;                /* their names and facts: no points */
    char network[SERIES_LABEL_MAX]; /* that all train, and on what; "": it differs */
    curves_point *points;           /* in the order of the records */
    int count, capacity;
    int diverged; /* epochs that are left out: their loss is no number that could be drawn */
} curves_set;

/* The table must outlive the set. CNN_BAD_ARGUMENT for more than SERIES_MAX runs, and where no epoch can be drawn. */
cnn_status curves_make(const epoch_table *table, curves_set *set, cnn_error *err);
void curves_free(curves_set *set);
/* The first epoch of a run whose test accuracy is `share` of its last one's or more. */
const curves_point *curves_goal(const curves_set *set, int run, double share);
/* A gnuplot_put (gnuplot.h) of a curves_set, for plots/curves.gp. */
cnn_status curves_picture(FILE *to, void *set, cnn_error *err);

#endif
