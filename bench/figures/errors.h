/* errors.h: what `verify` saw of rounding, as a picture: how much of what rounding may leave each kernel uses, a row an
 * algorithm, a point a problem and direction; and the bits that single products keep.
 *
 * The share is that of the record: the largest error of an element over its own a-priori bound (check bound). A kernel
 * whose points stand an order of magnitude to the right of all others computes with less than it says. */
#ifndef BENCH_FIGURES_ERRORS_H
#define BENCH_FIGURES_ERRORS_H

#include "harness/cnn.h"
#include "harness/record/record.h"

#include <stdio.h>

enum { ERRORS_ROWS_MAX = 64, ERRORS_TEXT_MAX = 256 };

typedef struct errors_point {
    int row, dir;
    double share; /* of the bound: 0.17 */
    bool failed;
} errors_point;

typedef struct errors_row {
    char label[ERRORS_TEXT_MAX], type[64]; /* "cpu:direct", "f32 nchw" */
    int points, failed;
    double worst;
    int bits, full; /* fewest that single products kept, of how many the type has; 0: not recorded */
    long long taps; /* in sums of up to so many products */
} errors_row;

typedef struct errors_set {
    const char *impl; /* NAME[:ALGORITHM], comma-separated globs; NULL: all */
    errors_row rows[ERRORS_ROWS_MAX];
    errors_point *points;
    int n_rows, count, room;
} errors_set;

/* Adds a file's records of `verify`; *bad counts the lines that are no records. CNN_BAD_ARGUMENT for more than
 * ERRORS_ROWS_MAX algorithms. */
cnn_status errors_read(errors_set *set, const char *path, int *bad, cnn_error *err);
/* CNN_BAD_ARGUMENT where nothing was rounded. */
cnn_status errors_check(const errors_set *set, cnn_error *err);
void errors_free(errors_set *set);
/* A gnuplot_put (gnuplot.h) of an errors_set, for plots/errors.gp. */
cnn_status errors_picture(FILE *to, void *set, cnn_error *err);

#endif
