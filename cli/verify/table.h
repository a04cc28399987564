/* table.h: what a run of `verify` saw of each algorithm and direction: its precision, and who gives the same
 * bits when. */
#ifndef CLI_VERIFY_TABLE_H
#define CLI_VERIFY_TABLE_H

#include "verify/verify.h"

typedef struct verify_table verify_table;

verify_table *verify_table_new(void); /* NULL: no memory; the functions below then do nothing */
void verify_table_free(verify_table *table);
/* Results of problems; those of the precision and determinism checks count. `what` is the problem's text. */
void verify_table_add(verify_table *table, const verify_result *result, const char *what);
/* Writes what there is as bytes, and takes them for an empty table; how many. What finds no room (first the digests, of
 * which there is one a case) is left out. */
size_t verify_table_save(const verify_table *table, void *bytes, size_t room);
void verify_table_load(verify_table *table, const void *bytes, size_t size);
/* A line for each precision seen, with its algorithms. */
void verify_table_precisions(const verify_table *table, FILE *to);
/* Same bits: runs, threads, batch position, contexts, other algorithms. Nothing where it was not asked. */
void verify_table_bits(const verify_table *table, FILE *to);

#endif
