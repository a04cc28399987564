/* counter.h: a counter in device memory that a kernel reads and then moves on, once a launch, without a second launch.
 *
 * The difficulty: it may move only when every block has read it. So each block, done with reading, adds one to the
 * counter's upper 24 bits; the last one to arrive finds how many blocks there are, and writes the new value, which
 * clears them. Readers look at the lower 40 bits only. (A second launch costs a microsecond in a step of 100.) */
#ifndef HARNESS_CUDA_COUNTER_H
#define HARNESS_CUDA_COUNTER_H

#include "harness/cuda/platform.h"

#define CUDA_COUNTER_BITS 40
#define CUDA_COUNTER_MASK ((1ull << CUDA_COUNTER_BITS) - 1)

__device__ inline int64_t cuda_counter_read(const int64_t *counter)
{
    return (int64_t)(*(const volatile unsigned long long *)counter & CUDA_COUNTER_MASK);
}

/* All threads of every block call it, once, after they have read the counter. */
__device__ inline void cuda_counter_add(int64_t *counter, int64_t amount)
{
    __syncthreads(); /* the whole block has read it */
    if (threadIdx.x != 0) return;
    unsigned long long *at = (unsigned long long *)counter;
    const unsigned long long before = atomicAdd(at, 1ull << CUDA_COUNTER_BITS);
    if (before >> CUDA_COUNTER_BITS == gridDim.x - 1)
        atomicExch(at, (before & CUDA_COUNTER_MASK) + (unsigned long long)amount);
}

#endif
