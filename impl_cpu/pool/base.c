/* base.c: rows.h by what every processor of the architecture has: on x86-64, SSE2's vectors of 16 bytes. */
#define F32_LANES 4
#define F64_LANES 2
#define ISA pool_base
#include "isa.inc"
