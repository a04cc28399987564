/* parts.h: what the files of `benchcnn sweep` share: cmd_sweep.c says which sweep it is, batch.c trains
 * networks; the others time single operations over a product of axes. axes.c reads the axes, points.c makes
 * a group's points of them, heat.c times some of them by turns, rows.c keeps what is recorded, rank.c
 * ranks, final.c times the leaders again, side by side, table.c says who won, keep.c keeps it.
 *
 * A group is an implementation, a problem and a direction. Its points run in heats of a few, by turns, and the default
 * runs in each heat: so a heat that is interrupted costs little, memory holds only a heat's buffers, and what the
 * default's figures differ by between heats is known. Who may be the best is told by these; who is, by one more heat of
 * those alone, with the default. */
#ifndef CLI_SWEEP_PARTS_H
#define CLI_SWEEP_PARTS_H

#include "cli/bench/parts.h"
#include "harness/record/build_id.h"

enum {
    SWEEP_KNOBS_MAX = 8,   /* --knob, at most */
    SWEEP_VALUES_MAX = 64, /* of one knob; thread counts */
    SWEEP_TABLE_MAX = 256, /* knobs that an implementation may have, at most */
    SWEEP_POINTS_MAX = 10000,
    SWEEP_HEAT = 8, /* points beside the default */
    SWEEP_TYPES = CNN_DTYPE_COUNT * CNN_LAYOUT_COUNT,
    SWEEP_HEAT_MAX = SWEEP_HEAT + SWEEP_TYPES /* beside the defaults of all types, in the final one */
};

typedef struct sweep_knob {
    const cnn_impl *impl;
    int index; /* in impl->knobs */
    int64_t values[SWEEP_VALUES_MAX];
    int count;
} sweep_knob;

typedef struct sweep_axes {
    bool threads, algorithm, layout, dtype, knob;
    sweep_knob knobs[SWEEP_KNOBS_MAX];
    int n_knobs;
    int64_t thread_counts[SWEEP_VALUES_MAX];
    int n_threads;
} sweep_axes;

typedef enum sweep_row_kind { SWEEP_POINT, SWEEP_FINAL, SWEEP_BEST, SWEEP_ROW_KINDS } sweep_row_kind;

typedef struct sweep_row { /* a record: of a point, of one in a final heat, of a group's best */
    char *key;             /* what tells its figure from others */
    char build[BUILD_ID_MAX], libraries[BUILD_ID_MAX]; /* what measured it; "": an older record, which does not say */
    sweep_row_kind kind;
    int64_t heat; /* which final heat; 0: none */
    bool timed;
    double median, low, high, resolution, anchor;
} sweep_row;

typedef struct sweep_rows {
    sweep_row *items;
    int count, capacity;
    char build[BUILD_ID_MAX]; /* this one */
} sweep_rows;

typedef struct sweep_point {
    cnn_algorithm algorithm;
    int type, threads;
    int64_t knobs[SWEEP_KNOBS_MAX]; /* values, in the order of axes.knobs; those of other implementations are unused */
    bool anchor;                    /* the default, in its type */
    int row;                        /* in rows, or -1: yet to run */
    int final;                      /* its row of the final heat, or -1: it was not in it */
} sweep_point;

typedef struct sweep_group {
    int session; /* in bench.sessions: open throughout, with the default's settings */
    cnn_problem problem;
    cnn_dir dir;
    bool wants_tuned;              /* --impl NAME:tuned: the default is what the tuning file holds */
    tuned_pick tuned[SWEEP_TYPES]; /* then */
    sweep_point *points;           /* a block for each type, its anchor first; points[0] is the default */
    int count;
} sweep_group;

typedef struct sweep {
    bench b;
    sweep_axes axes;
    const char *axes_text; /* as typed */
    sweep_rows rows;
    record_sink *tune;                             /* where winners are kept; NULL: nowhere */
    char libraries[CNN_MAX_CHOICES][BUILD_ID_MAX]; /* of each session */
    int chosen, held;                              /* choices written to the tuning file; those that it held already */
    int ran, kept, again, refused, wrong;          /* again: measured before, by another build */
    double start, timed_s, warm_up_s;
    const char *hand; /* whose group it is, and what for */
    char doing[WATCH_DOING_MAX];
} sweep;

typedef struct sweep_entry {
    sweep_point *point;
    const sweep_row *row; /* of the final heat, if it was in it */
    double seconds; /* what it is ranked by: the median; without a final heat, as much of the default's as it was */
    bool tied;      /* with the best, side by side */
    bool nearly;    /* it was when heats were compared, but there was no room for it in the final one */
} sweep_entry;

typedef struct sweep_ranking {
    sweep_entry *list; /* those that were timed, fastest first */
    int count, tied, nearly, failed;
    int usual;         /* where the default stands, from 0; -1: it was not timed */
    double resolution; /* smaller ratios of medians may be nothing; NaN: not known */
    int64_t heat;      /* the final one's; 0: there was none */
} sweep_ranking;

int sweep_batch(const cli_options *options, cnn_error *err);

/* batch_set_up.c: what `sweep batch` is given. */
cnn_status batch_sweep_args(const cli_options *options, cnn_error *err);

/* axes.c: the words after `sweep` and --knob. *batch: it is `sweep batch`, and nothing else was read. */
cnn_status sweep_read_axes(const cli_options *options, sweep_axes *axes, bool *batch, cnn_error *err);

/* points.c. Makes group->points (free() them); none when --impl chooses no algorithm for the problem. */
cnn_status sweep_make_points(sweep *s, sweep_group *group, cnn_error *err);
cnn_problem sweep_problem(const sweep *s, const sweep_group *group, const sweep_point *point); /* in the point's type */
/* A session that describes the point without being open: the default's context, the point's settings.
 * values: SWEEP_TABLE_MAX. */
cnn_session sweep_describe(const sweep *s, const sweep_group *group, const sweep_point *point, int64_t *values);
/* "tile.pixels=2 threads=4": what is swept. */
void sweep_label(const sweep *s, const sweep_group *group, const sweep_point *point, char *text, size_t size);

/* heat.c: times points[list[0..count-1]], at most SWEEP_HEAT_MAX. cases: one a type. final 0: all are of one
 * type, list[0] being its anchor, and each that is not yet is recorded; else they are the final heat with this number,
 * and all are recorded. */
cnn_status sweep_heat(sweep *s, sweep_group *group, const int *list, int count, const vf_case *cases, int64_t final,
                      cnn_error *err);

/* rank.c. Free ranking->list. first_heats: as if there were no final heat. */
cnn_status sweep_rank(const sweep *s, const sweep_group *group, bool first_heats, sweep_ranking *ranking,
                      cnn_error *err);
/* Whether b may be as fast as a, by the rule for candidates. */
bool sweep_tied(const sweep_row *a, const sweep_row *b, double resolution);
/* final.c: times the leaders and the defaults again, unless that is done or one of them is alone. */
cnn_status sweep_final(sweep *s, sweep_group *group, cnn_error *err);

/* rows.c: what identifies a point among records; the rows of a file. */
void sweep_record_identity(cnn_record *record, const sweep *s, const sweep_group *group);
cnn_record *sweep_point_record(const sweep *s, const sweep_group *group, const sweep_point *point, sweep_row_kind kind);
cnn_status sweep_rows_add(sweep_rows *rows, const cnn_record *record, cnn_error *err);
cnn_status sweep_rows_read(sweep_rows *rows, const char *path, cnn_error *err);
void sweep_rows_free(sweep_rows *rows);
/* Sets the points' rows: those of this build, with these libraries; what others measured is said to be measured again.
 */
cnn_status sweep_find_rows(sweep *s, sweep_group *group, cnn_error *err);
bool sweep_is_recorded(const sweep *s, const cnn_record *record, sweep_row_kind kind, int64_t heat);

/* table.c: prints who won, and records it, unless the sweep was stopped or it is recorded already. */
cnn_status sweep_conclude(sweep *s, const sweep_group *group, bool stopped, cnn_error *err);

/* keep.c: keeps each type's winner in the tuning file: the default, where it is tied with the best. */
cnn_status sweep_keep(sweep *s, const sweep_group *group, const sweep_ranking *ranking, cnn_error *err);

#endif
