/* judge_parts.h: what the files of the judge share: judge.c decides what is judged, judge_buffers.c has the operands,
 * judge_disturb.c and judge_fresh.c change what a run finds, judge_late.c sees who writes late, judge_project.c
 * projects, judge_windows.c looks at a sample's earlier runs. */
#ifndef BENCH_MEASURE_JUDGE_PARTS_H
#define BENCH_MEASURE_JUDGE_PARTS_H

#include "harness/base/rng.h"
#include "harness/device/impl.h"
#include "judge.h"
#include "judge_basis.h"
#include "verify/oracle/compare.h"
#include "verify/oracle/guard.h"

enum { JUDGE_ALWAYS = 3, JUDGE_TOUCHED = 64, JUDGE_SPOILED = 64, JUDGE_STEP = 4 * CNN_ALIGN };

/* hands.c: reads, writes and fills a device's memory without the implementation that is judged: by one of the harness's
 * own for the same kind of device. So what a plug-in puts off until its results are fetched, or does ahead when its
 * inputs change, it never learns of. */
typedef struct hands {
    const cnn_session *session; /* for cnn_mem_upload, cnn_mem_download, cnn_mem_fill, cnn_sync */
    cnn_session own;            /* what is opened for that; empty where `session` is the one that is judged */
    bool trusted;               /* false: this build has nothing else for the device than what is judged */
} hands;
void hands_open(const cnn_session *judged, hands *h);
void hands_close(hands *h);

/* An input element that is not what the case says. */
typedef struct touched {
    int operand;
    int64_t index;
    double was;
} touched;

/* An element of an output on the host, as it was spoiled before the run. */
typedef struct spoiled {
    const char *at;
    unsigned char bytes[8];
    size_t size;
    int operand;
    bool left; /* by the run, when it returned */
} spoiled;

struct judge {
    const cnn_session *session;
    const cnn_plan *plan;
    hands hands; /* by which operands are written and results are read */
    vf_case c;   /* a copy: as the inputs are now, with what must come out */
    vf_guarded guarded[CNN_MAX_OPERANDS], workspace;
    void *buffers[CNN_MAX_OPERANDS];
    judge_upload upload;          /* what filling them with inputs has cost */
    size_t lead_bytes;            /* what lies before each of the buffers: the windows of a sample's earlier runs */
    void *lead[CNN_MAX_OPERANDS]; /* what is there before a run; of one that is fresh, and of it itself */
    judge_basis *basis, *own;     /* NULL: no sums; own: the one to be closed */
    int fresh;                    /* the input that is not the case's in any element; -1: none */
    void *pool;                   /* the basis's, on the device */
    int back;                     /* the run drawn to be looked at, so many before the last; 0: none */
    cnn_rng rng;                  /* seeded by the system: no kernel knows what comes */
    bool sums; /* a convolution or FC layer, neither quantized nor with an epilogue: results follow the inputs by
                  vf_retouch, and are projected */
    touched touched[JUDGE_TOUCHED];
    int n_touched;
    spoiled spoiled[JUDGE_SPOILED];
    int n_spoiled;
    double expected[CNN_MAX_OPERANDS]; /* projections */
    double allowed[CNN_MAX_OPERANDS];
    double moved; /* by how much the last disturbance moved the projections, in units of what is allowed */
    void *room;   /* for the largest operand and its lead */
    double run_s, projection_s; /* of all runs so far; of the last projection */
    double whole_s,
        fresh_s; /* of the last judging of all elements; where an input was fresh, which takes a reference */
    judge_count count;
    verify_result verdict;
};

/* judge_buffers.c: guarded buffers for all operands, with `lead_bytes` before each, filled. */
cnn_status judge_buffers_open(judge *j, cnn_error *err);
void judge_buffers_close(judge *j);
/* Operand i as a run is to find it: an input, or plausible wrong values. */
cnn_status judge_fill(judge *j, int i, cnn_error *err);

/* judge_windows.c: before `runs` runs: draws one of those before the last, and changes what it finds, in input
 * `operand` (-1: in none) and in its outputs. */
cnn_status judge_disturb_window(judge *j, int operand, int runs, cnn_error *err);
/* Compares what that run left; `now`: the last one's case. */
cnn_status judge_window(judge *j, const vf_case *now, cnn_error *err);

/* One element of an operand, where the device has it. */
cnn_status judge_put(const judge *j, int operand, int64_t index, double value, cnn_error *err);

/* The inputs as the case has them. */
cnn_status judge_restore(judge *j, cnn_error *err);

/* judge_fresh.c: before a run: all elements of `operand` become others, and so does what lies before it; what else was
 * changed is the case's again. */
cnn_status judge_fresh_open(judge *j, cnn_error *err);
void judge_fresh_close(judge *j);
cnn_status judge_freshen(judge *j, int operand, cnn_error *err);
/* All inputs are the case's again. */
cnn_status judge_stale(judge *j, cnn_error *err);
/* While one is fresh: what an output must project to; and the case as it is now, to be freed by vf_case_free(). */
double judge_fresh_expected(const judge *j, int output);
cnn_status judge_fresh_case(const judge *j, vf_case *now, cnn_error *err);
/* judge_late.c: so many elements of each output get wrong values; the first JUDGE_SPOILED of all of them are
 * remembered: of so many, one is in what is still to be written. Before anything else writes outputs: whether a run
 * wrote them late. */
cnn_status judge_spoil(judge *j, int elements, cnn_error *err);
void judge_late(judge *j);
void judge_projections_open(judge *j);
/* What the outputs must project to now. */
void judge_expect(judge *j);
/* vf_changed: keeps `expected` in step. */
void judge_follow(void *user, int operand, int64_t index, double difference);
/* Whether the outputs project to what they must. */
cnn_status judge_project(judge *j, bool *agrees, cnn_error *err);

#endif
