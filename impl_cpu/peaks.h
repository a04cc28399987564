/* peaks.h: the table `peaks` of impl_cpu: the processor's ceilings, then OpenBLAS's products. */
#ifndef IMPL_CPU_PEAKS_H
#define IMPL_CPU_PEAKS_H

#include "harness/cpu/peaks.h"

extern const cnn_peaks cpu_peaks;

#endif
