/* sweep.h: which points of a sweep run, and who is fastest.
 *
 * Points run in sets of a few, by turns, and the default runs in each set: what a point takes of the default's time
 * beside it can be compared with points of other sets. So a set that is interrupted costs little, and memory holds only
 * a set's buffers. All points run in the first round. Behind each round the clearly slower ones are dropped; the last
 * round is one set: "best" and "tied" rest on figures taken side by side. */
#ifndef BENCH_SWEEP_SWEEP_H
#define BENCH_SWEEP_SWEEP_H

#include "harness/cnn/impl.h"
#include "harness/record/identity.h"
#include "harness/record/record.h"

enum {
    SWEEP_KNOBS_MAX = 8, /* that are swept, at most */
    SWEEP_TYPES = CNN_DTYPE_COUNT * CNN_LAYOUT_COUNT,
    SWEEP_SET = 8,                          /* points of a set, beside the defaults */
    SWEEP_SET_MAX = SWEEP_SET + SWEEP_TYPES /* with the defaults of all types, in the last one */
};

typedef struct sweep_figures { /* of a point in a round, as its record holds them */
    int64_t round, set;        /* set: its number in the file; 0: an older record */
    bool timed;
    double median, low, high, resolution, baseline; /* baseline: the default's median in the same set; NaN: none */
    unsigned marks;                                 /* bench/measure/stats.h */
} sweep_figures;

typedef struct sweep_point {
    cnn_algorithm algorithm;
    int type, threads;
    int64_t knobs[SWEEP_KNOBS_MAX]; /* values, in the order of the axes; those of other implementations are unused */
    bool usual;                     /* the default, in its type */
    bool alive;                     /* it runs in the next round */
    bool crowded_out;               /* dropped, but not clearly slower: there was no room for all */
    sweep_figures figures;          /* of the last round that it was in; round 0: yet to run */
    double relative;                /* its median by the default's beside it; without a default its median */
    bool tied;                      /* with the best, side by side */
} sweep_point;

typedef struct sweep_ranking {
    sweep_point **list; /* those that were timed, fastest first; the best of the last round before all others */
    int count, tied, failed;
    int usual; /* where the default stands, from 0; -1: it was not timed */
    int64_t last_round;
    double resolution; /* of the last round: smaller ratios of medians may be nothing; NaN: not known */
} sweep_ranking;

/* rank.c: by the figures of the points, of which the first is the default. Free ranking->list. */
cnn_status sweep_rank(sweep_point *points, int count, sweep_ranking *ranking, cnn_error *err);
/* Whether b may be as fast as a, by the rule for candidates, each beside its own default. */
bool sweep_tied(const sweep_point *a, const sweep_point *b, double resolution);

/* drop.c: how many of a type (-1: of all) are alive, the default counted or not. */
int sweep_alive(const sweep_point *points, int count, int type, bool usual);
/* Behind a round: drops those that are clearly slower than the best of their type, and of the rest at least half. Each
 * type's default stays to the end: what it costs to leave things alone is the question. */
cnn_status sweep_drop(sweep_point *points, int count, cnn_error *err);
/* The last round is one set: figures of several sets, from an earlier sweep of other axes, say, were not side by side,
 * and are forgotten. */
void sweep_forget_unless_one_set(sweep_point *points, int count);

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

/* rows.c: the row that it becomes is the last one. */
cnn_status sweep_rows_add(sweep_rows *rows, const cnn_record *record, cnn_error *err);
cnn_status sweep_rows_read(sweep_rows *rows, const char *path, int *bad_lines, cnn_error *err);
void sweep_rows_free(sweep_rows *rows);
/* The latest row of the same kind, point, build and libraries as the record, of this round and this set (0: any), or
 * NULL. *elsewhere: there is one of another build, or with other libraries. */
const sweep_row *sweep_find_row(const sweep_rows *rows, const cnn_record *record, int64_t round, int64_t set,
                                bool *elsewhere);

#endif
