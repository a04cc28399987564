/* vector.h: what the kernels of one text for every instruction set are written with; vector.inc has the rest, which
 * depends on the type. */
#ifndef IMPL_CPU_VECTOR_H
#define IMPL_CPU_VECTOR_H

#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
/* A variant of a kernel that is compiled as if it were the only one. */
#define APART(name) static __attribute__((noinline)) void name
#define UNROLL _Pragma("GCC unroll 16")

/* Masks over the lanes of two vectors a, b: interleave their lower and upper halves; the even and the odd lanes. */
#define SHUFFLE(a, b, mask) __builtin_shufflevector(a, b, MASK(mask, LANES))
#define MASK(mask, lanes) MASK_OF(mask, lanes)
#define MASK_OF(mask, lanes) mask##_##lanes
#define LOW_2 0, 2
#define HIGH_2 1, 3
#define EVEN_2 0, 2
#define ODD_2 1, 3
#define LOW_4 0, 4, 1, 5
#define HIGH_4 2, 6, 3, 7
#define EVEN_4 0, 2, 4, 6
#define ODD_4 1, 3, 5, 7
#define LOW_8 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_8 4, 12, 5, 13, 6, 14, 7, 15
#define EVEN_8 0, 2, 4, 6, 8, 10, 12, 14
#define ODD_8 1, 3, 5, 7, 9, 11, 13, 15
#define LOW_16 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_16 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define EVEN_16 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD_16 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31

#endif
