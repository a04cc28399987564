#include "handover.h"

#include "harness/base/clock.h"
#include "threads.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { LINE = 128, GOES = 6, ROUNDS = 50, SPINS = 256 };
static const double longest = 10e-3;

/* A line of its own, and the line next to it, which processors fetch along. */
typedef struct station {
    _Alignas(LINE) atomic_int rounds; /* so often the line was handed to it */
    struct ring *ring;
    int index;
} station;

typedef struct ring {
    station stations[HANDOVER_MOST];
    int count;
    double deadline, best; /* of a round */
    atomic_bool late;
} ring;

/* False once it takes too long: a processor is busy with other work. */
static bool wait_for(station *s, int rounds)
{
    for (int spins = 1; atomic_load_explicit(&s->rounds, memory_order_acquire) < rounds; spins++) {
        if (spins % SPINS != 0) continue;
        if (cnn_now() > s->ring->deadline) atomic_store(&s->ring->late, true);
        if (atomic_load(&s->ring->late)) return false;
    }
    return true;
}

static void hand_on(station *s, int round)
{
    station *next = &s->ring->stations[(s->index + 1) % s->ring->count];
    atomic_store_explicit(&next->rounds, round, memory_order_release);
}

/* The first one sends it on its way, and takes the time. */
static void *stand(void *arg)
{
    station *s = arg;
    double start = 0;
    for (int round = 1; round <= GOES * ROUNDS; round++) {
        if (s->index == 0 && round % ROUNDS == 1) start = cnn_now();
        if (s->index == 0) hand_on(s, round);
        if (!wait_for(s, round)) return NULL;
        if (s->index != 0) hand_on(s, round);
        if (s->index == 0 && round % ROUNDS == 0) s->ring->best = fmin(s->ring->best, (cnn_now() - start) / ROUNDS);
    }
    return NULL;
}

/* The processor of station `index` of `count`, of all in the set. */
static int processor_of(const cpu_set_t *set, int index, int count)
{
    int at = CPU_COUNT(set) * index / count, cpu = 0;
    for (;; cpu++)
        if (CPU_ISSET(cpu, set) && at-- == 0) return cpu;
}

static int start(pthread_t *thread, station *s, int cpu)
{
    pthread_attr_t attr;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    int failed = pthread_attr_init(&attr);
    if (failed) return failed;
    failed = pthread_attr_setaffinity_np(&attr, sizeof one, &one);
    if (!failed) failed = pthread_create(thread, &attr, stand, s);
    pthread_attr_destroy(&attr);
    return failed;
}

double cpu_handover(int threads)
{
    cpu_set_t set;
    pthread_t running[HANDOVER_MOST];
    ring r = {.count = threads < HANDOVER_MOST ? threads : HANDOVER_MOST, .best = INFINITY};
    int started = 0;
    if (threads < 2 || threads > cpu_count() || sched_getaffinity(0, sizeof set, &set) != 0) return NAN;
    if (CPU_COUNT(&set) < r.count) return NAN;
    atomic_init(&r.late, false);
    r.deadline = cnn_now() + longest;
    for (int i = 0; i < r.count; i++) {
        r.stations[i].ring = &r;
        r.stations[i].index = i;
        atomic_init(&r.stations[i].rounds, 0);
    }
    while (started < r.count &&
           start(&running[started], &r.stations[started], processor_of(&set, started, r.count)) == 0)
        started++;
    if (started < r.count) atomic_store(&r.late, true);
    for (int i = 0; i < started; i++) pthread_join(running[i], NULL);
    return atomic_load(&r.late) || isinf(r.best) ? NAN : r.best / r.count;
}
