/* avx512.c: pairs of products for AVX-512. */
#include <immintrin.h>

#define LANES 16
#define KERNEL pairs_avx512
#define VECTOR __m512i
#define ZERO _mm512_setzero_si512()
#define LOAD(p) _mm512_loadu_si512((const void *)(p))
#define STORE(p, v) _mm512_storeu_si512((void *)(p), v)
#define REPEAT(pair) _mm512_set1_epi32(pair)
#define MULTIPLY_ADD(sum, a, b) _mm512_add_epi32(sum, _mm512_madd_epi16(a, b))
#define DEPTHWISE depthwise_avx512
#define PUT pairs_avx512
#include "depthwise.inc"

#include "pairs.inc"
