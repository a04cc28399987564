/* avx2.c: rows.h by AVX2's vectors of 32 bytes. */
#define F32_LANES 8
#define F64_LANES 4
#define ISA pool_avx2
#include "isa.inc"
