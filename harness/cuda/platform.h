/* platform.h: CUDA, or what stands in for it. Every file of the CUDA implementations gets it from here, never from
 * <cuda_runtime.h>: with BENCHCNN_CUDA=EMULATED the same sources are compiled by the host's C++ compiler. */
#ifndef HARNESS_CUDA_PLATFORM_H
#define HARNESS_CUDA_PLATFORM_H

#ifdef BENCHCNN_CUDA_EMULATED
#include "harness/cuda/emulated/emulated.h"
#else
#include <cuda_runtime.h>
/* CUDA_SHARED(float, sums, [32]): `__shared__ float sums[32]`, which its emulation fills afresh for each block. */
#define CUDA_SHARED(type, name, extent) __shared__ type name extent
/* `extern __shared__` of one type a kernel: names the block's dynamic shared memory, as many bytes as the launch says.
 */
#define CUDA_DYNAMIC_SHARED(type, name)                                                                                \
    extern __shared__ __align__(16) unsigned char cuda_shared_bytes[];                                                 \
    type *name = reinterpret_cast<type *>(cuda_shared_bytes)
#endif

#endif
