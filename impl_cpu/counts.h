/* counts.h: whole-number arithmetic of cutting a problem into pieces, and how many pieces its work is worth. */
#ifndef IMPL_CPU_COUNTS_H
#define IMPL_CPU_COUNTS_H

#include <stdint.h>

static inline int64_t cpu_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t cpu_max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t cpu_clamp(int64_t v, int64_t lo, int64_t hi) { return cpu_max(lo, cpu_min(v, hi)); }
/* Rounded up, for a of either sign; b > 0. */
static inline int64_t cpu_ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0); }

/* The largest power of two <= v, at least 1: what few threads can share evenly. */
static inline int64_t cpu_power_of_two(int64_t v)
{
    int64_t power = 1;
    while (power <= v / 2) power *= 2;
    return power;
}

/* How many tasks `macs` multiply-adds are worth: one for each CPU_MACS_PER_TASK, so that handing a task over costs
 * little beside it, but no more than `most`; a power of two. */
enum { CPU_MACS_PER_TASK = 1 << 17 };
static inline int64_t cpu_task_count(double macs, int64_t most)
{
    const double tasks = macs / CPU_MACS_PER_TASK;
    return cpu_power_of_two(tasks < 1 ? 1 : tasks > (double)most ? most : (int64_t)tasks);
}

#endif
