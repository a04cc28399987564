/* parts.h: what the files of `benchcnn sweep` share: cmd_sweep.c runs all groups, axes.c reads the axes, points.c makes
 * a group's points of them, rounds.c says which points run, and drops the slow ones, set.c times some of them by turns,
 * rows.c keeps what is recorded, rank.c ranks, table.c says who won, keep.c keeps it.
 *
 * A group is an implementation, a problem and a direction. Its points run in sets of a few, by turns, and the default
 * runs in each set: what a point takes of the default's time beside it can be compared with points of other sets. So a
 * set that is interrupted costs little, and memory holds only a set's buffers. Behind each round the clearly slower
 * points are dropped; the last round is one set: "best" and "tied" rest on figures taken side by side. */
#ifndef CLI_SWEEP_PARTS_H
#define CLI_SWEEP_PARTS_H

#include "cli/bench/parts.h"
#include "harness/record/build_id.h"

enum {
    SWEEP_KNOBS_MAX = 8,   /* that are swept, at most */
    SWEEP_VALUES_MAX = 64, /* of one knob; thread counts */
    SWEEP_TABLE_MAX = 256, /* knobs that an implementation may have, at most */
    SWEEP_POINTS_MAX = 10000,
    SWEEP_TYPES = CNN_DTYPE_COUNT * CNN_LAYOUT_COUNT,
    SWEEP_SET = 8,                          /* points of a set, beside the defaults */
    SWEEP_SET_MAX = SWEEP_SET + SWEEP_TYPES /* with the defaults of all types, in the last one */
};

typedef struct sweep_knob {
    const cnn_impl *impl;
    int index; /* in impl->knobs */
    int64_t values[SWEEP_VALUES_MAX];
    int count;
} sweep_knob;

typedef struct sweep_axes {
    bool threads, algorithm, layout, dtype;
    sweep_knob knobs[SWEEP_KNOBS_MAX];
    int n_knobs;
    int64_t thread_counts[SWEEP_VALUES_MAX];
    int n_threads;
} sweep_axes;

typedef struct sweep_figures { /* of a point in a round, as its record holds them */
    int64_t round, set;        /* set: its number in the file; 0: an older record */
    bool timed;
    double median, low, high, resolution, baseline; /* baseline: the default's median in the same set; NaN: none */
} sweep_figures;

typedef struct sweep_row {        /* a record: of a point in a round, or of a group's best */
    char *key;                    /* what tells its figure from others */
    char maker[2 * BUILD_ID_MAX]; /* the build and its libraries; "": an older record, which does not say */
    bool best;
    sweep_figures figures;
} sweep_row;

typedef struct sweep_rows {
    sweep_row *items;
    int count, capacity;
    int64_t sets;             /* the highest number of a set */
    char build[BUILD_ID_MAX]; /* this one */
} sweep_rows;

typedef struct sweep_point {
    cnn_algorithm algorithm;
    int type, threads;
    int64_t knobs[SWEEP_KNOBS_MAX]; /* values, in the order of axes.knobs; those of other implementations are unused */
    bool usual;                     /* the default, in its type */
    bool alive;                     /* it runs in the next round */
    bool crowded_out;               /* dropped, but not clearly slower: there was no room for all */
    sweep_figures figures;          /* of the last round that it was in; round 0: yet to run */
    double relative;                /* its median by the default's beside it; without a default its median */
    bool tied;                      /* with the best, side by side */
} sweep_point;

typedef struct sweep_group {
    int session; /* in bench.sessions: open throughout, with the default's settings */
    cnn_problem problem;
    cnn_dir dir;
    bool wants_tuned;              /* --impl NAME:tuned: the default is what the tuning file holds */
    tuned_pick tuned[SWEEP_TYPES]; /* then */
    sweep_point *points;           /* a block for each type, its default first; points[0] is the default */
    int count;
    vf_case cases[SWEEP_TYPES];
    bool has_case[SWEEP_TYPES];
} sweep_group;

typedef struct sweep {
    bench b;
    sweep_axes axes;
    char axes_text[256]; /* as typed */
    sweep_rows rows;
    record_sink *tune;                             /* where winners are kept; NULL: nowhere */
    char libraries[CNN_MAX_CHOICES][BUILD_ID_MAX]; /* of each session */
    int chosen, held;                              /* choices written to the tuning file; those that it held already */
    int ran, kept, again, refused, wrong;          /* points; again: measured before, by another build */
    double start;
} sweep;

typedef struct sweep_ranking {
    sweep_point **list; /* those that were timed, fastest first; the best of the last round before all others */
    int count, tied, failed;
    int usual; /* where the default stands, from 0; -1: it was not timed */
    int64_t last_round;
    double resolution; /* of the last round: smaller ratios of medians may be nothing; NaN: not known */
} sweep_ranking;

/* axes.c: the words after `sweep`. */
cnn_status sweep_read_axes(const cli_options *options, sweep_axes *axes, cnn_error *err);

/* points.c. Makes group->points (free() them); none when --impl chooses no algorithm for the problem. */
cnn_status sweep_make_points(sweep *s, sweep_group *group, cnn_error *err);
cnn_problem sweep_problem(const sweep *s, const sweep_group *group, const sweep_point *point); /* in the point's type */
/* A session that describes the point without being open: the default's context, the point's settings.
 * values: SWEEP_TABLE_MAX. */
cnn_session sweep_describe(const sweep *s, const sweep_group *group, const sweep_point *point, int64_t *values);
/* "tile.pixels=2 threads=4": what is swept. */
void sweep_label(const sweep *s, const sweep_group *group, const sweep_point *point, char *text, size_t size);

/* set.c: times these points by turns, at most SWEEP_SET_MAX, and records those that have no figures of this round yet.
 * The first is the default, unless that cannot run. */
cnn_status sweep_time_set(sweep *s, sweep_group *group, sweep_point *const *points, int count, int64_t round,
                          cnn_error *err);

/* rank.c: by the figures of the points. Free ranking->list. */
cnn_status sweep_rank(const sweep_group *group, sweep_ranking *ranking, cnn_error *err);
/* Whether b may be as fast as a, by the rule for candidates, each beside its own default. */
bool sweep_tied(const sweep_point *a, const sweep_point *b, double resolution);

/* rounds.c: runs all rounds, but for what is recorded. */
cnn_status sweep_rounds(sweep *s, sweep_group *group, cnn_error *err);

/* rows.c: what identifies a point among records; the rows of a file. kind: "sweep" or "sweep_best". */
void sweep_record_identity(cnn_record *record, const sweep *s, const sweep_group *group);
cnn_record *sweep_point_record(const sweep *s, const sweep_group *group, const sweep_point *point, const char *kind);
/* The row that it becomes is the last one. */
cnn_status sweep_rows_add(sweep_rows *rows, const cnn_record *record, cnn_error *err);
cnn_status sweep_rows_read(sweep_rows *rows, const char *path, cnn_error *err);
void sweep_rows_free(sweep_rows *rows);
/* The latest row of the same kind, point, build and libraries as the record, of this round and this set (0: any), or
 * NULL. *elsewhere: there is one of another build, or with other libraries. */
const sweep_row *sweep_find_row(const sweep *s, const cnn_record *record, int64_t round, int64_t set, bool *elsewhere);
/* Sets the figures of the points that are alive. What another build measured is said, once, to be measured again. */
void sweep_find_figures(sweep *s, sweep_group *group, int64_t round);

/* table.c: prints who won, and records it, unless the sweep was stopped or it is recorded already. */
cnn_status sweep_conclude(sweep *s, const sweep_group *group, bool stopped, cnn_error *err);

/* keep.c: keeps each type's winner in the tuning file: the default, where it is tied with the best. */
cnn_status sweep_keep(sweep *s, const sweep_group *group, const sweep_ranking *ranking, cnn_error *err);

#endif
