/* gemm.cu: cuBLAS, asked for row-major products.
 *
 * cuBLAS is column-major: what it takes for a k x m matrix is our m x k. So it is asked for the transpose, c' = b' *
 * a', which in memory is our c: operands change places and nothing is copied. */
#include "harness/cuda/launch.h"
#include "impl_cuda_im2col/im2col.h"

static cnn_status blas_check(cucol_context *context, cublasStatus_t status, const char *call, cnn_error *err)
{
    if (status == CUBLAS_STATUS_SUCCESS) return CNN_OK;
    const cudaError_t error = cudaPeekAtLastError(); /* a sticky error shows in cuBLAS's calls first */
    if (error != cudaSuccess) return cuda_check(&context->cuda, error, call, __FILE__, __LINE__, err);
    const cnn_status kind = status == CUBLAS_STATUS_ALLOC_FAILED ? CNN_OUT_OF_MEMORY : CNN_DEVICE;
    return CNN_FAIL(err, kind, "%s: %s", call, cublasGetStatusString(status));
}

#define BLAS_TRY(context, call, err)                                                                                   \
    do {                                                                                                               \
        const cnn_status try_status = blas_check(context, call, #call, err);                                           \
        if (try_status != CNN_OK) return try_status;                                                                   \
    } while (0)

/* cuBLAS gets its workspace once and for all: it then allocates nothing later, so that its calls can be captured, and
 * gives the same bits in every run. Setting the stream would take the workspace away again, so the stream comes first.
 */
cnn_status cucol_gemm_open(cucol_context *context, cnn_error *err)
{
    const size_t bytes = (size_t)context->cuda.knobs[CUCOL_KNOB_GEMM_WORKSPACE] << 20;
    BLAS_TRY(context, cublasCreate(&context->blas), err);
    BLAS_TRY(context, cublasSetStream(context->blas, context->cuda.stream), err);
    CUDA_TRY(&context->cuda, cudaMalloc(&context->blas_workspace, bytes), err);
    BLAS_TRY(context, cublasSetWorkspace(context->blas, context->blas_workspace, bytes), err);
    BLAS_TRY(context, cublasSetAtomicsMode(context->blas, CUBLAS_ATOMICS_NOT_ALLOWED), err);
    BLAS_TRY(context, cublasSetMathMode(context->blas, CUBLAS_DEFAULT_MATH), err); /* TF32 only where a call says so */
    return CNN_OK;
}

/* At the end nobody is left to tell of a failure. */
void cucol_gemm_close(cucol_context *context)
{
    if (context->blas != nullptr) (void)cublasDestroy(context->blas);
    if (context->blas_workspace != nullptr) (void)cudaFree(context->blas_workspace);
    context->blas = nullptr;
    context->blas_workspace = nullptr;
}

static cublasComputeType_t compute_type(const cucol_context *context, const cnn_type *t)
{
    if (t->math == CNN_MATH_TF32) return CUBLAS_COMPUTE_32F_FAST_TF32;
    const bool pedantic = context->cuda.knobs[CUCOL_KNOB_GEMM_PEDANTIC] != 0;
    if (t->dtype == CNN_F32) return pedantic ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F;
    return pedantic ? CUBLAS_COMPUTE_64F_PEDANTIC : CUBLAS_COMPUTE_64F;
}

/* What cuBLAS is asked for: op(a) * op(b), m x n, all column-major. */
struct blas_call {
    int m, n, k, lda, ldb, ldc;
    long long a_stride, b_stride, c_stride;
    cublasOperation_t a_op, b_op;
    const void *a, *b;
};

static blas_call call_of(const cucol_gemm *g, const void *a, const void *b)
{
    const cublasOperation_t stored = CUBLAS_OP_N, turned = CUBLAS_OP_T;
    const int m = (int)g->m, n = (int)g->n, k = (int)g->k;
    const int lda = (int)g->a.ld, ldb = (int)g->b.ld, ldc = (int)g->c.ld;
    if (g->c.transposed)
        return {m,
                n,
                k,
                lda,
                ldb,
                ldc,
                g->a.stride,
                g->b.stride,
                g->c.stride,
                g->a.transposed ? stored : turned,
                g->b.transposed ? stored : turned,
                a,
                b};
    return {n,
            m,
            k,
            ldb,
            lda,
            ldc,
            g->b.stride,
            g->a.stride,
            g->c.stride,
            g->b.transposed ? turned : stored,
            g->a.transposed ? turned : stored,
            b,
            a};
}

cnn_status cucol_gemm_run(cucol_context *context, const cnn_type *t, const cucol_gemm *g, const void *a, const void *b,
                          void *c, cnn_error *err)
{
    const bool single = t->dtype == CNN_F32;
    const float one_f = 1, beta_f = (float)g->beta;
    const double one_d = 1, beta_d = g->beta;
    const void *alpha = single ? (const void *)&one_f : &one_d, *beta = single ? (const void *)&beta_f : &beta_d;
    const cudaDataType_t type = single ? CUDA_R_32F : CUDA_R_64F;
    const cublasComputeType_t compute = compute_type(context, t);
    const blas_call p = call_of(g, a, b);

    if (context->cuda.dead) return cuda_check(&context->cuda, cudaSuccess, "cuBLAS", __FILE__, __LINE__, err);
    snprintf(context->cuda.last_kernel, sizeof context->cuda.last_kernel, "cuBLAS %d x %d x %d", p.m, p.n, p.k);
    /* A single product has a call of its own: only that one splits a long k over the device. */
    const cublasStatus_t status =
        g->batch == 1 ? cublasGemmEx(context->blas, p.a_op, p.b_op, p.m, p.n, p.k, alpha, p.a, type, p.lda, p.b, type,
                                     p.ldb, beta, c, type, p.ldc, compute, CUBLAS_GEMM_DEFAULT)
                      : cublasGemmStridedBatchedEx(context->blas, p.a_op, p.b_op, p.m, p.n, p.k, alpha, p.a, type,
                                                   p.lda, p.a_stride, p.b, type, p.ldb, p.b_stride, beta, c, type,
                                                   p.ldc, p.c_stride, (int)g->batch, compute, CUBLAS_GEMM_DEFAULT);
    const cnn_status checked = blas_check(context, status, context->cuda.last_kernel, err);
    if (checked != CNN_OK) return checked;
    /* cuBLAS chooses its launches; what they did is looked at as after our own. */
    return cuda_launch_done(&context->cuda, {context->cuda.last_kernel, dim3(), dim3(), 0}, cudaSuccess, err);
}
