/* avx512.c: pairs of bf16 for AVX-512 without products of them. */
#define LANES 16
#define PIXELS 5
#define VECTORS 4
#define KERNEL bf_avx512
#define CALLED "avx512"
#include "product.inc"
