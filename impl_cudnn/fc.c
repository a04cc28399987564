/* fc.c: y[mb][oc] = x[mb][K] * w[oc][K]' and its two gradients, K the elements of an image, each one cuBLAS product.
 *
 * cuBLAS is column-major: what it takes for a K x mb matrix is our x. So every product below is the transpose of ours.
 */
#include "impl_cudnn/fc.h"

#include "harness/cuda/bias.h"
#include "harness/shape.h"

#include <limits.h>

static cnn_status blas_check(cudnn_context *c, cublasStatus_t status, const char *call, cnn_error *err)
{
    if (status == CUBLAS_STATUS_SUCCESS) return CNN_OK;
    const cudaError_t error = cudaPeekAtLastError(); /* a sticky error shows in cuBLAS's calls first */
    if (error != cudaSuccess) return cuda_check(&c->cuda, error, call, __FILE__, __LINE__, err);
    return CNN_FAIL(err, status == CUBLAS_STATUS_ALLOC_FAILED ? CNN_OUT_OF_MEMORY : CNN_DEVICE, "%s: %s", call,
                    cublasGetStatusString(status));
}

#define BLAS_TRY(c, call, err)                                                                                         \
    do {                                                                                                               \
        const cnn_status try_status = blas_check(c, call, #call, err);                                                 \
        if (try_status != CNN_OK) return try_status;                                                                   \
    } while (0)

/* The workspace is given once: cuBLAS then allocates nothing later, so that its calls can be captured. */
cnn_status cudnn_fc_open(cudnn_context *c, cnn_error *err)
{
    const size_t bytes = (size_t)32 << 20;
    BLAS_TRY(c, cublasCreate(&c->blas), err);
    BLAS_TRY(c, cublasSetStream(c->blas, c->cuda.stream), err);
    CUDA_TRY(&c->cuda, cudaMalloc(&c->blas_workspace, bytes), err);
    BLAS_TRY(c, cublasSetWorkspace(c->blas, c->blas_workspace, bytes), err);
    BLAS_TRY(c, cublasSetAtomicsMode(c->blas, CUBLAS_ATOMICS_NOT_ALLOWED), err);
    return CNN_OK;
}

void cudnn_fc_close(cudnn_context *c)
{
    if (c->blas != NULL) (void)cublasDestroy(c->blas);
    if (c->blas_workspace != NULL) (void)cudaFree(c->blas_workspace);
    c->blas = NULL;
    c->blas_workspace = NULL;
}

cnn_status cudnn_fc_supports(const cnn_fc_desc *d, cnn_error *err)
{
    int64_t k, pixels;
    if (!cnn_mul(d->ih, d->iw, &pixels) || !cnn_mul(d->ic, pixels, &k) || k > INT_MAX || d->mb > INT_MAX ||
        d->oc > INT_MAX)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "a side of the product is more than cuBLAS counts (%d)", INT_MAX);
    if (d->t.layout == CNN_NHWC && d->ic > 1 && pixels > 1)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "an NHWC image of %lld channels and %lld pixels is not in the weights' order", (long long)d->ic,
                        (long long)pixels);
    return CNN_OK;
}

typedef struct fc_product {
    cublasOperation_t a_op, b_op;
    int m, n, k, lda, ldb, ldc;
    const void *a, *b;
    void *c;
} fc_product;

static fc_product product_of(const cnn_plan *plan, const cnn_weighted_args *args)
{
    const cnn_fc_desc *d = &plan->problem.u.fc;
    const int mb = (int)d->mb, oc = (int)d->oc, k = (int)(d->ic * d->ih * d->iw);
    const cublasOperation_t stored = CUBLAS_OP_N, turned = CUBLAS_OP_T;
    if (plan->dir == CNN_FWD) return (fc_product){turned, stored, oc, mb, k, k, k, oc, args->w, args->x, args->y};
    if (plan->dir == CNN_BWD_D) return (fc_product){stored, stored, k, mb, oc, k, oc, k, args->w, args->dy, args->dx};
    return (fc_product){stored, turned, k, oc, mb, k, oc, k, args->x, args->dy, args->dw};
}

cnn_status cudnn_fc_run(cudnn_context *c, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    const cnn_fc_desc *d = &plan->problem.u.fc;
    const bool single = d->t.dtype == CNN_F32;
    const cudnn_factor one = cudnn_factor_of(d->t.dtype, 1), beta = cudnn_factor_of(d->t.dtype, args->beta);
    const cudaDataType_t type = single ? CUDA_R_32F : CUDA_R_64F;
    const cublasComputeType_t compute = d->t.math == CNN_MATH_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                        : single                   ? CUBLAS_COMPUTE_32F
                                                                   : CUBLAS_COMPUTE_64F;
    const cuda_bias bias = {.t = d->t, .mb = d->mb, .channels = d->oc, .pixels = 1};
    const fc_product p = product_of(plan, args);
    BLAS_TRY(c,
             cublasGemmEx(c->blas, p.a_op, p.b_op, p.m, p.n, p.k, &one, p.a, type, p.lda, p.b, type, p.ldb, &beta, p.c,
                          type, p.ldc, compute, CUBLAS_GEMM_DEFAULT),
             err);
    if (plan->dir == CNN_FWD && args->b != NULL) return cuda_bias_add(&c->cuda, &bias, args->b, args->y, err);
    if (plan->dir == CNN_BWD_W && args->db != NULL)
        return cuda_bias_gradient(&c->cuda, &bias, args->dy, args->db, args->beta, err);
    return CNN_OK;
}
