/* gemm.cu: cuBLAS, asked for row-major products.
 *
 * cuBLAS is column-major: what it takes for a k x m matrix is our m x k. So it is asked for the transpose, c' = b' *
 * a', which in memory is our c: operands change places and nothing is copied. */
#include "harness/cuda/gemm.h"
#include "harness/cuda/launch.h"

static cnn_status blas_check(cuda_context *context, cublasStatus_t status, const char *call, cnn_error *err)
{
    if (status == CUBLAS_STATUS_SUCCESS) return CNN_OK;
    const cudaError_t error = cudaPeekAtLastError(); /* a sticky error shows in cuBLAS's calls first */
    if (error != cudaSuccess) return cuda_check(context, error, call, __FILE__, __LINE__, err);
    if (status == CUBLAS_STATUS_ALLOC_FAILED)
        return cuda_check(context, cudaErrorMemoryAllocation, call, __FILE__, __LINE__, err);
    return CNN_FAIL(err, CNN_DEVICE, "%.*s: %s", cuda_call_length(call), call, cublasGetStatusString(status));
}

#define BLAS_TRY(context, call, err)                                                                                   \
    do {                                                                                                               \
        const cnn_status try_status = blas_check(context, call, #call, err);                                           \
        if (try_status != CNN_OK) return try_status;                                                                   \
    } while (0)

/* cuBLAS gets its workspace once and for all: it then allocates nothing later, so that its calls can be captured, and
 * gives the same bits in every run. Each stream has one: products on both may run at once. Setting the stream takes the
 * workspace away again, so the stream comes first. */
cnn_status cuda_blas_follow(cuda_context *context, cuda_blas *blas, bool second, cnn_error *err)
{
    void **workspace = second ? &blas->second : &blas->workspace;
    cnn_status status = CNN_OK;
    if (*workspace == nullptr && blas->workspace_bytes > 0)
        status = cuda_memory.alloc(reinterpret_cast<cnn_context *>(context), blas->workspace_bytes, workspace, err);
    if (status != CNN_OK) return status;
    BLAS_TRY(context, cublasSetStream(blas->handle, context->stream), err);
    BLAS_TRY(context, cublasSetWorkspace(blas->handle, *workspace, blas->workspace_bytes), err);
    return CNN_OK;
}

cnn_status cuda_blas_open(cuda_context *context, cuda_blas *blas, size_t workspace_bytes, cnn_error *err)
{
    cnn_status status = cuda_enter(context, err);
    if (status != CNN_OK) return status;
    BLAS_TRY(context, cublasCreate(&blas->handle), err);
    blas->workspace_bytes = workspace_bytes;
    status = cuda_blas_follow(context, blas, false, err);
    if (status != CNN_OK) return status;
    BLAS_TRY(context, cublasSetAtomicsMode(blas->handle, CUBLAS_ATOMICS_NOT_ALLOWED), err);
    /* TF32 only where a call says so; and parts of a sum of f16 or bf16 are added up before they are rounded. */
    const int math = CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    BLAS_TRY(context, cublasSetMathMode(blas->handle, static_cast<cublasMath_t>(math)), err);
    return CNN_OK;
}

/* At the end nobody is left to tell of a failure. */
void cuda_blas_close(cuda_blas *blas)
{
    if (blas->handle != nullptr) (void)cublasDestroy(blas->handle);
    if (blas->workspace != nullptr) (void)cudaFree(blas->workspace);
    if (blas->second != nullptr) (void)cudaFree(blas->second);
    *blas = {};
}

void cuda_blas_describe(const cuda_blas *blas, cnn_put_fn *put, void *user)
{
    char text[32];
    int version = 0;
    if (cublasGetVersion(blas->handle, &version) != CUBLAS_STATUS_SUCCESS) return;
    /* 130100 is 13.1.0; before 11 it was 1000, 100, 1 */
    snprintf(text, sizeof text, "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
    put(user, "cublas", text);
}

static cublasComputeType_t compute_type(const cnn_type *t, bool pedantic)
{
    if (t->math == CNN_MATH_TF32) return CUBLAS_COMPUTE_32F_FAST_TF32;
    if (t->dtype != CNN_F64) return pedantic ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F;
    return pedantic ? CUBLAS_COMPUTE_64F_PEDANTIC : CUBLAS_COMPUTE_64F;
}

static cudaDataType_t data_type(cnn_dtype dtype)
{
    if (dtype == CNN_F16) return CUDA_R_16F;
    if (dtype == CNN_BF16) return CUDA_R_16BF;
    return dtype == CNN_F64 ? CUDA_R_64F : CUDA_R_32F;
}

/* What cuBLAS is asked for: op(left) * op(right), m x n, all column-major. */
struct blas_product {
    int m, n;
    const cuda_matrix *left, *right;
    cublasOperation_t left_op, right_op;
    const void *left_at, *right_at;
};

/* A c that is stored transposed is a column-major c: the operands then keep their places, and are the ones to turn. */
static blas_product product_of(const cuda_gemm *g, const void *a, const void *b)
{
    const int m = (int)g->m, n = (int)g->n;
    const cublasOperation_t stored = CUBLAS_OP_N, turned = CUBLAS_OP_T;
    if (g->c.transposed)
        return {m, n, &g->a, &g->b, g->a.transposed ? stored : turned, g->b.transposed ? stored : turned, a, b};
    return {n, m, &g->b, &g->a, g->b.transposed ? turned : stored, g->a.transposed ? turned : stored, b, a};
}

/* A single product has a call of its own: only that one splits a long k over the device. */
static cublasStatus_t call_blas(const cuda_blas *blas, const cnn_type *t, const cuda_gemm *g, const blas_product &p,
                                void *c)
{
    const bool single = t->dtype != CNN_F64; /* the factors are of the type of the sums */
    const float one_f = 1, beta_f = (float)g->beta;
    const double one_d = 1, beta_d = g->beta;
    const void *alpha = single ? (const void *)&one_f : &one_d, *beta = single ? (const void *)&beta_f : &beta_d;
    const cudaDataType_t type = data_type(t->dtype);
    const cublasComputeType_t compute = compute_type(t, blas->pedantic);
    const int k = (int)g->k, ldl = (int)p.left->ld, ldr = (int)p.right->ld, ldc = (int)g->c.ld;
    if (g->batch == 1)
        return cublasGemmEx(blas->handle, p.left_op, p.right_op, p.m, p.n, k, alpha, p.left_at, type, ldl, p.right_at,
                            type, ldr, beta, c, type, ldc, compute, CUBLAS_GEMM_DEFAULT);
    return cublasGemmStridedBatchedEx(blas->handle, p.left_op, p.right_op, p.m, p.n, k, alpha, p.left_at, type, ldl,
                                      p.left->stride, p.right_at, type, ldr, p.right->stride, beta, c, type, ldc,
                                      g->c.stride, (int)g->batch, compute, CUBLAS_GEMM_DEFAULT);
}

cnn_status cuda_gemm_run(cuda_context *context, const cuda_blas *blas, const cnn_type *t, const cuda_gemm *g,
                         const void *a, const void *b, void *c, cnn_error *err)
{
    const blas_product p = product_of(g, a, b);
    cnn_status status = cuda_enter(context, err);
    if (status != CNN_OK) return status;
    snprintf(context->last_kernel, sizeof context->last_kernel, "cuBLAS %d x %d x %d", p.m, p.n, (int)g->k);
    status = blas_check(context, call_blas(blas, t, g, p, c), context->last_kernel, err);
    if (status != CNN_OK) return status;
    /* cuBLAS chooses its launches; what they did is looked at as after our own. */
    return cuda_launch_done(context, {"gemm", dim3(), dim3(), 0}, cudaSuccess, err);
}

cuda_gemm cuda_gemm_of_fc(const cnn_fc_desc *d, cnn_dir dir, double beta)
{
    const int64_t mb = d->mb, oc = d->oc, k = d->ic * d->ih * d->iw;
    if (dir == CNN_FWD) return {mb, oc, k, 1, {k, 0, false}, {k, 0, true}, {oc, 0, false}, beta};
    if (dir == CNN_BWD_D) return {mb, k, oc, 1, {oc, 0, false}, {k, 0, false}, {k, 0, false}, beta};
    return {oc, k, mb, 1, {oc, 0, true}, {k, 0, false}, {k, 0, false}, beta};
}
