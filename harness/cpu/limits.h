/* limits.h: how much of the machine there is for this process: memory, processors, caches; what the processor can. */
#ifndef HARNESS_CPU_LIMITS_H
#define HARNESS_CPU_LIMITS_H

#include "harness/cnn.h"
#include <stddef.h>

/* host_memory.c: whether so much memory can be had is asked before it is taken, since the kernel grants more than there
 * is. Bytes that could be had without swapping, here or in this process's control group. */
size_t host_memory_available(void);
/* CNN_OUT_OF_MEMORY, with both figures, where `bytes` are more than `available`; `where` follows "5 (5 MiB)". */
cnn_status host_memory_room(size_t bytes, size_t available, const char *where, cnn_error *err);
/* Of the host's memory. */
cnn_status cnn_host_check(size_t bytes, cnn_error *err);

/* cgroup.c: what this process may take of the machine, where a container, a batch system or systemd has put it into a
 * control group: a part of the memory, a part of the processors' time. The kernel tells neither in /proc/meminfo nor by
 * sched_getaffinity(); who takes more is killed, or stopped for a while. */

/* `root` stands before /proc/self/cgroup and /sys/fs/cgroup: "", but for tests. */

/* Bytes that may still be taken, page cache that the kernel can drop counted in; SIZE_MAX: no limit. */
size_t cgroup_memory_left(const char *root);
/* Whole processors that the quota pays for, at least 1: one thread more would be stopped in the middle of its work.
 * INT_MAX: no limit. */
int cgroup_cpus(const char *root);

/* caches.c: how much the processor's caches hold, as the system tells. */

/* Bytes of the data or unified cache of this level (1, 2, 3) that the first core uses; 0: none, or not told. */
size_t cpu_cache_bytes(int level);
/* How many caches of this level there are among the cores that this process may run on, at least 1: on some processors
 * a few cores each have a last-level cache of their own. `root` stands before /sys: "", but for tests. */
int cpu_cache_instances(const char *root, int level);
/* What the caches of the last level hold that so many threads can use, at least `least`. */
size_t cpu_last_cache_bytes(size_t least, int threads);

/* isa.c: the instruction sets kernels are compiled for, chosen at run time. */
typedef enum cpu_isa { CPU_ISA_BASE, CPU_ISA_AVX2, CPU_ISA_AVX512, CPU_ISA_COUNT } cpu_isa;

cpu_isa cpu_isa_own(void); /* what this processor has (AVX2 includes FMA and F16C; AVX-512: F, VL, DQ, BW) */
/* Whose kernels run: the same, but built with BENCHCNN_AVX512_BY_AVX2 those of AVX-512 where there is AVX2. */
cpu_isa cpu_isa_best(void);
/* Whether it has, besides AVX-512, products of four bytes (AVX512_VNNI), and of two bf16 (AVX512_BF16). */
bool cpu_has_vnni(void);
bool cpu_has_bf16(void);
bool cpu_has_amx(void);                      /* matrix units, whether or not the system lets a process use them */
bool cpu_may_use_amx(void);                  /* of bf16 and of bytes, and it does */
const char *cpu_isa_name(cpu_isa isa);       /* "base", "avx2", "avx512" */
const char *cpu_model(char *text, int size); /* "AMD EPYC ..." from /proc/cpuinfo, or "unknown" */

/* blas.c: whether OpenBLAS uses what the processor has. An OpenBLAS older than the processor takes kernels of 2004
 * (core Prescott, SSE3) on a processor it does not know, and matrix products are several times slower.
 * OPENBLAS_CORETYPE names other kernels, and is read when the program is loaded. */

/* The OPENBLAS_CORETYPE that `isa` deserves where OpenBLAS took `core` ("Prescott", "Haswell", ...); NULL: `core` uses
 * it. */
const char *cpu_blas_wanted(const char *core, cpu_isa isa);
/* Starts the program again with that variable, where OpenBLAS took an older core and the user has not set the variable;
 * once. To be called first of all in main(): it returns where there is nothing to do, and where it cannot be done. */
void cpu_blas_restart(char **argv);
/* The core that OpenBLAS took before the restart; NULL: there was none. */
const char *cpu_blas_before(void);

#endif
