/* cpu/half.h: f16 and bf16 to and from f32, in steps that compilers make vectors of. Both are numbered by their 16
 * bits; harness/cnn/half.h says what they are, and the tests hold these to it. Denormal numbers must not be flushed. */
#ifndef HARNESS_CPU_HALF_H
#define HARNESS_CPU_HALF_H

#include <stdint.h>
#include <string.h>

#define HALF_INLINE static inline __attribute__((always_inline))

HALF_INLINE float half_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

HALF_INLINE uint32_t half_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

HALF_INLINE float half_bf16_to_float(uint16_t code) { return half_float((uint32_t)code << 16); }

/* To the nearest, ties to even: half of the last place that stays is added, a bit less where that place is even. */
HALF_INLINE uint16_t half_float_to_bf16(float value)
{
    const uint32_t bits = half_bits(value), rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    const uint32_t nan = (bits & 0x7fffffffu) > 0x7f800000u ? ~0u : 0u;
    return (uint16_t)((rounded & ~nan) | ((bits >> 16 | 0x40u) & nan));
}

/* The exponent's field is moved, and put right by a product that is exact, of subnormal numbers, too. */
HALF_INLINE float half_f16_to_float(uint16_t code)
{
    const uint32_t size = (uint32_t)(code & 0x7fffu), sign = (uint32_t)(code & 0x8000u) << 16;
    const uint32_t finite = half_bits(half_float(size << 13) * 0x1p112f), special = size << 13 | 0x7f800000u;
    return half_float((size >= 0x7c00u ? special : finite) | sign);
}

/* Below 2^-14, f16 has the steps that f32 has beside 1/2: so adding 1/2 rounds. */
HALF_INLINE uint16_t half_float_to_f16(float value)
{
    const uint32_t bits = half_bits(value), size = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000u;
    const uint32_t small = half_bits(half_float(size) + 0.5f) - 0x3f000000u;
    const uint32_t normal = (size - (112u << 23) + 0xfffu + (size >> 13 & 1)) >> 13;
    const uint32_t large = size > 0x7f800000u ? 0x7e00u : 0x7c00u;
    const uint32_t code = size < 0x38800000u ? small : size < 0x47800000u ? normal : large;
    return (uint16_t)(code | sign);
}

#endif
