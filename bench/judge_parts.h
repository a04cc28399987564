/* judge_parts.h: what the files of the judge share: judge.c decides what is judged, judge_disturb.c changes what a run
 * finds, judge_project.c projects. */
#ifndef BENCH_JUDGE_PARTS_H
#define BENCH_JUDGE_PARTS_H

#include "harness/rng.h"
#include "judge.h"

enum { JUDGE_FACTORS = 1021, JUDGE_TOUCHED = 64 };

/* An input element that is not what the case says. */
typedef struct touched {
    int operand;
    int64_t index;
    double was;
} touched;

struct judge {
    const cnn_session *session;
    const cnn_plan *plan;
    vf_case c; /* a copy: as the inputs are now, with what must come out */
    vf_guarded guarded[CNN_MAX_OPERANDS], workspace;
    void *buffers[CNN_MAX_OPERANDS];
    cnn_rng rng; /* seeded by the system: no kernel knows what comes */
    bool sums;   /* a convolution or FC layer: results follow the inputs by vf_retouch, and are projected */
    touched touched[JUDGE_TOUCHED];
    int n_touched;
    double factors[JUDGE_FACTORS];
    double expected[CNN_MAX_OPERANDS]; /* projections */
    double allowed[CNN_MAX_OPERANDS];
    double moved; /* by how much the last disturbance moved the projections, in units of what is allowed */
    void *room;   /* for the largest operand */
    double run_s, projection_s, whole_s; /* of all runs so far; of the last of each */
    judge_count count;
    verify_result verdict;
};

/* One element of an operand, where the device has it. */
cnn_status judge_put(const judge *j, int operand, int64_t index, double value, cnn_error *err);

/* The inputs as the case has them. */
cnn_status judge_restore(judge *j, cnn_error *err);
void judge_projections_open(judge *j);
/* What the outputs must project to now. */
void judge_expect(judge *j);
/* vf_changed: keeps `expected` in step. */
void judge_follow(void *user, int operand, int64_t index, double difference);
/* Whether the outputs project to what they must. */
cnn_status judge_project(judge *j, bool *agrees, cnn_error *err);

#endif
