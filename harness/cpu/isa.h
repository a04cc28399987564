/* isa.h: the instruction sets kernels are compiled for, chosen at run time. */
#ifndef HARNESS_CPU_ISA_H
#define HARNESS_CPU_ISA_H

typedef enum cpu_isa { CPU_ISA_BASE, CPU_ISA_AVX2, CPU_ISA_AVX512, CPU_ISA_COUNT } cpu_isa;

cpu_isa cpu_isa_best(void);                  /* what this processor has (AVX2 includes FMA; AVX-512: F, VL, DQ, BW) */
const char *cpu_isa_name(cpu_isa isa);       /* "base", "avx2", "avx512" */
const char *cpu_model(char *text, int size); /* "AMD EPYC ..." from /proc/cpuinfo, or "unknown" */

#endif
