/* table.h: what a run of `verify` saw of each algorithm and direction: its precision, and who gives the same
 * bits when. */
#ifndef CLI_VERIFY_TABLE_H
#define CLI_VERIFY_TABLE_H

#include "verify/verify.h"

enum { TABLE_ROWS = 1 << 12, TABLE_DIGESTS = 1 << 18, TABLE_NAME_MAX = 2 * CNN_NAME_MAX + 2 };

typedef struct table_row {
    char algorithm[TABLE_NAME_MAX], type[64], precision[16];
    cnn_op op;
    cnn_dir dir;
    int64_t asked[VERIFY_SAME_COUNT], differ[VERIFY_SAME_COUNT], digests;
} table_row;

typedef struct table_digest {
    uint64_t problem, digest;
    int row;
} table_digest;

/* Plain data, empty if all zeros; what finds no room is left out. */
typedef struct verify_table {
    int row_count;
    int64_t digest_count;
    table_row rows[TABLE_ROWS];
    table_digest digests[TABLE_DIGESTS];
} verify_table;

/* Results of problems; those of the precision and determinism checks count. `what` is the problem's text. */
void verify_table_add(verify_table *table, const verify_result *result, const char *what);
/* A line for each precision seen, with its algorithms. */
void verify_table_precisions(const verify_table *table, FILE *to);
/* Same bits: runs, threads, batch position, contexts, other algorithms. Nothing where it was not asked. */
void verify_table_bits(const verify_table *table, FILE *to);

#endif
