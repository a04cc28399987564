/* peaks_table.h: the kernels of one instruction set. */
#ifndef HARNESS_CPU_PEAKS_TABLE_H
#define HARNESS_CPU_PEAKS_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Of the inner loops: CPU_PEAK_CHAINS of them. */
#define PEAK_CHAINS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)

enum { CPU_PEAK_CHAINS = 12, CPU_PEAK_READ_BYTES = 8 * 64 }; /* what `read` takes at a time, at most */

typedef struct cpu_peak_kernels {
    int lanes_f32;                     /* half as many in f64 */
    double (*fma_f32)(int64_t rounds); /* CPU_PEAK_CHAINS multiply-adds a lane and round; the result is of no use */
    double (*fma_f64)(int64_t rounds);
    uint64_t (*read)(const void *memory, size_t bytes);
    void (*triad)(float *a, const float *b, const float *c, size_t bytes);
} cpu_peak_kernels;

/* peaks_dot.c, of x86-64: for processors that have the instruction, CPU_PEAK_CHAINS of them a round, each of 16 sums of
 * so many products. */
enum { CPU_PEAK_DOT_LANES = 16, CPU_PEAK_DOT_BYTES = 4, CPU_PEAK_DOT_BF16 = 2 };
double cpu_peak_dot_bytes(int64_t rounds);
double cpu_peak_dot_bf16(int64_t rounds);
/* The same on matrix units: CPU_PEAK_TILES products of two tiles a round, each of 16 by 16 sums of 16 words. */
enum { CPU_PEAK_TILES = 4, CPU_PEAK_TILE_WORDS = 16 * 16 * 16 };
double cpu_peak_tiles_of_bytes(int64_t rounds);
double cpu_peak_tiles_of_bf16(int64_t rounds);

extern const cpu_peak_kernels cpu_peak_base_kernels, cpu_peak_avx2_kernels, cpu_peak_avx512_kernels;

#endif
