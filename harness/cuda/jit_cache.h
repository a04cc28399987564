/* jit_cache.h: what was compiled, kept in $XDG_CACHE_HOME/benchcnn (else ~/.cache/benchcnn). */
#ifndef HARNESS_CUDA_JIT_CACHE_H
#define HARNESS_CUDA_JIT_CACHE_H

#include <stddef.h>

/* The code for `key`, to be freed; NULL: there is none, or none that is whole. */
void *cuda_cache_get(const char *key, size_t *bytes);
/* Kept where it can be; where it cannot, it is compiled again the next time. */
void cuda_cache_put(const char *key, const void *code, size_t bytes);

#endif
