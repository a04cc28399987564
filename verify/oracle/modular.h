/* modular.h: arithmetic modulo the Mersenne prime 2^61 - 1, of the integers and of the fractions with a power of two
 * below the line: 2^61 is 1 there, so dividing by 2 is multiplying by 2^60. */
#ifndef VERIFY_ORACLE_MODULAR_H
#define VERIFY_ORACLE_MODULAR_H

#include <stdint.h>
#include <string.h>

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

/* Any finite number: its fraction of 53 bits, turned by its exponent, for which 2^-1075 is 2^23. */
static inline uint64_t mod_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t exponent = bits >> 52 & 0x7FF, normal = exponent != 0;
    const uint64_t fraction = (bits & (((uint64_t)1 << 52) - 1)) | normal << 52, by = (exponent + !normal + 23) % 61;
    const uint64_t v = (fraction << by & VF_PRIME) | fraction >> (61 - by);
    return bits >> 63 != 0 && v != 0 ? VF_PRIME - v : v;
}

#endif
