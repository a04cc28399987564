/* threads.h: a pool of worker threads for CPU code (implementations, the reference).
 *
 * parallel_for(pool, tasks, body, arg) calls body(arg, task, worker) once for each task in [0, tasks), worker in
 * [0, threads). Each thread takes the tasks of its own share first, in ascending order, then helps with the others'; so
 * neighbouring tasks mostly meet the same core's cache. The caller takes part; it returns when all are done. Which
 * worker runs a task varies; so results must depend on `task` only, never on `worker`, which is there to choose a
 * scratch buffer. Workers spin a little before they sleep, since training steps are short.
 *
 * All threads are woken, and one that is in a task takes no other: of no more tasks than threads all are under way at
 * once, so they may wait for one another. */
#ifndef HARNESS_CPU_THREADS_H
#define HARNESS_CPU_THREADS_H

#include "../cnn.h"

typedef struct thread_pool thread_pool;
typedef void parallel_body(void *arg, int64_t task, int worker);

cnn_status thread_pool_open(int threads, thread_pool **pool, cnn_error *err);
void thread_pool_close(thread_pool *pool);
int thread_pool_threads(const thread_pool *pool);
/* pool == NULL, one thread or one task: runs in the caller. Not re-entrant: a body must not call it. */
void parallel_for(thread_pool *pool, int64_t tasks, parallel_body *body, void *arg);

int cpu_count(void); /* cores this process may use: those it may run on, or that its control group pays for */

#endif
