/* cnn/half.h: numbers of 16 bits, f16 (IEEE 754 binary16) and bf16 (the upper half of an f32), from and to double. Not
 * part of cnn.h, for whom needs it; host code, without any instruction of its own, so the same bits everywhere.
 *
 * Both are a sign, e bits of exponent and m of fraction. The significand of a normal number has m + 1 bits, so one that
 * is rounded to the nearest is off by 2^-(m+1) of itself at most. */
#ifndef CNN_HALF_H
#define CNN_HALF_H

#include "shape.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct cnn_half_format {
    int exponent, fraction; /* bits; 0, 0: of a type that is not of 16 bits */
} cnn_half_format;

static inline cnn_half_format cnn_half_of(cnn_dtype dtype)
{
    if (dtype == CNN_F16) return (cnn_half_format){5, 10};
    return dtype == CNN_BF16 ? (cnn_half_format){8, 7} : (cnn_half_format){0, 0};
}

static inline bool cnn_is_half(cnn_dtype dtype) { return cnn_half_of(dtype).exponent != 0; }

/* The exponent of the last place of subnormal numbers, the least number there is: f16 -24, bf16 -133. */
static inline int cnn_half_least(cnn_half_format f) { return 2 - (1 << (f.exponent - 1)) - f.fraction; }

/* 2^exponent, of a normal double, and the exponent of one that is not negative: by their bits, as verification converts
 * millions. */
static inline double cnn_power_of_two(int exponent)
{
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}
static inline int cnn_exponent_of(double size)
{
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    return (int)(bits >> 52) - 1023; /* 0 and subnormal doubles: -1023, below all that 16 bits hold */
}

/* The exponent of the last place of a number of this size. */
static inline int cnn_half_place(cnn_half_format f, double size)
{
    const int place = cnn_exponent_of(size) - f.fraction, least = cnn_half_least(f);
    return size <= DBL_MAX && place > least ? place : least;
}

/* To the nearest, of two as near the even one; what is too large becomes infinite, a NaN stays one. */
static inline uint16_t cnn_half_from(cnn_half_format f, double value)
{
    const uint32_t infinite = ((1u << f.exponent) - 1) << f.fraction, sign = signbit(value) ? 0x8000u : 0u;
    if (isnan(value)) return (uint16_t)(sign | infinite | 1u << (f.fraction - 1));
    const double size = fabs(value);
    if (size >= cnn_power_of_two(1 << (f.exponent - 1))) return (uint16_t)(sign | infinite);
    const int place = cnn_half_place(f, size);
    const double exact = size * cnn_power_of_two(-place), whole = exact + 0x1p52 - 0x1p52; /* to the nearest, even */
    const uint32_t steps = (uint32_t)whole; /* 2^(m+1) at most: the carry is as it must be */
    const uint32_t code = ((uint32_t)(place - cnn_half_least(f)) << f.fraction) + steps;
    return (uint16_t)(sign | (code < infinite ? code : infinite));
}

static inline double cnn_half_to(cnn_half_format f, uint16_t code)
{
    const int field = code >> f.fraction & ((1 << f.exponent) - 1), fraction = code & ((1 << f.fraction) - 1);
    double size;
    if (field == (1 << f.exponent) - 1)
        size = fraction != 0 ? (double)NAN : (double)INFINITY;
    else if (field == 0)
        size = fraction * cnn_power_of_two(cnn_half_least(f));
    else
        size = ((1 << f.fraction) + fraction) * cnn_power_of_two(field - 1 + cnn_half_least(f));
    return code & 0x8000u ? -size : size;
}

/* The least and the largest number of a type of integers. */
static inline double cnn_whole_least(cnn_dtype dtype)
{
    return dtype == CNN_U8 ? 0 : dtype == CNN_S8 ? -128 : INT32_MIN;
}
static inline double cnn_whole_most(cnn_dtype dtype)
{
    return dtype == CNN_U8 ? 255 : dtype == CNN_S8 ? 127 : INT32_MAX;
}

/* The largest finite number. */
static inline double cnn_largest(cnn_dtype dtype)
{
    const cnn_half_format f = cnn_half_of(dtype);
    if (cnn_is_whole(dtype)) return cnn_whole_most(dtype);
    if (f.exponent != 0) return ldexp(2.0 - ldexp(1.0, -f.fraction), (1 << (f.exponent - 1)) - 1);
    return dtype == CNN_F64 ? DBL_MAX : (double)FLT_MAX;
}

/* What a number becomes that is stored in this type: of integers the nearest, within their range. */
static inline double cnn_stored(cnn_dtype dtype, double value)
{
    const cnn_half_format f = cnn_half_of(dtype);
    if (cnn_is_whole(dtype)) return fmin(fmax(nearbyint(value), cnn_whole_least(dtype)), cnn_whole_most(dtype));
    if (f.exponent != 0) return cnn_half_to(f, cnn_half_from(f, value));
    return dtype == CNN_F64 ? value : (double)(float)value;
}

/* The ceiling of a clipped ReLU: alpha in the type of x and y, so that y tells where x was clipped. */
static inline double cnn_act_ceiling(const cnn_act_desc *d) { return cnn_stored(d->t.dtype, d->alpha); }

/* One number of an array. */
static inline void cnn_number_put(cnn_dtype dtype, void *array, int64_t at, double value)
{
    switch (dtype) {
    case CNN_F64:
        ((double *)array)[at] = value;
        break;
    case CNN_F32:
        ((float *)array)[at] = (float)value;
        break;
    case CNN_U8:
        ((uint8_t *)array)[at] = (uint8_t)cnn_stored(dtype, value);
        break;
    case CNN_S8:
        ((int8_t *)array)[at] = (int8_t)cnn_stored(dtype, value);
        break;
    case CNN_S32:
        ((int32_t *)array)[at] = (int32_t)cnn_stored(dtype, value);
        break;
    default:
        ((uint16_t *)array)[at] = cnn_half_from(cnn_half_of(dtype), value);
    }
}

static inline double cnn_number_get(cnn_dtype dtype, const void *array, int64_t at)
{
    switch (dtype) {
    case CNN_F64:
        return ((const double *)array)[at];
    case CNN_F32:
        return (double)((const float *)array)[at];
    case CNN_U8:
        return ((const uint8_t *)array)[at];
    case CNN_S8:
        return ((const int8_t *)array)[at];
    case CNN_S32:
        return ((const int32_t *)array)[at];
    default:
        return cnn_half_to(cnn_half_of(dtype), ((const uint16_t *)array)[at]);
    }
}

#endif
