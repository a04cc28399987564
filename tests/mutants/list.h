/* list.h: lists of mutants: broken implementations, each the real one with one small change in its source.
 *
 * A list (*.mutants) is a text of entries like this one; `#` in the first column begins a comment:
 *
 *   mutant naive.fwd.last_tap
 *   why    the last column of the kernel is left out
 *   of     cpu:naive
 *   verify --op conv --dir FWD
 *   unit   impl_cpu/conv_naive.c
 *   in     impl_cpu/conv_naive.inc
 *    for (int64_t i = 0; i < d->kh; i++)
 *   -    for (int64_t j = 0; j < d->kw; j++) {
 *   +    for (int64_t j = 0; j < d->kw - 1; j++) {
 *
 * `unit` names a source file that is compiled anew (repeated for more), `in` the file that is changed (repeated for
 * more changes), followed by the change as a unified diff has it: lines to be found (' ' kept, '-' taken out) and lines
 * put in ('+'). White space does not count when lines are compared. What is found must be there exactly once: a mutant
 * that silently is the original would prove nothing. `verify` says what of `benchcnn verify` must notice it. */
#ifndef VERIFY_MUTANTS_LIST_H
#define VERIFY_MUTANTS_LIST_H

#include "harness/cnn.h"

enum { MUTANT_UNITS = 4, MUTANT_CHANGES = 4 };

typedef struct mutant_change {
    char *file, *text; /* text: the lines with their marks, each ended by '\n' */
} mutant_change;

typedef struct mutant {
    char *name, *why, *of, *verify;
    char *units[MUTANT_UNITS];
    mutant_change changes[MUTANT_CHANGES];
    int n_units, n_changes, line; /* line: where the entry begins */
} mutant;

typedef struct mutant_list {
    mutant *items;
    int count, capacity;
} mutant_list;

/* Appends the entries of a file. CNN_BAD_FORMAT names file and line; names must differ from those already there. */
cnn_status mutant_list_read(const char *path, mutant_list *list, cnn_error *err);
void mutant_list_free(mutant_list *list);
/* NULL, or the one of this name. */
const mutant *mutant_find(const mutant_list *list, const char *name);

/* patch.c: *patched (to be freed) is `source` with the change made. CNN_BAD_FORMAT when what it looks for is not there
 * exactly once, or when it changes nothing. */
cnn_status mutant_apply(const mutant *m, const mutant_change *change, const char *source, char **patched,
                        cnn_error *err);
/* A whole file as a string; CNN_IO. */
cnn_status mutant_read_file(const char *path, char **text, cnn_error *err);

#endif
