/* peaks_dot.c: ceilings of products that one instruction adds up: four of bytes (AVX512_VNNI), two of bf16
 * (AVX512_BF16). As many chains as for multiply-adds (peaks_kernels.h): their latency is no longer. */
#include "peaks_table.h"

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx512f,avx512vnni"))) double cpu_peak_dot_bytes(int64_t rounds)
{
    const __m512i a = _mm512_set1_epi8(3), b = _mm512_set1_epi8(-1);
#define FIRST(i) __m512i v##i = _mm512_set1_epi32(i);
#define STEP(i) v##i = _mm512_dpbusd_epi32(v##i, a, b);
#define ADD(i) sum = _mm512_add_epi32(sum, v##i);
    PEAK_CHAINS(FIRST)
    for (int64_t r = 0; r < rounds; r++) {
        PEAK_CHAINS(STEP)
    }
    __m512i sum = _mm512_setzero_si512();
    PEAK_CHAINS(ADD)
#undef FIRST
#undef STEP
#undef ADD
    return (double)_mm512_reduce_add_epi32(sum);
}

/* Values grow by 2^-20 a round: nothing overflows or becomes denormal. */
__attribute__((target("avx512f,avx512bw,avx512bf16"))) double cpu_peak_dot_bf16(int64_t rounds)
{
    const __m512bh a = (__m512bh)_mm512_set1_epi16(0x3500), b = (__m512bh)_mm512_set1_epi16(0x3f80); /* 2^-21; 1 */
#define FIRST(i) __m512 v##i = _mm512_set1_ps(1.0f + 0.01f * (i));
#define STEP(i) v##i = _mm512_dpbf16_ps(v##i, a, b);
#define ADD(i) sum = _mm512_add_ps(sum, v##i);
    PEAK_CHAINS(FIRST)
    for (int64_t r = 0; r < rounds; r++) {
        PEAK_CHAINS(STEP)
    }
    __m512 sum = _mm512_setzero_ps();
    PEAK_CHAINS(ADD)
#undef FIRST
#undef STEP
#undef ADD
    return (double)_mm512_reduce_add_ps(sum);
}
#endif
