/* resume.h: a long command goes on where it was stopped, by a signal, a crash, a reboot.
 *
 * With --out a run begins with a record of kind "begin", which holds its command, and ends with one of kind "end". The
 * same command of the same program, given once more with the same file, looks for a beginning without an end: what
 * stands behind it was done, and is neither run nor recorded again. Behind an end the same command is another run. The
 * same program is one whose file, and whose plug-ins' files, have the same bytes: a commit says little of a changed
 * tree.
 *
 * What is done is told either by the records themselves (resume_take), or by "case" records, for work whose units make
 * several records: units are numbered, the same way in each run of a command; their own records stand before the
 * "case". They come in the order of their numbers or, over ranks, in any. */
#ifndef HARNESS_RECORD_RESUME_H
#define HARNESS_RECORD_RESUME_H

#include "record.h"

typedef struct resume resume;

typedef struct resume_run {
    const char *path, *command;
    const char *const *plugins; /* their files */
    int n_plugins;
    int64_t seed; /* drawn for this run, so that its command does not say it; -1: none was */
    bool pieces;  /* its units are the pieces of ranks: it goes on where such a run was stopped, and no other does */
    bool keeps;   /* what else the record of a unit holds is asked for: resume_each_case() */
} resume_run;

/* Reads what an unfinished run like this one left in the file. path NULL, or no plain file: nothing, and nothing will
 * be written either. A line that is no record is passed over. */
cnn_status resume_open(const resume_run *run, resume **result, cnn_error *err);
/* Whether the file holds records of another build of the program, or of a plug-in. */
bool resume_elsewhere(const resume *r);
/* The seed that was drawn for the unfinished run; -1: there is none. */
int64_t resume_seed(const resume *r);
void resume_close(resume *r); /* NULL is accepted */
/* Nothing was left, and nothing will be written: for a run whose units are not numbered as those of others are. */
void resume_forget(resume *r);

/* The run begins, or goes on; it is done, and the command will end with this status: the last record of a run. */
cnn_status resume_begin(const resume *r, record_sink *sink, cnn_error *err);
cnn_status resume_end(const resume *r, record_sink *sink, int exit_status, cnn_error *err);

/* Whether a record like this one (same figure: kind, implementation, problem, types, check ...; not the same numbers)
 * was left: then its "state", or "". Each is given once, so that of a figure that is taken N times over just those are
 * found that were. NULL: it is yet to be made. */
const char *resume_take(resume *r, const cnn_record *record);
/* For commands that do all of their work again: of records that were left none is written to the file once more. */
void resume_pass_over(resume *r, record_sink *sink);
int resume_left(const resume *r); /* how many */

/* Whether this unit was done; how many were; so many of these with this state. */
bool resume_has(const resume *r, int64_t number);
int64_t resume_done(const resume *r);
int64_t resume_count(const resume *r, const char *state);
/* The records of the units that were done. */
cnn_status resume_each_case(const resume *r, record_each *each, void *user, cnn_error *err);
cnn_status resume_case(const resume *r, record_sink *sink, int64_t number, const char *state, cnn_error *err);

#endif
