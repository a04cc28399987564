/* workers.h: many small cases by several worker processes. A case that crashes or hangs ends its worker, not the run:
 * the case is reported and a new worker goes on behind it. */
#ifndef VERIFY_FUZZ_WORKERS_H
#define VERIFY_FUZZ_WORKERS_H

#include "fuzz.h"

typedef struct worker_message {
    int64_t index;
    int attempt; /* fuzz_draw()'s */
    int result;  /* what `work` says; negative: the worker died */
    fuzz_outcome outcome;
} worker_message;

enum { WORKER_DIED = -1, WORKERS_MOST = 64 };

typedef struct workers_job {
    int workers;
    int64_t first, count, block; /* cases first .. count-1; a worker takes a block of them at a time */
    int64_t seconds;             /* a case that takes longer is stopped; 0: none is */
    void *user;
    void *(*start)(void *user);  /* (optional) in the worker: what it keeps from case to case; NULL: it cannot run */
    void (*finish)(void *state); /* (with start) in the worker */
    cnn_status (*work)(void *user, void *state, int64_t index, worker_message *message); /* in the worker */
    /* In the parent, for each case as it comes in; false: enough. */
    bool (*each)(void *each_user, const worker_message *message);
    bool (*stop)(void *each_user); /* (optional) in the parent, asked often */
    void *each_user;
} workers_job;

/* Returns when all cases are done, or `each` or `stop` said enough and the cases in hand are done. CNN_INTERNAL when no
 * process can be started. The process must have started no threads of its own. */
cnn_status workers_run(const workers_job *job, cnn_error *err);

/* work(user, start(user), index) in a process of its own; a death is in the message as above. */
cnn_status workers_alone(const workers_job *job, int64_t index, worker_message *message, cnn_error *err);

#endif
