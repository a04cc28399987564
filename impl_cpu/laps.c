/* laps.c: marks by the monotonic clock: operations are done when they return, so a lap is what passed between two. */
#include "cpu.h"

#include "harness/base/clock.h"

#include <stdlib.h>
#include <string.h>

/* A worker's clocks: one cache line. */
typedef struct worker_clocks {
    _Alignas(64) double seconds[CPU_CLOCK_PHASES];
} worker_clocks;

struct cnn_laps {
    cnn_lap *list;
    int count, capacity, threads;
    double last;
    worker_clocks *clocks;
};

static cpu_context *of(cnn_context *context) { return (cpu_context *)context; }

static cnn_status laps_open(cnn_context *context, cnn_laps **out, cnn_error *err)
{
    const size_t threads = (size_t)of(context)->threads;
    cnn_laps *laps = calloc(1, sizeof *laps);
    if (laps != NULL) laps->clocks = aligned_alloc(64, threads * sizeof *laps->clocks);
    if (laps == NULL || laps->clocks == NULL) {
        free(laps);
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for laps");
    }
    memset(laps->clocks, 0, threads * sizeof *laps->clocks);
    laps->threads = (int)threads;
    *out = laps;
    return CNN_OK;
}

static void laps_close(cnn_context *context, cnn_laps *laps)
{
    if (laps == NULL) return;
    if (of(context)->laps == laps) of(context)->laps = NULL;
    free(laps->clocks);
    free(laps->list);
    free(laps);
}

static cnn_status laps_use(cnn_context *context, cnn_laps *laps, cnn_error *err)
{
    (void)err;
    of(context)->laps = laps;
    if (laps == NULL) return CNN_OK;
    laps->count = 0;
    laps->last = cnn_now();
    return CNN_OK;
}

static void add(cnn_laps *laps, const char *phase, double seconds)
{
    if (laps->count == laps->capacity) {
        const int capacity = 2 * laps->capacity + 256;
        cnn_lap *more = realloc(laps->list, (size_t)capacity * sizeof *more);
        if (more == NULL) return;
        laps->list = more;
        laps->capacity = capacity;
    }
    cnn_lap *lap = &laps->list[laps->count++];
    snprintf(lap->phase, sizeof lap->phase, "%.*s", (int)sizeof lap->phase - 1, phase);
    lap->seconds = seconds;
    laps->last += seconds;
}

void cpu_phase(const cpu_context *cpu, const char *phase)
{
    if (cpu->laps != NULL) add(cpu->laps, phase, cnn_now() - cpu->laps->last);
}

static cnn_status lap(cnn_context *context, const char *phase, cnn_error *err)
{
    (void)err;
    cpu_phase(of(context), phase);
    return CNN_OK;
}

static cnn_status laps_read(cnn_context *context, cnn_laps *laps, const cnn_lap **list, int *count, cnn_error *err)
{
    (void)context, (void)err;
    *list = laps->list;
    *count = laps->count;
    return CNN_OK;
}

cpu_clock cpu_clock_start(cnn_laps *laps, int worker)
{
    return laps != NULL ? (cpu_clock){laps->clocks[worker].seconds, cnn_now()} : (cpu_clock){NULL, 0};
}

void cpu_clock_tick(cpu_clock *clock, int phase)
{
    if (clock->seconds == NULL) return;
    const double now = cnn_now();
    clock->seconds[phase] += now - clock->last;
    clock->last = now;
}

void cpu_phases(const cpu_context *cpu, const char *const names[CPU_CLOCK_PHASES])
{
    cnn_laps *laps = cpu->laps;
    if (laps == NULL) return;
    double sums[CPU_CLOCK_PHASES] = {0}, all = 0;
    for (int w = 0; w < laps->threads; w++)
        for (int i = 0; i < CPU_CLOCK_PHASES; i++) {
            sums[i] += laps->clocks[w].seconds[i];
            all += laps->clocks[w].seconds[i];
            laps->clocks[w].seconds[i] = 0;
        }
    const double seconds = cnn_now() - laps->last;
    for (int i = 0; i < CPU_CLOCK_PHASES; i++)
        if (sums[i] > 0) add(laps, names[i], seconds * sums[i] / all);
}

const cnn_profile cpu_profile = {
    .open = laps_open, .close = laps_close, .use = laps_use, .lap = lap, .read = laps_read};
