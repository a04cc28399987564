/* peaks_avx2.c: the ceilings' kernels for AVX2 with fused multiply-add. */
#define PEAK_BYTES 32
#define PEAK_NAME(name) cpu_peak_avx2_##name
#include "peaks_kernels.h"
