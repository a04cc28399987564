/* cudnn.h: what the files of impl_cudnn share: the context, its knobs, and how a call to cuDNN fails.
 *
 * Two of cuDNN's interfaces are served: the legacy calls (cudnnConvolutionForward and its kin, conv*.c and the files of
 * the other operations), whose algorithms have names, and the graph API (graph.h), whose engines have numbers. */
#ifndef IMPL_CUDNN_CUDNN_H
#define IMPL_CUDNN_CUDNN_H

#include "harness/cuda/cuda.h"

#include <cublas_v2.h>
#include <cudnn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Behind the knobs that all CUDA implementations have. */
typedef enum cudnn_knob_id {
    CUDNN_KNOB_BEFORE_FIRST = CUDA_KNOB_COUNT - 1,
#define KNOB(id, name, doc, min, max, def) CUDNN_KNOB_##id,
#include "impl_cudnn/knobs.inc"
#undef KNOB
    CUDNN_KNOB_COUNT
} cudnn_knob_id;

typedef struct cudnn_context {
    cuda_context cuda;    /* first: the shared slots take the context for one of these */
    cudnnHandle_t handle; /* on the context's stream */
    cublasHandle_t blas;  /* fc.c's, with its workspace */
    void *blas_workspace;
} cudnn_context;

/* The most bytes of workspace that an algorithm may take; SIZE_MAX without a limit. */
static inline size_t cudnn_workspace_limit(const cudnn_context *context)
{
    const int64_t mib = context->cuda.knobs[CUDNN_KNOB_WORKSPACE_LIMIT];
    return mib > 0 ? (size_t)mib << 20 : SIZE_MAX;
}

static inline bool cudnn_deterministic_only(const cudnn_context *context)
{
    return context->cuda.knobs[CUDNN_KNOB_DETERMINISTIC_ONLY] != 0;
}

/* CNN_OK, or cuDNN's status and its own reason, with the call that failed: CNN_UNSUPPORTED where cuDNN refuses the
 * problem, CNN_OUT_OF_MEMORY, CNN_DEVICE; a dead context stays dead: CUDNN_TRY(c, cudnnSetStream(h, s), err). */
cnn_status cudnn_check(cudnn_context *, cudnnStatus_t, const char *call, const char *file, int line, cnn_error *);
#define CUDNN_CHECK(context, call, err) cudnn_check((context), (call), #call, __FILE__, __LINE__, (err))
#define CUDNN_TRY(context, call, err)                                                                                  \
    do {                                                                                                               \
        const cnn_status try_status = CUDNN_CHECK(context, call, err);                                                 \
        if (try_status != CNN_OK) return try_status;                                                                   \
    } while (0)

/* The cuDNN type of the numbers, and the factors that its calls take: float for f32, double for f64. */
static inline cudnnDataType_t cudnn_data_type(cnn_dtype dtype)
{
    return dtype == CNN_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}
typedef union cudnn_factor {
    float f32;
    double f64;
} cudnn_factor;
static inline cudnn_factor cudnn_factor_of(cnn_dtype dtype, double value)
{
    cudnn_factor factor;
    if (dtype == CNN_F64)
        factor.f64 = value;
    else
        factor.f32 = (float)value;
    return factor;
}

/* A tensor (n, c, h, w) in the type's layout; NULL on failure. CNN_UNSUPPORTED when a size or the whole is more than
 * cuDNN's 32-bit integers count. */
cnn_status cudnn_tensor_open(cudnn_context *, const cnn_type *, int64_t n, int64_t c, int64_t h, int64_t w,
                             cudnnTensorDescriptor_t *, cnn_error *);
void cudnn_tensor_close(cudnnTensorDescriptor_t *); /* NULL is fine, and becomes so */

#ifdef __cplusplus
}
#endif
#endif
