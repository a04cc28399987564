/* peaks.h: the slots peak_* of impl_cpu: the processor's ceilings, then OpenBLAS's products. */
#ifndef IMPL_CPU_PEAKS_H
#define IMPL_CPU_PEAKS_H

#include "harness/cpu/peaks.h"

enum { CPU_ALL_PEAKS = CPU_PEAK_COUNT + CNN_DTYPE_COUNT };
cnn_status cpu_peaks_open(cnn_context *, int index, cnn_peak *, cnn_error *);
cnn_status cpu_peaks_run(cnn_context *, const cnn_peak *, cnn_error *);
void cpu_peaks_close(cnn_context *, cnn_peak *);

#endif
