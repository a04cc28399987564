/* report.h: what `benchcnn verify` prints and records: one line a case, details of what failed (of the first
 * failures also where the errors lie, and with --dump their arrays), a summary with the precision that each algorithm
 * showed and, with --check determinism, who gives the same bits. */
#ifndef CLI_VERIFY_REPORT_H
#define CLI_VERIFY_REPORT_H

#include "cli/cli.h"
#include "cli/sessions.h"
#include "harness/record/resume.h"
#include "verify/verify.h"

/* ---- reasons.c: why cases are UNSUPPORTED, and how many of those that `supports` let through were not verified all
 * the same. Plain data: one process hands it on to the next. */

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

/* Reasons that differ in numbers alone are one, which is printed as an example. */
void verify_reasons_count(verify_reasons *reasons, const char *reason);
void verify_reasons_print(const verify_reasons *reasons); /* a line each, on standard output */
/* One case of `impl` that its `supports` let through: `verified`, or left out. */
void verify_reasons_share(verify_reasons *reasons, const char *impl, bool verified);
/* Says of which implementations more was left out than verified; whether there is one: that is no success. A few cases
 * are not enough to say so: some libraries find only when they plan that they cannot. */
bool verify_reasons_few(const verify_reasons *reasons, FILE *to);

/* ---- table.c: what a run saw of each algorithm and direction: its precision, and who gives the same bits when. */

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

/* ---- report.c. */

/* One case: all checks of one (implementation:algorithm, operation, direction, problem, type). */
typedef struct report_case {
    const cnn_session *session;
    const char *algorithm, *what; /* what: the problem's text, or the network's name */
    const cnn_problem *problem;   /* NULL for a network */
    cnn_dir dir;
    cnn_type type;
    const tuned_pick *tuned; /* it was chosen as "tuned", which is this; else NULL */
    int64_t seed;
    bool drawn; /* by --fuzz, as number `index` */
    int64_t index;
    const char *command; /* that repeats it; NULL: the case alone does */
} report_case;

/* What all runs of the command have seen (watch.kept). */
typedef struct verify_sums {
    int64_t cases[VERIFY_FAILED + 1]; /* how many of each state */
    int64_t malformed;                /* words of problem files that are no descriptors */
    int64_t earlier;                  /* how many of the cases another command had finished before */
    verify_reasons reasons;
    verify_table table;
} verify_sums;

typedef struct verify_report {
    const cli_options *options;
    record_sink *sink;
    resume *resume;
    verify_sums *sums;
    report_case now; /* the case in hand and what has come of it */
    verify_state state;
    bool left; /* `supports` let the case through, and it was not verified */
    char passed[256], failed[256], skipped[1024], failures[8192], precision[16], transform[VERIFY_TRANSFORM_MAX],
        reason[VERIFY_TEXT_MAX], remarks[1024];
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
/* print.c: whether cases that came to this state are shown; the lines of the case in hand. */
bool report_shows(const verify_report *report, verify_state state);
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
/* Counts the cases that an earlier command finished: once, at the beginning. */
void report_add_earlier(verify_report *report);

#endif
