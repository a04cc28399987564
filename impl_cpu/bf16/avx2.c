/* avx2.c: pairs of bf16 for AVX2. */
#define LANES 8
#define PIXELS 4
#define VECTORS 2
#define KERNEL bf_avx2
#define CALLED "avx2"
#include "product.inc"
