/* mutant_runs.h: running mutants: each is benchcnn itself with one change in an implementation, a program of its own;
 * so one that crashes or hangs harms nobody. */
#ifndef CLI_MUTANTS_MUTANT_RUNS_H
#define CLI_MUTANTS_MUTANT_RUNS_H

#include "harness/cnn.h"
#include "verify/mutants/list.h"
#include "verify/verify.h"

/* How a run ended. HELD: nothing was noticed. BROKEN: it could not be run, or nothing ran in it: that proves nothing.
 */
typedef enum run_end { RUN_HELD, RUN_CAUGHT, RUN_CRASHED, RUN_HUNG, RUN_BROKEN } run_end;
const char *run_end_name(run_end end); /* "held", "caught", "crash", "hang", "broken" */

typedef struct mutant_run {
    const mutant *mutant; /* whose `of` and `verify` are asked */
    const char *program;  /* its name, in the folder of mutants */
    bool control;         /* the implementation as it is, built the same way */
    run_end end;
    int failed[VERIFY_CHECK_COUNT], passed[VERIFY_CHECK_COUNT]; /* cases; 0 and 0: the check said nothing */
    double seconds;
    char reason[VERIFY_TEXT_MAX]; /* the first failure in words, or what went wrong */
} mutant_run;

typedef struct run_settings {
    const char *folder; /* of the programs */
    int64_t seed, threads, device;
    int jobs;    /* runs at a time */
    double most; /* seconds after which a run counts as hung */
    void (*done)(void *user, const mutant_run *run);
    void *user;
} run_settings;

/* Runs all; CNN_INTERRUPTED by Ctrl-C, when what still runs is ended. */
cnn_status mutant_runs(mutant_run *runs, int count, const run_settings *settings, cnn_error *err);
/* The command that repeats a run. */
void mutant_command(const mutant_run *run, const run_settings *settings, char *text, size_t size);

#endif
