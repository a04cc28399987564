/* processes.h: what the files of `bench --processes` share: processes.c goes through the rounds, arms.c finds who takes
 * part, fresh.c starts a process and takes its records. */
#ifndef CLI_BENCH_PROCESSES_H
#define CLI_BENCH_PROCESSES_H

#include "cli/cli.h"

enum { ARMS_MAX = 64, ARM_NAME_MAX = 2 * CNN_NAME_MAX };

typedef struct arm {
    char name[ARM_NAME_MAX]; /* for --impl */
    const char *letter;      /* "A", "B", or "A'": the first once more, behind all others */
    bool begun;              /* its environment is recorded, and what its processes say was shown */
    FILE *records;           /* of its process in this round */
} arm;

typedef struct fresh {
    const cli_options *options;
    cli_output output;
    cli_progress progress;
    arm arms[ARMS_MAX];
    int count; /* arms, A' among them */
    char *all; /* --together: the names of all, A' apart, as --impl takes them; a round is one process. Else NULL */
    const char **words;
    char number[24];       /* one of the words: the round's number */
    int64_t round;         /* from 1 */
    int64_t timed, failed; /* figures; of all processes */
} fresh;

/* arms.c: the candidates that --impl chooses, in a process that is gone afterwards: none of their code runs in this
 * one. The words that start any of them. CNN_UNAVAILABLE: nobody does any of it. */
cnn_status fresh_find(fresh *f, cnn_error *err);
/* fresh.c: runs the arm's process to its end. CNN_INTERRUPTED; CNN_BAD_ARGUMENT where it says that of its options. */
cnn_status fresh_run(fresh *f, arm *a, cnn_error *err);
/* How many processes a round has: one an arm, or one for all, which is the first arm's. */
static inline int fresh_processes(const fresh *f) { return f->all != NULL ? 1 : f->count; }
/* Writes what the arm's process recorded. */
cnn_status fresh_write(fresh *f, arm *a, cnn_error *err);

#endif
