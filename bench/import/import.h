/* import.h: files that other programs wrote of their timings, as records: hyperfine (--export-json), Google Benchmark
 * (--benchmark_format=json), nvbench (--json). Which program wrote a file is told by what is in it.
 *
 * hyperfine's are records of kind `process`, a command each; the others' of kind `benchmark`, a benchmark with its
 * parameters each. A file is read whole, or not at all. */
#ifndef BENCH_IMPORT_IMPORT_H
#define BENCH_IMPORT_IMPORT_H

#include "harness/record/record.h"

enum { IMPORT_ID_MAX = 24, IMPORT_BYTES_MAX = 1 << 28 };

typedef struct import_set {
    const char *by;         /* "hyperfine", "Google Benchmark", "nvbench" */
    char id[IMPORT_ID_MAX]; /* of the file's bytes: the field `source_id` of each record */
    cnn_record **list;
    int count, room;
    int timed; /* of these, with a time */
} import_set;

/* CNN_IO; CNN_BAD_FORMAT where the file is none of these, or is torn or contradicts itself: both name the file, and
 * what in it. */
cnn_status import_read(const char *path, import_set *set, cnn_error *err);
void import_free(import_set *set);

#endif
