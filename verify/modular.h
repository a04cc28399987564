/* modular.h: arithmetic modulo the Mersenne prime 2^61 - 1. */
#ifndef VERIFY_MODULAR_H
#define VERIFY_MODULAR_H

#include <stdint.h>

__extension__ typedef unsigned __int128 vf_wide;

#define VF_PRIME (((uint64_t)1 << 61) - 1)

static inline uint64_t mod_reduce(uint64_t v)
{
    v = (v & VF_PRIME) + (v >> 61);
    return v >= VF_PRIME ? v - VF_PRIME : v;
}

static inline uint64_t mod_add(uint64_t a, uint64_t b) { return mod_reduce(a + b); }

static inline uint64_t mod_mul(uint64_t a, uint64_t b)
{
    const vf_wide product = (vf_wide)a * b;
    return mod_reduce((uint64_t)(product & VF_PRIME) + (uint64_t)(product >> 61));
}

/* An integer below 2^61 in size. */
static inline uint64_t mod_of(double integer)
{
    const int64_t v = (int64_t)integer;
    return v >= 0 ? (uint64_t)v : VF_PRIME - (uint64_t)-v;
}

#endif
