/* base.c: the kernels of cpu:fused for what every processor of the architecture has: vectors of 16 bytes. */
#define ISA fused_base
#define LANES 4
#define ROWS_1 8
#define ROWS_2 6
#define ROWS_3 4
#define QUADS_1 3
#define QUADS_2 1
#define QUADS_TAIL 3
#include "isa.inc"
