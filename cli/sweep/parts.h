/* parts.h: what the files of `benchcnn sweep` share: cmd_sweep.c runs all groups, axes.c reads the axes, points.c makes
 * a group's points of them, rounds.c runs them round by round, set.c times some of them by turns, table.c says who won,
 * keep.c keeps it. A group is an implementation, a problem and a direction. */
#ifndef CLI_SWEEP_PARTS_H
#define CLI_SWEEP_PARTS_H

#include "bench/sweep/sweep.h"
#include "cli/bench/parts.h"

enum {
    SWEEP_VALUES_MAX = 64, /* of one knob; thread counts */
    SWEEP_TABLE_MAX = 256, /* knobs that an implementation may have, at most */
    SWEEP_POINTS_MAX = 10000,
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

typedef struct sweep_group {
    int session; /* in bench.sessions: open throughout, with the default's settings */
    const problem_entry *entry;
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

/* axes.c: the words after `sweep`. */
cnn_status sweep_read_axes(const cli_options *options, sweep_axes *axes, cnn_error *err);

/* knobs.c. */
bool sweep_concerns(const cnn_impl *impl, const cnn_knob *knob, const char *algorithm);
/* CNN_BAD_ARGUMENT for a knob that no point of what --impl chooses would read: its values would all be one point. */
cnn_status sweep_check_knobs(const cli_options *options, const sweep_axes *axes, cnn_error *err);

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

/* rounds.c: runs all rounds, but for what is recorded. */
cnn_status sweep_rounds(sweep *s, sweep_group *group, cnn_error *err);

/* What identifies a point among records. kind: "sweep" or "sweep_best". */
void sweep_record_identity(cnn_record *record, const sweep *s, const sweep_group *group);
cnn_record *sweep_point_record(const sweep *s, const sweep_group *group, const sweep_point *point, const char *kind);

/* table.c: prints who won, and records it, unless the sweep was stopped or it is recorded already. */
cnn_status sweep_conclude(sweep *s, const sweep_group *group, bool stopped, cnn_error *err);

/* keep.c: keeps each type's winner in the tuning file: the default, where it is tied with the best. */
cnn_status sweep_keep(sweep *s, const sweep_group *group, const sweep_ranking *ranking, cnn_error *err);

#endif
