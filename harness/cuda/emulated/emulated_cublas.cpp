/* emulated_cublas.cpp: cuBLAS's products by OpenBLAS: see emulated_cublas.h. */
#include "harness/cuda/emulated/emulated_cublas.h"
#include "harness/cuda/emulated/runtime.h"

#include <cblas.h>
#include <new>

struct emulated_cublas {
    cudaStream_t stream;
    int device; /* that was current when it was made: with another, cuBLAS does whatever it does */
};

/* A batch of products, with all that cuBLAS reads at the time of the call, so that it can be done later. */
struct batch_of_products {
    cublasOperation_t transa, transb;
    int m, n, k, lda, ldb, ldc, batch;
    long long a_stride, b_stride, c_stride;
    double alpha, beta;
    const void *a, *b;
    void *c;
};

static void one_product(const batch_of_products &p, const float *a, const float *b, float *c)
{
    cblas_sgemm(CblasColMajor, p.transa == CUBLAS_OP_N ? CblasNoTrans : CblasTrans,
                p.transb == CUBLAS_OP_N ? CblasNoTrans : CblasTrans, p.m, p.n, p.k, static_cast<float>(p.alpha), a,
                p.lda, b, p.ldb, static_cast<float>(p.beta), c, p.ldc);
}

static void one_product(const batch_of_products &p, const double *a, const double *b, double *c)
{
    cblas_dgemm(CblasColMajor, p.transa == CUBLAS_OP_N ? CblasNoTrans : CblasTrans,
                p.transb == CUBLAS_OP_N ? CblasNoTrans : CblasTrans, p.m, p.n, p.k, p.alpha, a, p.lda, b, p.ldb, p.beta,
                c, p.ldc);
}

/* C is zeroed first where beta is 0: BLAS libraries differ in whether 0 * NaN may stay. */
template <typename T> static void all_products(const batch_of_products &p)
{
    for (long long i = 0; i < p.batch; i++) {
        T *c = static_cast<T *>(p.c) + i * p.c_stride;
        for (long long column = 0; p.beta == 0 && column < p.n; column++)
            for (long long row = 0; row < p.m; row++) c[column * p.ldc + row] = 0;
        one_product(p, static_cast<const T *>(p.a) + i * p.a_stride, static_cast<const T *>(p.b) + i * p.b_stride, c);
    }
}

/* Now, or, while the stream is captured, at every replay. */
static cublasStatus_t submit(cublasHandle_t handle, const batch_of_products &p, bool single)
{
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess || device != handle->device) return CUBLAS_STATUS_NOT_INITIALIZED;
    emulated_enqueue(handle->stream, [p, single] {
        if (single)
            all_products<float>(p);
        else
            all_products<double>(p);
    });
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void *alpha, const void *a, cudaDataType_t a_type,
                                          int lda, long long a_stride, const void *b, cudaDataType_t b_type, int ldb,
                                          long long b_stride, const void *beta, void *c, cudaDataType_t c_type, int ldc,
                                          long long c_stride, int batch, cublasComputeType_t compute, cublasGemmAlgo_t)
{
    const bool single = a_type == CUDA_R_32F;
    const bool computes_double = compute == CUBLAS_COMPUTE_64F || compute == CUBLAS_COMPUTE_64F_PEDANTIC;
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (b_type != a_type || c_type != a_type || single == computes_double) return CUBLAS_STATUS_NOT_SUPPORTED;
    const int a_rows = transa == CUBLAS_OP_N ? m : k, b_rows = transb == CUBLAS_OP_N ? k : n;
    if (m < 0 || n < 0 || k < 0 || batch < 0 || lda < a_rows || ldb < b_rows || ldc < m || lda < 1 || ldb < 1 ||
        ldc < 1)
        return CUBLAS_STATUS_INVALID_VALUE;
    batch_of_products p = {transa, transb, m, n, k, lda, ldb, ldc, batch, a_stride, b_stride, c_stride, 1, 0, a, b, c};
    p.alpha = single ? *static_cast<const float *>(alpha) : *static_cast<const double *>(alpha);
    p.beta = single ? *static_cast<const float *>(beta) : *static_cast<const double *>(beta);
    return submit(handle, p, single);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void *alpha, const void *a, cudaDataType_t a_type, int lda, const void *b,
                            cudaDataType_t b_type, int ldb, const void *beta, void *c, cudaDataType_t c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
    return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, a, a_type, lda, 0, b, b_type, ldb, 0,
                                      beta, c, c_type, ldc, 0, 1, compute, algorithm);
}

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    *handle = new (std::nothrow) emulated_cublas{};
    if (*handle == nullptr) return CUBLAS_STATUS_ALLOC_FAILED;
    if (cudaGetDevice(&(*handle)->device) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
    openblas_set_num_threads(1); /* the same bits in every run */
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion(cublasHandle_t, int *version)
{
    *version = 0; /* none of cuBLAS's */
    return CUBLAS_STATUS_SUCCESS;
}

const char *cublasGetStatusString(cublasStatus_t status)
{
    switch (status) {
    case CUBLAS_STATUS_SUCCESS:
        return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
        return "no handle";
    case CUBLAS_STATUS_ALLOC_FAILED:
        return "out of memory";
    case CUBLAS_STATUS_INVALID_VALUE:
        return "a size or leading dimension does not fit";
    case CUBLAS_STATUS_NOT_SUPPORTED:
        return "types that do not go together";
    }
    return "unknown";
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

/* OpenBLAS has memory of its own, and no other arithmetic to choose. */
cublasStatus_t cublasSetWorkspace(cublasHandle_t, void *, size_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t, cublasAtomicsMode_t) { return CUBLAS_STATUS_SUCCESS; }
