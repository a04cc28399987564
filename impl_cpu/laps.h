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
void cpu_phase(const cpu_context *, const char *phase);

/* A task's clock. Its place in the laps is the worker's own cache line, so nobody waits for it. */
typedef struct cpu_clock {
    double *seconds, last; /* seconds[phase]; NULL: no laps in use */
} cpu_clock;
cpu_clock cpu_clock_start(cnn_laps *, int worker);
/* What the task did since the clock's last tick was phase number `phase`. */
void cpu_clock_tick(cpu_clock *, int phase);
/* After the region: a mark for each phase on which a clock ran, and all clocks back to 0. */
void cpu_phases(const cpu_context *, const char *const names[CPU_CLOCK_PHASES]);

#endif
