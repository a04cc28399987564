/* tally.h: what a run of many cases came to: why cases are UNSUPPORTED, how many of those that `supports` let through
 * were not verified all the same, the precision of each algorithm, who gives the same bits when. Plain data: one
 * process hands it on to the next. */
#ifndef VERIFY_TALLY_H
#define VERIFY_TALLY_H

#include "verify.h"

enum { REASONS_MAX = 24, REASON_TEXT_MAX = 160 };
typedef struct verify_share { /* of what an implementation's `supports` let through */
    char impl[CNN_NAME_MAX];
    int64_t verified, left; /* left: refused by `prepare`, or no room for what it asks for */
} verify_share;

typedef struct verify_reasons {
    struct {
        char text[REASON_TEXT_MAX];
        int64_t count;
        bool differ; /* in numbers; the text is the first one's */
    } list[REASONS_MAX];
    int count;
    int64_t others; /* cases whose reasons found no room */
    verify_share shares[CNN_MAX_CHOICES];
    int n_shares;
} verify_reasons;

/* Reasons that differ in numbers alone are one. */
void verify_reasons_count(verify_reasons *reasons, const char *reason);
/* One case of `impl` that its `supports` let through: `verified`, or left out. */
void verify_reasons_share(verify_reasons *reasons, const char *impl, bool verified);

/* Adds what another process counted. */
void verify_reasons_join(verify_reasons *to, const verify_reasons *from);

enum { TABLE_ROWS = 1 << 12, TABLE_DIGESTS = 1 << 18, TABLE_NAME_MAX = 2 * CNN_NAME_MAX + 2 };

/* How many bits products keep, over the number of products that are added up: of each number of bits the shortest
 * sums that had it, the most bits first. */
enum { TABLE_BITS = 6 };
typedef struct table_bits {
    int count, full; /* full: what the type has */
    struct {
        int64_t taps;
        int bits;
    } at[TABLE_BITS];
} table_bits;

typedef struct table_row {
    char algorithm[TABLE_NAME_MAX], type[64], precision[16];
    table_bits kept;
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
/* Adds what another process counted. */
void verify_table_join(verify_table *to, const verify_table *from);
/* On how many problems both rows were, and on how many of these with the same bits. */
void verify_table_common(const verify_table *table, int a, int b, int64_t *both, int64_t *same);
/* From the finest to the coarsest. */
enum { VERIFY_PRECISIONS = 6 };
extern const char *const verify_precisions[VERIFY_PRECISIONS];

#endif
