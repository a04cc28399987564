/* peaks_avx512.c: the ceilings' kernels for AVX-512. */
#define PEAK_BYTES 64
#define PEAK_NAME(name) cpu_peak_avx512_##name
#include "peaks_kernels.h"
