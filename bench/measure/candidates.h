/* candidates.h: several algorithms on one problem, timed by turns in one process (A B, B A, ...), so that whatever
 * drifts in the machine hits all alike.
 *
 * With params->control the first that can run takes part twice, in buffers of its own each time: A B C A', A' C B A,
 * ... What its two figures differ by is nothing the kernels did, and so is any smaller difference between others. */
#ifndef BENCH_MEASURE_CANDIDATES_H
#define BENCH_MEASURE_CANDIDATES_H

#include "harness/cpu/counters.h"
#include "harness/record/tuning.h"
#include "measure.h"

typedef enum candidate_state {
    CANDIDATE_TIMED,       /* its outputs were right */
    CANDIDATE_WRONG,       /* they were not, or proved nothing: its figures are not to be shown */
    CANDIDATE_UNSUPPORTED, /* the implementation cannot do this problem */
    CANDIDATE_NO_MEMORY,   /* the problem does not fit */
    CANDIDATE_FAILED,      /* an operation of its own failed: a broken device, say */
    CANDIDATE_TOO_SHORT    /* its outputs were right, but by the clock it takes no time at all: that is no figure */
} candidate_state;

typedef struct candidate {
    const cnn_session *session;
    cnn_algorithm algorithm;
    clock_watch *watch;       /* of the session; NULL: nothing is told of clocks */
    const vf_case *own;       /* (optional) its own case, where candidates are of several types */
    const cnn_session *again; /* (optional) of the same settings: for its turns as the control, where others have
                                 sessions of their own, and so threads elsewhere; else `session` */
    const char *arm; /* (optional) of a round of fresh processes: "A"; "A'", the same once more; "B", another one */
    bool tuned;      /* it was chosen as "tuned": so its record names it, and what that stands for */
    tuning_state tuning;
    const tuning_choice *choice; /* when kept; else NULL */
    candidate_state state;
    char reason[CNN_MESSAGE_MAX]; /* unless timed */
    measure *measure;
    measure_result result;  /* when timed, wrong or too short */
    bool beyond;            /* it beats a ceiling that is in no doubt: it is no best */
    double resolution;      /* the A/A control's: ratios of medians this close to 1 may be nothing; NaN without one */
    counter_report counted; /* by the caller, behind the timing: events 0 where it did not */
} candidate;

/* One with a reason already has failed and is left alone. Times and checks the others, on their own cases or this one.
 * An error is a candidate's own and becomes its state; only CNN_INTERRUPTED (params->stop) is returned, and nothing in
 * the list is a result then. The results last until candidates_close(). */
cnn_status candidates_time(candidate *list, int count, const vf_case *c, const measure_params *params, cnn_error *err);
void candidates_close(candidate *list, int count);

/* The fastest that was right and no faster than the device can be, or -1. */
int candidates_best(const candidate *list, int count);
/* Whether `other` may be as fast as `best`: their intervals meet, or they differ by no more than the control did. */
bool candidates_tied(const candidate *best, const candidate *other);

/* The record of design section 8; kind: the operation's name, or what it is a point of. Figures only where the outputs
 * were right. */
cnn_record *candidate_record(const char *kind, const candidate *c, const vf_case *problem_case,
                             const measure_params *params, const char *repro);
/* The other way round, of a record's "state"; one whose outputs were wrong counts as failed there. */
candidate_state candidate_state_of(const char *name);

#endif
