/* avx2.c: the kernels of cpu:fused for AVX2: 16 registers of 32 bytes. */
#define ISA fused_avx2
#define LANES 8
#define ROWS_1 8
#define ROWS_2 6
#define ROWS_3 4
#define QUADS_1 3
#define QUADS_2 1
#define QUADS_TAIL 3
#include "isa.inc"
