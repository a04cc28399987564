/* peaks.h: the host processor's ceilings: multiply-adds for each instruction set, products of bytes and of bf16 where
 * one instruction adds up several, bandwidths of memory and caches. An
 * implementation gives them through its slots peak_* (cnn.h), with its own pool of threads. */
#ifndef HARNESS_CPU_PEAKS_H
#define HARNESS_CPU_PEAKS_H

#include "threads.h"

enum { CPU_PEAK_COUNT = 14 };

/* Ceiling `index` on all of the pool's threads. CNN_UNSUPPORTED for an instruction set or a cache that is not there. */
cnn_status cpu_peak_open(thread_pool *pool, int index, cnn_peak *peak, cnn_error *err);
void cpu_peak_run(const cnn_peak *peak);
void cpu_peak_close(cnn_peak *peak); /* state NULL is accepted */

#endif
