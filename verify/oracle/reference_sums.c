/* reference_sums.c: one loop, compiled for each instruction set, chosen at run time. */
#include "reference.h"

#include "harness/cpu/limits.h"

#include <string.h>

#define BYTES 16
#define SUMS 2
#define BOTH 1
#include "reference_sums.inc"

static void add_base(const vf_sums *s) { add_16(s); }

#ifdef __x86_64__
#define BYTES 32
#define SUMS 4
#define BOTH 2
#include "reference_sums.inc"

#define BYTES 64
#define SUMS 8
#define BOTH 4
#include "reference_sums.inc"

__attribute__((target("avx2"))) static void add_avx2(const vf_sums *s) { add_32(s); }
__attribute__((target("avx512f"))) static void add_avx512(const vf_sums *s) { add_64(s); }
#else
#define add_avx2 add_base
#define add_avx512 add_base
#endif

void vf_add_sums(const vf_sums *s)
{
    switch (cpu_isa_own()) {
    case CPU_ISA_AVX512:
        add_avx512(s);
        break;
    case CPU_ISA_AVX2:
        add_avx2(s);
        break;
    default:
        add_base(s);
    }
}
