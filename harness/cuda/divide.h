/* divide.h: divisions of indices by numbers that the host knows, as multiplications (Granlund and Montgomery 1994). */
#ifndef HARNESS_CUDA_DIVIDE_H
#define HARNESS_CUDA_DIVIDE_H

#include <stdint.h>

/* By d > 0; exact for 0 <= x < 2^31. */
typedef struct cuda_divisor {
    uint32_t factor, shift;
    int32_t d;
} cuda_divisor;

/* The least shift with 2^shift >= d, and factor = ceil(2^(31 + shift) / d): exact, for x * (factor*d - 2^(31+shift))
 * stays below 2^(31+shift). */
static inline cuda_divisor cuda_divide_by(int64_t d)
{
    uint32_t shift = 0;
    while ((INT64_C(1) << shift) < d) shift++;
    const cuda_divisor by = {(uint32_t)(((UINT64_C(1) << (31 + shift)) + (uint64_t)d - 1) / (uint64_t)d), 31 + shift,
                             (int32_t)d};
    return by;
}

#ifdef __cplusplus
#include "harness/cuda/platform.h"

static __device__ inline int32_t cuda_divided(int32_t x, const cuda_divisor &by)
{
    return static_cast<int32_t>(static_cast<uint64_t>(static_cast<uint32_t>(x)) * by.factor >> by.shift);
}
/* The remainder of x, which becomes the quotient. */
static __device__ inline int32_t cuda_split(int32_t *x, const cuda_divisor &by)
{
    const int32_t all = *x;
    *x = cuda_divided(all, by);
    return all - *x * by.d;
}
#endif

#endif
