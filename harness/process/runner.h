/* runner.h: a process that foreign code runs in, and nothing else: this program, begun anew. It has none of the memory
 * of the one that starts it but a region that both share, none of its open files but standard error and two sockets,
 * and its command line says what is to be loaded, and no more. */
#ifndef HARNESS_PROCESS_RUNNER_H
#define HARNESS_PROCESS_RUNNER_H

#include "child.h"
#include "region.h"

enum { RUNNER_SOCKETS = 2, RUNNER_WORDS_MAX = 600 };

typedef struct runner {
    pid_t pid; /* 0: none */
    int sockets[RUNNER_SOCKETS];
    region memory;
    child_shared *shared; /* in that memory: where it crashed */
} runner;

/* `words`, of which the last is NULL, is what it is told on its command line; code: a file that it gets as
 * RUNNER_CODE, or -1. No other process can look into this one from here on. The memory that both share has `bytes`, of
 * which only those that are used count. */
enum { RUNNER_CODE = 6 };
cnn_status runner_start(runner *r, const char *const words[], int code, size_t bytes, cnn_error *err);
/* Waits until it has said something, for as long as it lives. False: it has ended. */
bool runner_listen(const runner *r, int which);
/* It said what is no answer, or nothing: it is ended, if it has not, and how, in words. */
void runner_end(runner *r, char *how, size_t size);
/* Ends it without a word, and frees what was shared. */
void runner_stop(runner *r);

/* ---- In the runner. */

/* Whether that is what this process was started to be: *words are those above. */
bool runner_is(char **argv, char ***words);
/* First of all: takes what is shared. Whatever is forked from here on ends with this process. */
cnn_status runner_begin(char **argv, int sockets[RUNNER_SOCKETS], cnn_error *err);
/* A copy of the runner that foreign code forked ends here. */
void runner_check_self(void);

#endif
