/* page.h: what a page shows of records (`benchcnn report`), whatever files they are in: each figure once, with its
 * rank; each case that was verified once, with what all of its checks came to; each training once; the environments,
 * kept apart. What comes of it are records again, of kinds that are in no file, for report/page.py to lay out:
 *
 *   source       a file that was read: path, records, bad (lines that are no records)
 *   verdict      a sentence of the first lines: text, counts (of states; else it names the fastest), good
 *   command      what was asked: command, runs, status (the last one's; absent: not known)
 *   environment  a machine with its system and this program's build: id, the fields of an `env` record, from, to
 * (dates) session      an implementation in an environment: id, environment, the fields `impl` and `implementation`
 *   timing, case, training, pass    a row: group, session, environment, name, state, reason, repro, file, line, and its
 * own unsupported  why cases were refused: text, count mark         a mark that occurs: name, meaning other        a
 * record of another kind that is shown as it is, as `record` mutants, mutant_list, mutant_check, mutant    of broken
 * kernels: what became of all, of a list's; what a check caught, `alone` where no other check did; one that survived,
 * or did not run left_out     a kind of records that is not shown: record, count
 */
#ifndef BENCH_FIGURES_PAGE_H
#define BENCH_FIGURES_PAGE_H

#include "harness/record/record.h"

typedef struct page page;

cnn_status page_open(page **result, cnn_error *err);
/* Adds the records of a file; `path` must outlive the page. CNN_BAD_FORMAT: it holds none. */
cnn_status page_read(page *p, const char *path, int *bad, cnn_error *err);
/* When all are read: ranks them, and writes the records above. */
cnn_status page_write(page *p, record_sink *to, cnn_error *err);
/* The epochs of the longest training that the file begins; path NULL: of all files. */
int page_longest_training(const page *p, const char *path);
/* Whether any training is over several ranks. */
bool page_over_ranks(const page *p, const char *path);
int page_timings(const page *p);                    /* figures of single operations */
int page_problems(const page *p);                   /* that they are of */
int page_epochs(const page *p);                     /* that were timed */
bool page_rounded(const page *p, const char *path); /* whether a check saw any rounding */
/* How many records of the kind there are; path NULL: in all files. */
int page_holds(const page *p, const char *kind, const char *path);
void page_close(page *p); /* NULL is accepted */

#endif
