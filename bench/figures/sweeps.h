/* sweeps.h: points of a sweep over settings as a picture: a line over one setting, a heat map over two. Settings are
 * threads, algorithm, dtype, layout and knobs; those count that have more than one value. Of more than two settings the
 * two with the most values are drawn, each point at the best of the others.
 *
 * A value is the point's time by the default's in the same set, as `sweep` compares them; where no default was timed,
 * its time. Of a point that was in several rounds the last counts. */
#ifndef BENCH_FIGURES_SWEEPS_H
#define BENCH_FIGURES_SWEEPS_H

#include "harness/record/record.h"

#include <stdio.h>

enum { SWEEPS_AXES = 24, SWEEPS_VALUES = 40, SWEEPS_GROUPS = 7, SWEEPS_TEXT = 64 };

typedef struct sweeps_axis {
    char name[SWEEPS_TEXT], values[SWEEPS_VALUES][SWEEPS_TEXT];
    int count, order[SWEEPS_VALUES]; /* order: place -> value, by size */
} sweeps_axis;

typedef struct sweeps_point {
    int group, round, values[SWEEPS_AXES]; /* of each axis; -1: the record says none */
    double seconds, low, high, baseline;   /* NaN: not told */
    bool marked;
} sweeps_point;

typedef struct sweeps_group { /* one problem, direction and implementation on one machine */
    char *key, name[256], machine[CNN_NAME_MAX];
} sweeps_group;

typedef struct sweeps_set {
    const char *match; /* a regular expression that a group's identity must match; NULL: all */
    sweeps_axis axes[SWEEPS_AXES];
    sweeps_group groups[SWEEPS_GROUPS];
    sweeps_point *points;
    int n_axes, n_groups, count, room;
    int only;             /* of a map: which group is drawn */
    int left_out;         /* points of groups beyond those drawn */
    int drawn[2], varied; /* axes; of a line the first; varied: how many have more than one value */
    bool relative;        /* to the default */
} sweeps_set;

/* Adds the points of a file; *bad counts the lines that are no records. CNN_BAD_ARGUMENT for a bad expression, or for
 * more settings or values than a picture has room for. */
cnn_status sweeps_read(sweeps_set *set, const char *path, int *bad, cnn_error *err);
/* CNN_BAD_ARGUMENT where no setting has two values. */
cnn_status sweeps_make(sweeps_set *set, cnn_error *err);
static inline bool sweeps_is_map(const sweeps_set *set) { return set->varied > 1; }
/* A gnuplot_put (gnuplot.h) of a sweeps_set, for plots/sweep_line.gp or, of a map, plots/sweep_map.gp. */
cnn_status sweeps_picture(FILE *to, void *set, cnn_error *err);
void sweeps_free(sweeps_set *set);

#endif
