/* kills.h: which check catches which mutant, of records that tests/mutants/matrix.sh wrote. */
#ifndef BENCH_FIGURES_KILLS_H
#define BENCH_FIGURES_KILLS_H

#include "harness/record/record.h"
#include "verify/verify.h"

#include <stdio.h>

enum { KILLS_COLUMNS = 4 }; /* of mutants, in the picture */

typedef enum kills_end { KILLS_CAUGHT, KILLS_CRASH, KILLS_HANG, KILLS_SURVIVED, KILLS_NOT_RUN, KILLS_ENDS } kills_end;

typedef struct kills_row {
    char mutant[CNN_NAME_MAX], list[CNN_NAME_MAX];
    kills_end end;
    bool caught[VERIFY_CHECK_COUNT], passed[VERIFY_CHECK_COUNT];
    int column, line; /* of the picture: kills_make() places them */
} kills_row;

typedef struct kills_set {
    kills_row *rows; /* by list, in the order of the records */
    int count, room;
    int ends[KILLS_ENDS], catches[VERIFY_CHECK_COUNT];
    int runs, held;                     /* of the unchanged implementations */
    int lines;                          /* of a column */
    char first_date[16], last_date[16]; /* "": not told */
} kills_set;

/* Adds a record, whatever its kind is; those of a file. Of several of one mutant the last that ran counts. */
cnn_status kills_take(kills_set *set, const cnn_record *record, cnn_error *err);
cnn_status kills_read(kills_set *set, const char *path, int *bad, cnn_error *err);
/* Counts and places them. CNN_BAD_ARGUMENT where there are none. */
cnn_status kills_make(kills_set *set, cnn_error *err);
/* Whether a list begins with row number i. */
bool kills_begins(const kills_set *set, int i);
/* A gnuplot_put (gnuplot.h) of a kills_set, for plots/kills.gp. */
cnn_status kills_picture(FILE *to, void *set, cnn_error *err);
void kills_free(kills_set *set);

#endif
