/* avx512.c: the kernels of cpu:fused for AVX-512: 32 registers of 64 bytes. */
#define ISA fused_avx512
#define LANES 16
#define ROWS_1 8
#define ROWS_2 8
#define ROWS_3 8
#define QUADS_1 6
#define QUADS_2 3
#define QUADS_TAIL 5
#include "isa.inc"
