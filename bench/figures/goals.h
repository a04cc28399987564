/* goals.h: from goals (bench/goal.h) to curves over batch size: how many epochs and seconds a training took until each
 * was reached. */
#ifndef BENCH_FIGURES_GOALS_H
#define BENCH_FIGURES_GOALS_H

#include "bench/goal.h"
#include "series.h"

/* Of those that reached a goal. */
typedef struct goals_mean {
    double mean, low, high; /* the mean's 95 % interval by Student's t: NaN of a single one; NaN all: not timed */
} goals_mean;

/* What it took at one batch size: medians over the seeds, of those that reached it. */
typedef struct goals_point {
    double batch, epochs, seconds; /* epochs 0: none reached it; seconds NaN: not timed */
    int64_t tried;                 /* most epochs of one that did not reach it; 0: all did */
    unsigned marks;
    int trained, reached; /* seeds: all, and those that reached it */
    goals_mean mean_epochs, mean_seconds, mean_train_s;
} goals_point;

/* A curve is a setting, the batch and the seed apart, with a goal. */
typedef struct goals_curve {
    char label[SERIES_LABEL_MAX], facts[SERIES_LABEL_MAX];
    const goal_row *first;
    goal_kind of;
    double goal;
    int count;
    goals_point points[SERIES_POINTS_MAX];
} goals_curve;

typedef struct goals_set {
    goals_curve *list;
    int count;
    bool published;       /* the last one is: table 4.3 of the thesis */
    bool has[GOAL_KINDS]; /* which kinds of goals */
    char subtitle[SERIES_LABEL_MAX];
    int left_out; /* goals of another network or other image counts than the first one's */
} goals_set;

/* CNN_BAD_ARGUMENT for an empty table and for more than SERIES_MAX curves. The table must outlive the set. */
cnn_status goals_make(const goal_table *table, goals_set *set, cnn_error *err);
/* Adds the thesis's table 4.3 (plots/thesis_table_4_3.dat) where the set's trainings are that job, to a loss; else
 * nothing. */
cnn_status goals_add_thesis(goals_set *set, cnn_error *err);
void goals_free(goals_set *set);
/* A gnuplot_put (gnuplot.h) of a goals_set, for plots/over_batch.gp. CNN_BAD_ARGUMENT where no goal was reached and
 * timed. */
cnn_status goals_picture(FILE *to, void *set, cnn_error *err);

#endif
