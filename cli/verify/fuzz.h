/* fuzz.h: `benchcnn verify --fuzz N`. */
#ifndef CLI_VERIFY_FUZZ_H
#define CLI_VERIFY_FUZZ_H

#include "cli/cli.h"
#include "cli/pieces.h"
#include "report.h"
#include "verify/fuzz/workers.h"

cnn_status verify_fuzz_args(const cli_options *options, cnn_error *err); /* its arguments alone */
/* The whole command; returns its exit status. */
int verify_fuzz(const cli_options *options, cli_pieces *pieces, cnn_error *err);

enum { FUZZ_ROWS = 512, FUZZ_KINDS = 64, FUZZ_SHOWN = 3 /* failures of a kind */ };

/* How many cases of one algorithm and operation ended in each state. */
typedef struct fuzz_row {
    int impl;
    cnn_op op;
    char algorithm[CNN_NAME_MAX];
    int64_t cases[VERIFY_FAILED + 1];
    uint64_t digest; /* the sum of a hash of each case and its state: the same however the cases were shared out */
    /* Of the MISTRUSTED cases the first, whichever worker was done first. */
    int64_t mistrusted; /* its number */
    int attempt;
    char tried[CNN_NAME_MAX], why[VERIFY_TEXT_MAX]; /* tried: its algorithm; the last row has several */
} fuzz_row;

/* Failures are of one kind when algorithm, operation, direction and checks are the same: one of each is shrunk. */
typedef struct fuzz_kind {
    int row;
    cnn_dir dir;
    uint32_t failed;
    int result; /* WORKER_DIED or not */
    int64_t count;
} fuzz_kind;

typedef struct fuzz_rank { /* what a rank is called in records */
    char host[CNN_NAME_MAX], device[CNN_NAME_MAX];
} fuzz_rank;

typedef struct fuzz_session { /* a run of --fuzz */
    const cli_options *options;
    fuzz_space space;
    cnn_epilogue epilogue; /* --epilogue: where space.epilogue points */
    cnn_choice choices[CNN_MAX_CHOICES];
    int n_choices;
    uint64_t seed;
    cli_shard shard; /* workers count its cases alone: see fuzz_place() */
    int64_t all;     /* cases of all shards */
    double seconds;  /* 0: until all cases are done */
    workers_job job;
    fuzz_rank *ranks; /* over ranks: all of them */
    fuzz_row rows[FUZZ_ROWS];
    fuzz_kind kinds[FUZZ_KINDS];
    int n_rows, n_kinds;
    int64_t done;
    cli_progress progress;
    cli_output output;
    verify_report report;   /* its counts, and the first error of a record or of shrinking */
    const fuzz_case *alone; /* what a child that is not a worker runs, instead of case `index` */
    uint32_t checks;
} fuzz_session;

/* fuzz_ranks.c. Whether all ranks could prepare the same. */
cnn_status fuzz_agree(fuzz_session *s, cli_pieces *pieces, cnn_status status, cnn_error *err);
/* All that a rank does that runs cases: its exit status. Rank 0 in its place, until all cases are done. */
int fuzz_work(fuzz_session *s, cli_pieces *pieces, cnn_error *err);
cnn_status fuzz_give(fuzz_session *s, cli_pieces *pieces, cnn_error *err);

/* The number, among those of all shards, of the shard's case number `index`. */
static inline int64_t fuzz_place(const fuzz_session *s, int64_t index)
{
    return s->shard.of > 1 ? index * s->shard.of + s->shard.number : index;
}

/* fuzz_failure.c: a failure as it comes in: if it is the first of its kind, shrunk; printed and recorded. */
void fuzz_failure(fuzz_session *s, const fuzz_case *c, const worker_message *message);

/* The command that repeats the case alone. */
void fuzz_command(fuzz_session *s, const fuzz_case *c, char command[CLI_REPEAT_MAX]);

/* fuzz_tally.c. The kind is NULL when there are too many. */
void fuzz_count(fuzz_session *s, const fuzz_case *c, const worker_message *message);
fuzz_kind *fuzz_kind_of(fuzz_session *s, const fuzz_case *c, const worker_message *message);
/* The table, on standard output or error, and, of a run that was not stopped, its records: a run that goes on makes
 * them of all cases. */
void fuzz_table(fuzz_session *s, bool whole);

#endif
