/* threads.c: the worker pool behind parallel_for.
 *
 * The idea: a job is a body, an argument and, for each thread, a range of task numbers, from which it takes first; when
 * its own is empty it helps with the others'. So the same images stay with the same core from one layer to the next,
 * where their data are still in its cache, and nobody idles while there is work. A gate, one atomic word, says whether
 * the job is open and how many workers are inside. The caller opens the gate, works too, closes the gate
 * when no task is left, and waits until the last worker is out. A worker that comes too late finds the gate closed and
 * touches nothing; so nobody waits for a thread that has not woken up, and the job's fields may be rewritten freely
 * while the gate is closed and the room empty.
 *
 * Between jobs a worker watches `generation`: it spins for a short time, since the next layer follows within
 * microseconds, then sleeps. With more threads than cores, spinning would take the core from those that work: then it
 * sleeps at once. */
#include "threads.h"

#include "harness/base/clock.h"
#include "limits.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CACHE_LINE = 64, PAUSES_PER_CLOCK = 16 };
#define SPIN_SECONDS 50e-6

/* The gate: two flags, and below them the number of workers inside. */
#define GATE_CLOSED (1u << 31)
#define GATE_AWAITED (1u << 30) /* the caller sleeps until the last worker is out */
#define GATE_INSIDE (GATE_AWAITED - 1)

typedef struct worker {
    pthread_t thread;
    thread_pool *pool;
    int index;
} worker;

/* The tasks [next, end) of one thread; a cache line of its own, since others look at it only when they have no more. */
typedef struct task_range {
    _Alignas(CACHE_LINE) atomic_int_least64_t next;
    int64_t end;
} task_range;

struct thread_pool {
    /* The words that threads contend for have a cache line each. */
    _Alignas(CACHE_LINE) atomic_uint generation; /* + 1 a job: tells workers to look at the gate */
    _Alignas(CACHE_LINE) atomic_uint gate;
    _Alignas(CACHE_LINE) parallel_body *body; /* from here on: read by many, written seldom */
    void *arg;
    int threads, started; /* workers started: threads - 1 */
    double spin;          /* seconds */
    atomic_bool stop;
    atomic_int sleepers;
    pthread_mutex_t mutex; /* only for going to sleep and waking */
    pthread_cond_t wake, out;
    worker *workers;
    task_range *ranges;
};

/* Tells the core that this is a waiting loop: saves power, and leaves the other hyper-thread the execution units. */
static inline void pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* A bounded wait: spin_more() pauses, and says false once `seconds` have passed since the first call. */
typedef struct spin {
    double seconds, deadline;
    int pauses;
} spin;

static bool spin_more(spin *s)
{
    if (s->seconds <= 0) return false;
    if (s->pauses++ % PAUSES_PER_CLOCK == 0) {
        const double now = cnn_now();
        if (s->pauses == 1) s->deadline = now + s->seconds;
        if (now >= s->deadline) return false;
    }
    pause_core();
    return true;
}

/* ---- The gate ---------------------------------------------------------------------------------------------------- */

static void gate_leave(thread_pool *pool)
{
    unsigned before = atomic_fetch_sub_explicit(&pool->gate, 1, memory_order_acq_rel);
    if ((before & GATE_AWAITED) && (before & GATE_INSIDE) == 1) {
        pthread_mutex_lock(&pool->mutex);
        pthread_cond_signal(&pool->out);
        pthread_mutex_unlock(&pool->mutex);
    }
}

static bool gate_enter(thread_pool *pool)
{
    unsigned before = atomic_fetch_add_explicit(&pool->gate, 1, memory_order_acq_rel);
    if (!(before & GATE_CLOSED)) return true;
    gate_leave(pool);
    return false;
}

static bool gate_empty(thread_pool *pool)
{
    return (atomic_load_explicit(&pool->gate, memory_order_acquire) & GATE_INSIDE) == 0;
}

/* The caller's: lets no more workers in and waits for those inside. */
static void gate_close(thread_pool *pool)
{
    spin s = {.seconds = pool->spin};
    atomic_fetch_or_explicit(&pool->gate, GATE_CLOSED, memory_order_acq_rel);
    while (!gate_empty(pool)) {
        if (spin_more(&s)) continue;
        pthread_mutex_lock(&pool->mutex);
        atomic_fetch_or_explicit(&pool->gate, GATE_AWAITED, memory_order_acq_rel);
        while (!gate_empty(pool)) pthread_cond_wait(&pool->out, &pool->mutex);
        atomic_fetch_and_explicit(&pool->gate, ~GATE_AWAITED, memory_order_acq_rel);
        pthread_mutex_unlock(&pool->mutex);
    }
}

/* ---- Workers ----------------------------------------------------------------------------------------------------- */

static void take_tasks(thread_pool *pool, int index)
{
    for (int i = 0; i < pool->threads; i++) {
        task_range *range = &pool->ranges[(index + i) % pool->threads];
        while (atomic_load_explicit(&range->next, memory_order_relaxed) < range->end) {
            int64_t task = atomic_fetch_add_explicit(&range->next, 1, memory_order_relaxed);
            if (task < range->end) pool->body(pool->arg, task, index);
        }
    }
}

/* Returns the new generation once it differs from `seen`. Both the count of sleepers and the generation are written
 * and read in one total order (seq_cst): either the sleeper sees the new generation, or the caller sees the sleeper. */
static unsigned wait_for_generation(thread_pool *pool, unsigned seen)
{
    spin s = {.seconds = pool->spin};
    while (atomic_load(&pool->generation) == seen) {
        if (spin_more(&s)) continue;
        pthread_mutex_lock(&pool->mutex);
        atomic_fetch_add(&pool->sleepers, 1);
        while (atomic_load(&pool->generation) == seen) pthread_cond_wait(&pool->wake, &pool->mutex);
        atomic_fetch_sub(&pool->sleepers, 1);
        pthread_mutex_unlock(&pool->mutex);
    }
    return atomic_load(&pool->generation);
}

/* Announces a job (or the end) and wakes up to `most` of the workers that sleep. */
static void announce(thread_pool *pool, int64_t most)
{
    atomic_fetch_add(&pool->generation, 1);
    if (atomic_load(&pool->sleepers) == 0) return;
    pthread_mutex_lock(&pool->mutex);
    int64_t asleep = atomic_load(&pool->sleepers);
    for (int64_t i = 0; i < asleep && i < most; i++) pthread_cond_signal(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

static void *worker_main(void *arg)
{
    const worker *self = arg;
    thread_pool *pool = self->pool;
    unsigned seen = 0;
    for (;;) {
        seen = wait_for_generation(pool, seen);
        if (atomic_load(&pool->stop)) return NULL;
        if (!gate_enter(pool)) continue;
        take_tasks(pool, self->index);
        gate_leave(pool);
    }
}

/* ---- The public functions ---------------------------------------------------------------------------------------- */

/* Signals (Ctrl-C) are left to the thread that opened the pool. */
static int start_worker(worker *w)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&w->thread, NULL, worker_main, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

cnn_status thread_pool_open(int threads, thread_pool **result, cnn_error *err)
{
    *result = NULL;
    if (threads < 1) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%d threads: at least 1 is needed", threads);
    thread_pool *pool = aligned_alloc(CACHE_LINE, sizeof *pool);
    worker *workers = calloc((size_t)threads, sizeof *workers);
    task_range *ranges = aligned_alloc(CACHE_LINE, (size_t)threads * sizeof *ranges);
    if (pool == NULL || workers == NULL || ranges == NULL) {
        free(pool);
        free(workers);
        free(ranges);
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a pool of %d threads", threads);
    }
    memset(pool, 0, sizeof *pool);
    pool->workers = workers;
    pool->ranges = ranges;
    memset(ranges, 0, (size_t)threads * sizeof *ranges);
    pool->threads = threads;
    pool->spin = threads <= cpu_count() ? SPIN_SECONDS : 0;
    atomic_init(&pool->gate, GATE_CLOSED);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->out, NULL);
    for (int i = 1; i < threads; i++) {
        workers[i] = (worker){.pool = pool, .index = i};
        int failed = start_worker(&workers[i]);
        if (failed) {
            thread_pool_close(pool);
            return CNN_FAIL(err, CNN_UNAVAILABLE, "cannot start thread %d of %d: %s", i + 1, threads, strerror(failed));
        }
        pool->started++;
    }
    *result = pool;
    return CNN_OK;
}

void thread_pool_close(thread_pool *pool)
{
    if (pool == NULL) return;
    atomic_store(&pool->stop, true);
    announce(pool, pool->started);
    for (int i = 1; i <= pool->started; i++) pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->out);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->workers);
    free(pool->ranges);
    free(pool);
}

int thread_pool_threads(const thread_pool *pool) { return pool == NULL ? 1 : pool->threads; }

void parallel_for(thread_pool *pool, int64_t tasks, parallel_body *body, void *arg)
{
    if (pool == NULL || pool->threads == 1 || tasks <= 1) {
        for (int64_t task = 0; task < tasks; task++) body(arg, task, 0);
        return;
    }
    pool->body = body;
    pool->arg = arg;
    const int64_t each = tasks / pool->threads, more = tasks % pool->threads;
    for (int64_t i = 0, first = 0; i < pool->threads; i++) {
        pool->ranges[i].end = first + each + (i < more);
        atomic_store_explicit(&pool->ranges[i].next, first, memory_order_relaxed);
        first = pool->ranges[i].end;
    }
    atomic_fetch_and_explicit(&pool->gate, ~GATE_CLOSED, memory_order_release); /* the fields are visible inside */
    announce(pool, tasks - 1);
    take_tasks(pool, 0);
    gate_close(pool);
}

int cpu_count(void)
{
    cpu_set_t set;
    const int paid = cgroup_cpus("");
    long cores = sysconf(_SC_NPROCESSORS_ONLN); /* a machine with more than CPU_SETSIZE cores */
    if (sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
    if (cores < 1) cores = 1;
    return cores < paid ? (int)cores : paid;
}
