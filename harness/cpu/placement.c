/* placement.c: two threads, each held to its core, that answer each other, then work at the same time. */
#include "placement.h"

#include "caches.h"
#include "harness/base/clock.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

enum { CACHE_LINE = 64, BATCHES = 16, TRIPS = 50, LOOKS_PER_CLOCK = 256, ROUNDS = 10000 };
static const double patience = 2e-3; /* for one answer: the other core may be at other work */

void cpu_pairs_find(const char *root, int threads, cpu_pairs *pairs)
{
    cpu_set_t mine;
    int latest[CPU_SETSIZE], seen = 0; /* latest: the latest core with that last cache, + 1 */
    memset(latest, 0, sizeof latest);
    pairs->count = 0;
    if (sched_getaffinity(0, sizeof mine, &mine) != 0) return;
    for (int cpu = 0; cpu < CPU_SETSIZE && seen < threads && pairs->count < CPU_PAIRS_MOST; cpu++) {
        if (!CPU_ISSET(cpu, &mine)) continue;
        seen++;
        const int cache = cpu_cache_of(root, cpu, 3);
        if (cache < 0) continue;
        const int before = latest[cache] - 1;
        if (before >= 0 && cpu_cache_of(root, before, 1) == cpu_cache_of(root, cpu, 1)) continue; /* one core */
        latest[cache] = cpu + 1;
        if (before < 0) continue;
        pairs->list[pairs->count].one = before;
        pairs->list[pairs->count++].other = cpu;
    }
}

/* As many additions side by side as a core can issue, so that a second thread on it must slow the first. */
static void work(void)
{
    long a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
    for (int i = 0; i < ROUNDS; i++) {
        a += 1, b += 2, c += 3, d += 4, e += 5, f += 6, g += 7, h += 8;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
    }
}

static double best_work(void)
{
    double best = INFINITY;
    for (int i = 0; i < BATCHES; i++) {
        const double start = cnn_now();
        work();
        best = fmin(best, cnn_now() - start);
    }
    return best;
}

/* The words that both cores write have a cache line each. */
typedef struct meeting {
    _Alignas(CACHE_LINE) atomic_bool asked;
    _Alignas(CACHE_LINE) atomic_bool working, over;
} meeting;

static void *answer(void *arg)
{
    meeting *m = arg;
    while (!atomic_load_explicit(&m->over, memory_order_relaxed)) {
        if (atomic_load_explicit(&m->asked, memory_order_acquire))
            atomic_store_explicit(&m->asked, false, memory_order_release);
        while (atomic_load_explicit(&m->working, memory_order_relaxed)) work();
    }
    return NULL;
}

static bool ask(meeting *m)
{
    double deadline = 0;
    atomic_store_explicit(&m->asked, true, memory_order_release);
    for (int looks = 1; atomic_load_explicit(&m->asked, memory_order_acquire); looks++) {
        if (looks % LOOKS_PER_CLOCK != 0) continue;
        const double now = cnn_now();
        if (deadline == 0) deadline = now + patience;
        if (now > deadline) return false;
    }
    return true;
}

/* 0: the other did not answer. */
static double best_exchange(meeting *m)
{
    double best = INFINITY;
    if (!ask(m)) return 0;
    for (int b = 0; b < BATCHES; b++) {
        const double start = cnn_now();
        for (int i = 0; i < TRIPS; i++)
            if (!ask(m)) return isfinite(best) ? best : 0;
        best = fmin(best, (cnn_now() - start) / TRIPS);
    }
    return best;
}

/* Born on its core: one that had to move there first would wait for the core of the one that asks. */
static bool start_answering(meeting *m, int core, pthread_t *thread)
{
    pthread_attr_t attr;
    sigset_t all, before;
    cpu_set_t set;
    if (pthread_attr_init(&attr) != 0) return false;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are left to the others */
    const bool started =
        pthread_attr_setaffinity_np(&attr, sizeof set, &set) == 0 && pthread_create(thread, &attr, answer, m) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return started;
}

static void look_at(int one, int other, cpu_placement *worst)
{
    meeting m = {.asked = false};
    pthread_t thread;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(one, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0) return;
    const double alone = best_work();
    if (!start_answering(&m, other, &thread)) return;
    const double exchange = best_exchange(&m);
    if (exchange > 0) {
        atomic_store(&m.working, true);
        worst->exchange_s = fmax(worst->exchange_s, exchange);
        worst->slowdown = fmax(worst->slowdown, best_work() / alone);
        atomic_store(&m.working, false);
    }
    atomic_store(&m.over, true);
    pthread_join(thread, NULL);
}

void cpu_placement_look(const cpu_pairs *pairs, cpu_placement *worst)
{
    cpu_set_t mine;
    if (pthread_getaffinity_np(pthread_self(), sizeof mine, &mine) != 0) return;
    for (int i = 0; i < pairs->count; i++) look_at(pairs->list[i].one, pairs->list[i].other, worst);
    (void)pthread_setaffinity_np(pthread_self(), sizeof mine, &mine);
}
