/* depthwise_vnni.c: products of stacks for processors with AVX512_VNNI: four bytes a lane. */
#include "impl_cpu/vector.h"
#include "quads.h"

#include "depthwise.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define LANES 16
#define VECTOR __m512i
#define LOAD(p) _mm512_loadu_si512((const void *)(p))
#define STORE(p, v) _mm512_storeu_si512((void *)(p), v)
#define MULTIPLY_ADD(sum, x, w) _mm512_dpbusd_epi32(sum, x, w)

/* Byte k of lane c is channel c of row k: rows are interleaved twice. Fours of channels change places before, for each
 * half of a register is interleaved by itself. */
static void stack_bytes(const stack_rows *s)
{
    const __m256i order = _mm256_set_epi32(7, 5, 3, 1, 6, 4, 2, 0), change = _mm256_set1_epi8((char)s->change);
    uint8_t *to = s->to;
    for (int64_t i = 0; i < s->pixels; i++, to += 4 * sizeof order) {
        __m256i u[4], v[4];
        UNROLL for (int k = 0; k < 4; k++)
        {
            const __m256i row = _mm256_loadu_si256((const __m256i *)(const void *)(s->from[k] + i * s->step[k]));
            u[k] = _mm256_xor_si256(_mm256_permutevar8x32_epi32(row, order), change);
        }
        UNROLL for (int k = 0; k < 2; k++)
        {
            v[2 * k] = _mm256_unpacklo_epi8(u[2 * k], u[2 * k + 1]);
            v[2 * k + 1] = _mm256_unpackhi_epi8(u[2 * k], u[2 * k + 1]);
        }
        UNROLL for (int k = 0; k < 2; k++)
        {
            u[2 * k] = _mm256_unpacklo_epi16(v[k], v[k + 2]);
            u[2 * k + 1] = _mm256_unpackhi_epi16(v[k], v[k + 2]);
        }
        UNROLL for (int k = 0; k < 4; k++) _mm256_storeu_si256((__m256i *)(void *)(to + k * sizeof order), u[k]);
    }
}

#define STACK stack_bytes
#define STACK_ROWS 4
#define DEPTHWISE depthwise_vnni
#define PUT pairs_avx512
#include "depthwise.inc"

#endif
