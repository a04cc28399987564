/* avx512.c: cpu:matrix's kernels for AVX-512: 32 registers of 64 bytes. */
#define F32_LANES 16
#define F64_LANES 8
#define ISA mx_avx512
#define REGISTERS 32
#include "isa.inc"
