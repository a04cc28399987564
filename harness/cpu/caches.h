/* caches.h: how much the processor's caches hold, as the system tells. */
#ifndef HARNESS_CPU_CACHES_H
#define HARNESS_CPU_CACHES_H

#include <stddef.h>

/* Bytes of the data or unified cache of this level (1, 2, 3) that the first core uses; 0: none, or not told. */
size_t cpu_cache_bytes(int level);
/* How many caches of this level there are among the cores that this process may run on, at least 1: on some processors
 * a few cores each have a last-level cache of their own. `root` stands before /sys: "", but for tests. */
int cpu_cache_instances(const char *root, int level);
/* What the caches of the last level hold that so many threads can use, at least `least`. */
size_t cpu_last_cache_bytes(size_t least, int threads);

#endif
