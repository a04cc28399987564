/* page_parts.h: what the files page*.c share. */
#ifndef BENCH_FIGURES_PAGE_PARTS_H
#define BENCH_FIGURES_PAGE_PARTS_H

#include "bench/measure/stats.h"
#include "kills.h"
#include "names.h"
#include "page.h"
#include "verify/tally.h"

typedef enum page_kind { PAGE_TIMING, PAGE_CASE, PAGE_TRAINING, PAGE_PASS, PAGE_KINDS } page_kind;

typedef struct page_point {
    double epoch, train_loss, test_loss, test_accuracy;
} page_point;

typedef struct page_row {
    cnn_record *record; /* what is written of it; computed fields come last */
    int group;          /* of those that are ranked against each other */
    int session, line;
    const char *file;
    char machine[CNN_NAME_MAX];
    char *state, *reason, *repro;
    int gravity;        /* of the state; the gravest of its records counts */
    bool timed, beyond; /* beyond: it beats a ceiling, and is ranked nowhere */
    bench_stats stats;  /* median, low, high, marks; NaN without */
    double resolution;  /* of the A/A control; NaN without */
    int round;          /* of a sweep; else 0 */
    double *seconds;    /* runs of a figure, epochs of a training */
    int count, room;
    page_point *points; /* of a training's latest run */
    int n_points, point_room;
    bool over_ranks;                 /* several trained it together */
    int marked[BENCH_MARK_COUNT];    /* by how many of them */
    char checks[256], precision[16]; /* a case's: "exact bound", those that passed; what it computes in */
    double budget_used, images_per_s;
    double shares;         /* of their epochs: the sum over a pass's records */
    int verified;          /* epochs of which the reference repeated steps */
    bool leads;            /* it is the fastest of its group: each group has one */
    int rank, tied, among; /* rank 0: not ranked; tied: how many have it; among: how many are ranked */
} page_row;

typedef struct page_command {
    int runs, status; /* status -1: not known */
} page_command;

typedef struct page_environment {
    cnn_record *record;
    char from[32], to[32];
} page_environment;

typedef struct page_session {
    cnn_record *record;
    int environment, seen; /* seen: a later one has more */
    char impl[CNN_NAME_MAX], machine[CNN_NAME_MAX];
} page_session;

/* Records of one kind in one file. */
typedef struct page_held {
    const char *path;
    int kind, count;
    bool left_out; /* they are not shown */
} page_held;

struct page {
    page_row *rows[PAGE_KINDS];
    int count[PAGE_KINDS], room[PAGE_KINDS];
    figure_names keys[PAGE_KINDS], groups[PAGE_KINDS];
    figure_names command_names, environment_names, session_names, kind_names;
    page_command *commands;
    page_environment *environments;
    page_session *sessions;
    int n_commands, command_room, n_environments, environment_room, n_sessions, session_room;
    cnn_record **sources, **others;
    int n_sources, source_room, n_others, other_room;
    page_held *held;
    int n_held, held_room;
    kills_set kills;
    verify_reasons unsupported, skipped;
    unsigned marks; /* that occur */
    /* of the file that is read */
    const char *path;
    int records, session, command, seen; /* session, command: the latest ones; -1: none yet */
};

/* page_kinds.c: a record of whatever kind; which kinds are not shown. */
cnn_status page_take(page *p, const cnn_record *record, cnn_error *err);
cnn_status page_write_left_out(const page *p, record_sink *to, cnn_error *err);

/* page_mutants.c: `false`: one survived. */
cnn_status page_write_mutants(const page *p, record_sink *to, cnn_error *err);
bool page_mutants_text(const page *p, char *text, size_t size);

/* page_environment.c: an `env` record, and a command that one of these, `begin` and `end` tell of. */
cnn_status page_add_environment(page *p, const cnn_record *record, cnn_error *err);
cnn_status page_add_command(page *p, const cnn_record *record, cnn_error *err);
/* The session of this file that the implementation's records are of; -1: the file does not tell. */
int page_session_of(const page *p, const char *impl);

/* page_rows.c: a record of a figure, a check, an epoch, a pass of one. */
cnn_status page_add_row(page *p, page_kind kind, const cnn_record *record, cnn_error *err);

/* page_rank.c: ranks within groups, by the medians that are set: 1 for the best and for those tied with it, then on
 * behind all of these. */
cnn_status page_rank(page *p, page_kind kind, cnn_error *err);

/* page_verdict.c: the first lines of the page. */
cnn_status page_verdicts(const page *p, record_sink *to, cnn_error *err);

#endif
