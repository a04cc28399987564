/* peaks_base.c: the ceilings' kernels for what every processor of this architecture has: SSE2 on x86-64, where a
 * product and a sum are two instructions. */
#define PEAK_BYTES 16
#define PEAK_NAME(name) cpu_peak_base_##name
#include "peaks_kernels.h"
