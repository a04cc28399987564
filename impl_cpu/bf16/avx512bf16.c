/* avx512bf16.c: pairs of bf16 by AVX512_BF16's own products; and by AMX. */
#include <immintrin.h>

#define LANES 16
#define PIXELS 6
#define VECTORS 4
#define KERNEL bf_avx512_bf16
#define CALLED "avx512_bf16"
#define FACTOR __m512bh
#define LOAD_FACTOR(p) (__m512bh) _mm512_loadu_si512((const void *)(p))
#define REPEAT(pair) (__m512bh) _mm512_set1_epi32((int)(pair))
#define MULTIPLY_ADD(sum, w, x) (reals) _mm512_dpbf16_ps((__m512)(sum), w, x)
#define ROUND(v) (halves) _mm512_cvtneps_pbh((__m512)(v))
#include "product.inc"

#define MULTIPLY amx_multiply
#define PACK amx_pack
#define MATRIX_KERNEL bf_amx
#define MATRIX_CALLED "amx"
#include "matrix.inc"
