/* avx2.c: pairs of products for AVX2. */
#include <immintrin.h>

#define LANES 8
#define KERNEL pairs_avx2
#define VECTOR __m256i
#define ZERO _mm256_setzero_si256()
#define LOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define STORE(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define REPEAT(pair) _mm256_set1_epi32(pair)
#define MULTIPLY_ADD(sum, a, b) _mm256_add_epi32(sum, _mm256_madd_epi16(a, b))
#define DEPTHWISE depthwise_avx2
#define PUT pairs_avx2
#include "depthwise.inc"

#include "pairs.inc"
