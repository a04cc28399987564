/* gemm.h: matrix products by cuBLAS, in row-major terms; the library benchcnn_cuda_blas, for those who link it. */
#ifndef HARNESS_CUDA_GEMM_H
#define HARNESS_CUDA_GEMM_H

#include "harness/cuda/cuda.h"

/* cuBLAS, or what stands in for it: no other file includes <cublas_v2.h>. */
#ifdef BENCHCNN_CUDA_EMULATED
#include "harness/cuda/emulated/emulated_cublas.h"
#else
#include <cublas_v2.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cuda_blas {
    cublasHandle_t handle; /* on the context's stream */
    size_t workspace_bytes;
    void *workspace, *second; /* of the context's stream, and of a second one, once there is one */
    bool pedantic;            /* the owner's to set: cuBLAS's strictest arithmetic; TF32 is then still TF32 */
} cuda_blas;

cnn_status cuda_blas_open(cuda_context *, cuda_blas *, size_t workspace_bytes, cnn_error *);
/* For cuda_context.follow. */
cnn_status cuda_blas_follow(cuda_context *, cuda_blas *, bool second, cnn_error *);
void cuda_blas_close(cuda_blas *);                                    /* one that was never opened (zeroed) is fine */
void cuda_blas_describe(const cuda_blas *, cnn_put_fn *, void *user); /* its version */

/* How a row-major matrix lies: elements from row to row, and from product to product. Transposed: it is stored so. */
typedef struct cuda_matrix {
    int64_t ld, stride;
    bool transposed;
} cuda_matrix;

/* `batch` products c = a * b + beta * c, of m x k and k x n; beta 0 does not read c. All sides fit 32 bits. */
typedef struct cuda_gemm {
    int64_t m, n, k, batch;
    cuda_matrix a, b, c;
    double beta;
} cuda_gemm;
cnn_status cuda_gemm_run(cuda_context *, const cuda_blas *, const cnn_type *, const cuda_gemm *, const void *a,
                         const void *b, void *c, cnn_error *);
/* The product of a fully connected layer: y[mb][oc] = x[mb][K] * w[oc][K]', K the elements of an image, dx = dy * w, or
 * dw = dy' * x. */
cuda_gemm cuda_gemm_of_fc(const cnn_fc_desc *, cnn_dir, double beta);

#ifdef __cplusplus
}
#endif
#endif
