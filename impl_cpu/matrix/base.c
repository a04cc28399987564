/* base.c: cpu:matrix's kernels for what every processor of the architecture has: on x86-64, SSE2's
 * 16 registers of 16 bytes. */
#define F32_LANES 4
#define F64_LANES 2
#define ISA mx_base
#define REGISTERS 16
#include "isa.inc"
