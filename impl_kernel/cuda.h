/* cuda.h: a kernel that is launched: cuda.c is its table, launch.cu launches it, on a GPU or emulated. */
#ifndef IMPL_KERNEL_CUDA_H
#define IMPL_KERNEL_CUDA_H

#include "harness/cuda/cuda.h"
#ifndef BENCHCNN_CUDA_EMULATED
#include "harness/cuda/jit.h"
#endif
#include "impl_kernel/parts.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kernel_context {
    cuda_context cuda; /* first */
    const kernel *k;
    int threads;
#ifndef BENCHCNN_CUDA_EMULATED
    cuda_jit jit;
#endif
} kernel_context;

cnn_status kernel_launch(kernel_context *c, const kernel_plan *plan, void *const *arrays, const double *reals,
                         cnn_error *err);

#ifdef __cplusplus
}
#endif
#endif
