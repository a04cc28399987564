/* series.h: from epoch records to curves: one a implementation, algorithm and machine. */
#ifndef BENCH_FIGURES_SERIES_H
#define BENCH_FIGURES_SERIES_H

#include "bench/epoch.h"

#include <stdio.h>

enum { SERIES_MAX = 32, SERIES_PUBLISHED_MAX = 2, SERIES_POINTS_MAX = 256, SERIES_LABEL_MAX = 256 };

typedef struct series_point {
    double batch, seconds; /* the median over the epochs recorded */
    double low, high;      /* its interval; NaN: a single epoch has none */
    double images_per_s;   /* in training, the median likewise; NaN: not recorded */
    int epochs;
    unsigned marks;   /* of epochs: bench/measure/stats.h */
    const char *path; /* of the first of them, and its line */
    int line;
} series_point;

typedef struct series {
    epoch_setting setting;        /* of its first record: what all its points share, the batch apart */
    char label[SERIES_LABEL_MAX]; /* implementation:algorithm */
    char facts[SERIES_LABEL_MAX]; /* what else tells it apart from the others, often nothing */
    int count;
    series_point points[SERIES_POINTS_MAX];
} series;

typedef struct series_set {
    series *list; /* in the order of the records; behind them, `published` ones that were not measured here */
    int count, published;
    const char *title;               /* NULL: that of seconds per epoch or of speedups */
    char subtitle[SERIES_LABEL_MAX]; /* what all series have in common */
    char baseline[SERIES_LABEL_MAX]; /* "": seconds; else the values are how many times as fast as it they are */
    int diverged;                    /* epochs of trainings whose loss was not finite: they are no figures */
    int left_out; /* records of another network or other image counts than the first one's: not the same epoch */
} series_set;

/* Sorts the table's rows into series, points in the order of their batch; labels and facts name what tells the series
 * apart. CNN_BAD_ARGUMENT for an empty table and for more than SERIES_MAX series. */
cnn_status series_make(const epoch_table *table, series_set *set, cnn_error *err);
/* Label, facts and subtitle of the series that are in the set; one without an algorithm is named by its implementation
 * alone. series_make() did so already. */
void series_name(series_set *set);
void series_free(series_set *set);
/* Whether rows of both settings belong to one curve: they differ in the batch, the seed and the build alone. */
bool series_same_curve(const epoch_setting *a, const epoch_setting *b);
/* One more, empty; CNN_BAD_ARGUMENT, and NULL, where there are SERIES_MAX. */
series *series_add(series_set *set, cnn_error *err);
/* "Intel Xeon" from "Intel(R) Xeon(R) Processor": a picture has little room. */
void series_machine(const char *name, char *text, size_t size);

/* over_batch.c: adds the thesis's table 4.2 (plots/thesis_table_4_2.dat): the seconds of its CPU and its GPU, or, over
 * a baseline, the quotient of both. Nothing where the set's epochs are another job: beside them, the published times
 * would mislead. */
cnn_status series_add_thesis(series_set *set, cnn_error *err);
/* A gnuplot_put (gnuplot.h) of a series_set, for plots/over_batch.gp. */
cnn_status series_picture(FILE *to, void *set, cnn_error *err);

#endif
