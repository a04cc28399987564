/* jit.h: kernels that are compiled while the program runs, by NVRTC, the toolkit's run-time compiler. It is loaded when
 * it is needed: the program runs without it. Not in an emulated build. */
#ifndef HARNESS_CUDA_JIT_H
#define HARNESS_CUDA_JIT_H

#include "harness/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A text with a kernel. */
typedef struct cuda_jit_source {
    const char *what;    /* "the kernels of cuda_fused", for errors */
    const char *file;    /* its name in the compiler's messages */
    const char *text;    /* C++17; `#include <cuda_runtime.h>` finds an empty file */
    const char *entry;   /* the kernel's name, as C++ sees it; extern "C" or not */
    const char *include; /* (optional) the folder of other files that it includes */
    bool kept;           /* what was compiled of this text is kept in $XDG_CACHE_HOME/benchcnn (~/.cache/benchcnn) */
    cnn_status refused;  /* what a text that does not compile is */
} cuda_jit_source;

/* A kernel, and the library that holds it. */
typedef struct cuda_jit {
    cudaLibrary_t library;
    cudaKernel_t kernel;
} cuda_jit;

/* CNN_UNSUPPORTED without NVRTC, in words that say what is missing. */
cnn_status cuda_jit_available(cnn_error *);
/* Compiles it for the context's device, or takes what was compiled before. */
cnn_status cuda_jit_make(cuda_context *, const cuda_jit_source *, cuda_jit *, cnn_error *);
void cuda_jit_free(cuda_jit *);

/* What the compiler makes of it for a compute capability (90: 9.0), which needs no device: the kernel's name in the
 * code, a NUL, the code. To be freed. */
cnn_status cuda_jit_compile(const cuda_jit_source *, int capability, char **code, size_t *bytes, cnn_error *);

#ifdef __cplusplus
}
#endif
#endif
