/* caches.h: how much the processor's caches hold, as the system tells. */
#ifndef HARNESS_CPU_CACHES_H
#define HARNESS_CPU_CACHES_H

#include <stddef.h>

/* Bytes of the data or unified cache of this level (1, 2, 3) that the first core uses; 0: none, or not told. */
size_t cpu_cache_bytes(int level);
/* The largest of them, at least `least`. */
size_t cpu_last_cache_bytes(size_t least);

#endif
