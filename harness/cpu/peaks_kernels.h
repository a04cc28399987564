/* peaks_kernels.h: the inner loops, as text for peaks_base.c, peaks_avx2.c and peaks_avx512.c, which say
 *   PEAK_BYTES    the width of a vector register
 *   PEAK_NAME(x)  the function's name
 * Twelve chains of multiply-adds that do not wait for each other: two units with a latency of four or five cycles need
 * ten, and sixteen registers hold twelve, the two factors included. Values stay near 1: nothing overflows or becomes
 * denormal. */
#include "peaks_table.h"

typedef float peak_f32 __attribute__((vector_size(PEAK_BYTES)));
typedef double peak_f64 __attribute__((vector_size(PEAK_BYTES)));
typedef uint64_t peak_word __attribute__((vector_size(PEAK_BYTES)));

#define PEAK_STEP(i) v##i = v##i * factor + term;
#define PEAK_ADD(i) sum += v##i;

#define PEAK_FMA(name, vector, scalar)                                                                                 \
    static double name(int64_t rounds)                                                                                 \
    {                                                                                                                  \
        const vector zero = {0}, factor = zero + (scalar)0.75, term = zero + (scalar)0.25;                             \
        vector v0 = zero, v1 = zero, v2 = zero, v3 = zero, v4 = zero, v5 = zero, v6 = zero, v7 = zero, v8 = zero,      \
               v9 = zero, v10 = zero, v11 = zero, sum = zero;                                                          \
        v1 += (scalar)0.1, v2 += (scalar)0.2, v3 += (scalar)0.3, v4 += (scalar)0.4, v5 += (scalar)0.5;                 \
        v6 += (scalar)0.6, v7 += (scalar)0.7, v8 += (scalar)0.8, v9 += (scalar)0.9, v10 += (scalar)1.1;                \
        v11 += (scalar)1.2;                                                                                            \
        for (int64_t r = 0; r < rounds; r++) {                                                                         \
            PEAK_CHAINS(PEAK_STEP)                                                                                     \
        }                                                                                                              \
        PEAK_CHAINS(PEAK_ADD)                                                                                          \
        double total = 0;                                                                                              \
        for (int i = 0; i < (int)(PEAK_BYTES / sizeof(scalar)); i++) total += (double)sum[i];                          \
        return total;                                                                                                  \
    }

PEAK_FMA(PEAK_NAME(fma_f32), peak_f32, float)
PEAK_FMA(PEAK_NAME(fma_f64), peak_f64, double)

/* Eight loads in flight; `bytes` is a multiple of eight vectors. */
static uint64_t PEAK_NAME(read)(const void *memory, size_t bytes)
{
    const peak_word *p = memory, *const end = p + bytes / sizeof *p;
    peak_word a = {0}, b = {0}, c = {0}, d = {0};
    for (; p < end; p += 8) {
        a ^= p[0] ^ p[4];
        b ^= p[1] ^ p[5];
        c ^= p[2] ^ p[6];
        d ^= p[3] ^ p[7];
    }
    a ^= b ^ c ^ d;
    uint64_t all = 0;
    for (int i = 0; i < (int)(PEAK_BYTES / sizeof all); i++) all ^= a[i];
    return all;
}

/* STREAM's: a = b + s * c. */
static void PEAK_NAME(triad)(float *a, const float *b, const float *c, size_t bytes)
{
    peak_f32 *to = (peak_f32 *)(void *)a;
    const peak_f32 *x = (const peak_f32 *)(const void *)b, *y = (const peak_f32 *)(const void *)c;
    for (size_t i = 0; i < bytes / sizeof *to; i++) to[i] = x[i] + 0.5f * y[i];
}

const cpu_peak_kernels PEAK_NAME(kernels) = {
    .lanes_f32 = PEAK_BYTES / sizeof(float),
    .fma_f32 = PEAK_NAME(fma_f32),
    .fma_f64 = PEAK_NAME(fma_f64),
    .read = PEAK_NAME(read),
    .triad = PEAK_NAME(triad),
};
