/* plain_runs.h: an operation, some times over, and nothing else: for a profiler or a debugger around the program. */
#ifndef BENCH_MEASURE_PLAIN_RUNS_H
#define BENCH_MEASURE_PLAIN_RUNS_H

#include "harness/cpu/counters.h"
#include "harness/device/impl.h"
#include "verify/oracle/case.h"

typedef struct plain_runs {
    const cnn_session *session;
    const cnn_algorithm *algorithm;
    const vf_case *c; /* problem, direction and data (VF_DATA) */
    const char *name; /* how the vendor's profiler shows the runs: a range around all of them */
    int64_t runs;
    bool (*stop)(void); /* asked before each run; true ends with CNN_INTERRUPTED. NULL: never */
    uint32_t events;    /* to be counted around the runs, behind three others; with them `counted` */
    counter_report *counted;
} plain_runs;

/* Plans, uploads, runs so many times in a row with beta 0, waits. Nothing is verified, timed, flushed or captured.
 * CNN_UNSUPPORTED with the reason; CNN_OUT_OF_MEMORY before anything is allocated. */
cnn_status plain_runs_do(const plain_runs *, cnn_error *);

#endif
