/* report.h: what `benchcnn verify` prints and records: one line a case, details of what failed (of the first
 * failures also where the errors lie, and with --dump their arrays), a summary with the precision that each algorithm
 * showed and, with --check determinism, who gives the same bits. */
#ifndef CLI_VERIFY_REPORT_H
#define CLI_VERIFY_REPORT_H

#include "cli/cli.h"
#include "cli/pieces.h"
#include "cli/sessions.h"
#include "verify/pattern.h"
#include "verify/tally.h"

/* ---- tally_print.c: what verify/tally.h counted. */

void verify_reasons_print(const verify_reasons *reasons); /* a line each, on standard output */
/* Says of which implementations more was left out than verified; whether there is one: that is no success. A few cases
 * are not enough to say so: some libraries find only when they plan that they cannot. */
bool verify_reasons_few(const verify_reasons *reasons, FILE *to);
/* A line for each algorithm, direction and type some of whose cases failed, where one size tells which. */
void verify_patterns_print(const verify_patterns *patterns, FILE *to);
/* A line for each precision seen, with its algorithms. */
void verify_table_precisions(const verify_table *table, FILE *to);
/* A line for each algorithm, direction and type whose products keep fewer bits than they should, and in how long sums.
 */
void verify_table_kept(const verify_table *table, FILE *to);
/* Same bits: runs, threads, batch position, contexts, other algorithms. Nothing where it was not asked. */
void verify_table_bits(const verify_table *table, FILE *to);

/* ---- report.c. */

/* One case: all checks of one (implementation:algorithm, operation, direction, problem, type). */
typedef struct report_case {
    const cnn_session *session;
    const char *algorithm, *what; /* what: the problem's text, or the network's name */
    const cnn_problem *problem;   /* NULL for a network */
    int64_t batch;                /* of a network */
    cnn_dir dir;
    cnn_type type;
    const tuned_pick *tuned; /* it was chosen as "tuned", which is this; else NULL */
    int64_t seed;
    bool drawn; /* by --fuzz, as number `index` */
    int64_t index;
    const char *command; /* that repeats it; NULL: the case alone does */
} report_case;

/* Failures are of a kind when the same checks failed. */
enum { FAILURE_KINDS = 32 };
typedef struct failure_kind {
    char checks[256];
    int64_t count;
} failure_kind;

/* What all runs of the command have seen (watch.kept). */
typedef struct verify_sums {
    int64_t cases[VERIFY_FAILED + 1]; /* how many of each state */
    int64_t malformed;                /* words of problem files that are no descriptors */
    int64_t earlier;                  /* how many of the cases another command had finished before */
    int64_t unrun;                    /* with --fail-fast: cases behind the first failure */
    verify_reasons reasons;
    verify_table table;
    verify_patterns patterns;
    failure_kind kinds[FAILURE_KINDS]; /* the last one takes what is left */
    int64_t lines;                     /* failures that were shown in a line only */
} verify_sums;

typedef struct verify_report {
    const cli_options *options;
    cli_progress *progress; /* its bar makes room for each line; NULL: there is none */
    cli_output output;
    cli_pieces *pieces; /* of a rank that does them; NULL: one process */
    verify_sums *sums;
    report_case now; /* the case in hand and what has come of it */
    verify_state state;
    bool left; /* `supports` let the case through, and it was not verified */
    char passed[256], failed[256], skipped[1024], failures[8192], precision[16], transform[VERIFY_TRANSFORM_MAX],
        reason[VERIFY_TEXT_MAX], remarks[1024], order[VERIFY_TEXT_MAX];
    char dumped[512]; /* the folder with the arrays of the case; "" none */
    bool located;     /* it has been shown where the errors of the case lie */
    int dumps;
    int64_t asked; /* --fuzz: so many cases, INT64_MAX: no end; 0: the problems are not drawn */
    double started;
    double budget_used;
    cnn_status write_status; /* of the first record that could not be written, with its error */
    cnn_error write_error;
} verify_report;

void report_begin(verify_report *report, const report_case *now);
verify_failed report_arrays; /* user: the report; for --dump */
verify_each report_result;   /* user: the report */
/* A case that came to this state; left: `supports` let it through, and it was not verified. */
void report_count(verify_sums *sums, const char *impl, verify_state state, bool left, const char *reason);
/* The first error is kept. */
void report_keep_error(verify_report *report, cnn_status status, const cnn_error *err);
void report_write(verify_report *report, cnn_record *record);
void report_end(verify_report *report);
/* The command that repeats the case in hand. */
void report_repro(const verify_report *report, char command[CLI_REPEAT_MAX]);
/* print.c: whether cases that came to this state are shown; takes the bar off the terminal's line; the lines of the
 * case in hand. */
bool report_shows(const verify_report *report, verify_state state);
void report_clear_line(const verify_report *report);
void report_print(const verify_report *report);
/* A case without checks: a descriptor that was refused (session NULL), or one that does not fit into memory. */
void report_refused(verify_report *report, cnn_op op, const report_case *now, verify_state state, const char *reason);
/* A word of a problem file that is no descriptor: its sentence on standard error, and a record of state REFUSED. */
void report_malformed(verify_report *report, cnn_op op, const char *text, const char *reason);
/* The summary line, and the exit status: malformed words are bad input, whatever became of the others. */
int report_summary(verify_report *report);
/* The case in hand ended a run before this one. */
void report_died(verify_report *report, const char *how);
/* A case is done (its number, the state it came to): the same command need not run it again. */
void report_done(verify_report *report, int64_t number, const char *state);
/* join.c: adds what another process counted. */
void report_join(verify_sums *to, const verify_sums *from);
/* Counts the cases that an earlier command finished: once, at the beginning. */
void report_add_earlier(verify_report *report);

#endif
