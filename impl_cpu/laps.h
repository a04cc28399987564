/* laps.h: where the time of an operation goes: cnn_impl's laps. Kernels mark their phases by cpu_phase(), after each
 * parallel region; tasks that alternate between phases keep clocks, one a worker, and cpu_phases() cuts the region's
 * time in their proportion. Without laps in use either costs one comparison. */
#ifndef IMPL_CPU_LAPS_H
#define IMPL_CPU_LAPS_H

#include "cpu.h"

enum { CPU_CLOCK_PHASES = 4 };

extern const cnn_profile cpu_profile;

/* What ran since the last mark is `phase`. A mark for which there is no memory is left out: the next one takes its
 * time. */
void cpu_laps_mark(cnn_laps *laps, const char *phase);
static inline void cpu_phase(const cpu_context *cpu, const char *phase)
{
    if (cpu->laps != NULL) cpu_laps_mark(cpu->laps, phase);
}

/* A task's clock. Its place in the laps is the worker's own cache line, so nobody waits for it. */
typedef struct cpu_clock {
    double *seconds, last; /* seconds[phase]; NULL: no laps in use */
} cpu_clock;
cpu_clock cpu_laps_clock(cnn_laps *laps, int worker);
void cpu_laps_tick(cpu_clock *clock, int phase);
static inline cpu_clock cpu_clock_start(cnn_laps *laps, int worker)
{
    return laps != NULL ? cpu_laps_clock(laps, worker) : (cpu_clock){NULL, 0};
}
/* What the task did since the clock's last tick was phase number `phase`. */
static inline void cpu_clock_tick(cpu_clock *clock, int phase)
{
    if (clock->seconds != NULL) cpu_laps_tick(clock, phase);
}
/* After the region: a mark for each phase on which a clock ran, and all clocks back to 0. */
void cpu_laps_mark_clocks(cnn_laps *laps, const char *const names[CPU_CLOCK_PHASES]);
static inline void cpu_phases(const cpu_context *cpu, const char *const names[CPU_CLOCK_PHASES])
{
    if (cpu->laps != NULL) cpu_laps_mark_clocks(cpu->laps, names);
}

#endif
