/* blas.h: cuBLAS, or what stands in for it: never include <cublas_v2.h> itself. */
#ifndef HARNESS_CUDA_BLAS_H
#define HARNESS_CUDA_BLAS_H

#ifdef BENCHCNN_CUDA_EMULATED
#include "harness/cuda/emulated/emulated_cublas.h"
#else
#include <cublas_v2.h>
#endif

#endif
