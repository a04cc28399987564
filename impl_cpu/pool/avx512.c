/* avx512.c: rows.h by AVX-512's vectors of 64 bytes. */
#define F32_LANES 16
#define F64_LANES 8
#define ISA pool_avx512
#include "isa.inc"
