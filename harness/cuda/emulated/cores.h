/* cores.h: the tensor cores' arithmetic on the host (C++): factors of f32 lose 13 bits, and each step's sum is cut to
 * 24 (as seen on an H100), so the verifier sees here what it sees there. And what a warp's lanes bring, for all to
 * read. */
#ifndef HARNESS_CUDA_EMULATED_CORES_H
#define HARNESS_CUDA_EMULATED_CORES_H

#include "harness/cuda/real.h"

#include <math.h>
#include <string.h>

static inline uint32_t __float_as_uint(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}
static inline float __uint_as_float(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Factors as the tensor cores take them: how many a word holds, and number i of words. */
template <typename T> struct emulated_factor {
    enum { IN_WORD = 2 };
    static double at(const uint32_t *words, int i)
    {
        return static_cast<double>(cuda_load(T{static_cast<uint16_t>(words[i / 2] >> 16 * (i % 2))}));
    }
};
template <> struct emulated_factor<float> {
    enum { IN_WORD = 1 };
    static double at(const uint32_t *words, int i)
    {
        return static_cast<double>(__uint_as_float(words[i] & 0xffffe000u));
    }
};

/* The tensor cores' own arithmetic touches nothing that a kernel could get wrong: sanitizers need not watch it. */
#define EMULATED_CORE __attribute__((no_sanitize("address", "undefined")))

/* Toward zero, of 24 bits. (The number before a float has the bits before its own.) */
EMULATED_CORE static inline float emulated_cut(double v)
{
    float rounded = static_cast<float>(v);
    uint32_t bits;
    if (!(fabs(static_cast<double>(rounded)) > fabs(v))) return rounded;
    memcpy(&bits, &rounded, sizeof bits);
    bits--;
    memcpy(&rounded, &bits, sizeof bits);
    return rounded;
}

/* Of a double's upper word: */
enum { EMULATED_EXPONENT = 0x7ff00000, EMULATED_ONE = 0x3ff00000 };

/* The double whose upper word this is: 2^e if that is an exponent in its place. */
EMULATED_CORE static inline double emulated_power(int32_t exponent)
{
    const uint64_t bits = static_cast<uint64_t>(exponent) << 32;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* The adders shift all terms to the largest one's place and drop what lies more than two bits below its 24 (Fasi et
 * al., "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science 7, 2021), so that a tiny term takes nothing
 * from a large sum. Sums of f32 terms are no denormal doubles, and 26 bits of a few are an integer. Both loops are of
 * integers, whose order does not count: the compiler makes vectors of them. */
template <int COUNT> EMULATED_CORE static inline float emulated_sum(const double (&terms)[COUNT])
{
    int32_t most = 0, steps = 0; /* the largest term's exponent; below 17 * 2^26 */
    for (int i = 0; i < COUNT; i++) {
        uint64_t bits;
        memcpy(&bits, &terms[i], sizeof bits);
        const int32_t exponent = static_cast<int32_t>(bits >> 32) & EMULATED_EXPONENT;
        most = exponent > most ? exponent : most;
    }
    if (most == 0 || most == EMULATED_EXPONENT) { /* all are 0, or one is infinite or NaN */
        double sum = 0.0;
        for (int i = 0; i < COUNT; i++) sum += terms[i];
        return static_cast<float>(sum);
    }
    const double grid = emulated_power(most) * 0x1p-25, of_grid = emulated_power(2 * EMULATED_ONE - most) * 0x1p25;
    for (int i = 0; i < COUNT; i++) steps += static_cast<int32_t>(terms[i] * of_grid);
    return emulated_cut(static_cast<double>(steps) * grid);
}

/* Of a warp, what each lane brings, for all to read. Two places in turns, so that no lane writes what another one still
 * reads. */
template <typename T> static inline const T *emulated_all_of(const T &mine)
{
    static T all[2][32][32];
    static unsigned char turns[32][32];
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, turn = turns[warp][lane]++ % 2;
    all[turn][warp][lane] = mine;
    __syncwarp();
    return all[turn][warp];
}

#endif
