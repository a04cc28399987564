/* avx2.c: cpu:matrix's kernels for AVX2 and FMA: 16 registers of 32 bytes. */
#define F32_LANES 8
#define F64_LANES 4
#define ISA mx_avx2
#define REGISTERS 16
#include "isa.inc"
