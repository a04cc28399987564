/* profiled.h: what `train --profile` recorded of a layer's passes, read back. */
#ifndef BENCH_PROFILED_H
#define BENCH_PROFILED_H

#include "bench/epoch.h"

/* A layer's pass in one epoch: all of its phases. */
typedef struct profiled_row {
    epoch_setting setting;
    int epoch; /* the how many-th profiled epoch of all that were read, from 0: of whichever setting */
    char layer[CNN_NAME_MAX];
    cnn_dir dir;
    cnn_type type;
    double seconds, flops, bytes; /* of all calls; a transform's FLOPs are what it needs at least */
    bool tells_bytes;             /* records of older versions do not */
    double calls, share;          /* share: of the epoch */
} profiled_row;

typedef struct profiled_table {
    profiled_row *rows;
    int count, capacity;
    int epochs; /* that are whole */
} profiled_table;

/* Adds a record of kind `profile`; one of kind `profiled_epoch` ends an epoch. Rows that are no layer's, tests, and
 * what is computed again are passed over. */
cnn_status profiled_add(profiled_table *table, const cnn_record *record, const epoch_setting *setting, cnn_error *err);
void profiled_free(profiled_table *table);

#endif
