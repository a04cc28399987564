/* peaks.cu: what cuBLAS reaches on square products of random numbers, in each arithmetic that cnn.h knows: the ceilings
 * of the device's matrix units. Numbers, not zeros: those would cost less power and so allow a higher clock. */
#include "harness/cuda/launch.h"
#include "impl_cuda_im2col/im2col.h"

#include <string.h>

#ifndef BENCHCNN_CUDA_EMULATED
#include <cuda_fp16.h>

/* In [-1, 1), by splitmix64's finalizer. */
static __device__ inline float random_real(int64_t i)
{
    uint64_t z = 0x9E3779B97F4A7C15u * static_cast<uint64_t>(i + 1);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return static_cast<float>(static_cast<int32_t>(z >> 40) - (1 << 23)) / static_cast<float>(1 << 23);
}

template <typename T> static __device__ inline T number(float v) { return static_cast<T>(v); }
template <> __device__ inline __half number<__half>(float v) { return __float2half(v); }
/* bf16 is the upper half of an f32. */
template <> __device__ inline uint16_t number<uint16_t>(float v)
{
    return static_cast<uint16_t>(__float_as_uint(v) >> 16);
}

template <typename T> __global__ void peak_numbers(T *to, int64_t count)
{
    for (CUDA_GRID_STRIDE(i, count)) to[i] = number<T>(random_real(i));
}

template <typename T> static cnn_status fill(cuda_context *c, void *to, int64_t count, cnn_error *err)
{
    return cuda_launch(c, cuda_shape_pointwise(c, c->knobs, "peak_numbers", count), err, peak_numbers<T>,
                       static_cast<T *>(to), count);
}

struct gemm_row {
    cnn_dtype dtype;
    cnn_math math;
    cudaDataType_t type;
    cublasComputeType_t compute;
    size_t elem;
    int side;
    cnn_status (*fill)(cuda_context *, void *to, int64_t count, cnn_error *);
};

static const gemm_row rows[] = {
    {CNN_F32, CNN_MATH_F32, CUDA_R_32F, CUBLAS_COMPUTE_32F, 4, 4096, fill<float>},
    {CNN_F32, CNN_MATH_TF32, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 4, 8192, fill<float>},
    {CNN_F32, CNN_MATH_F16, CUDA_R_16F, CUBLAS_COMPUTE_32F, 2, 8192, fill<__half>},
    {CNN_F32, CNN_MATH_BF16, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 2, 8192, fill<uint16_t>},
    {CNN_F64, CNN_MATH_F32, CUDA_R_64F, CUBLAS_COMPUTE_64F, 8, 4096, fill<double>},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* The matrices a, b and c, one after the other; which row of the table stands in the peak's dtype and math. */
static const gemm_row *row_of(const cnn_peak *peak)
{
    for (const gemm_row &row : rows)
        if (row.dtype == peak->dtype && row.math == peak->math) return &row;
    return &rows[0];
}

static void peak_close(cnn_context *context, cnn_peak *peak)
{
    if (peak->state != nullptr) cuda_memory.free(context, peak->state);
    peak->state = nullptr;
}

static cnn_status peak_open(cnn_context *context, int index, cnn_peak *peak, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    memset(peak, 0, sizeof *peak);
    if (index < 0 || index >= ROWS) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "there is no ceiling number %d", index);
    const gemm_row *row = &rows[index];
    const int64_t matrix = (int64_t)row->side * row->side;
    /* Before Ampere there is neither TF32 nor bf16. */
    if (c->properties.major < 8 && (row->math == CNN_MATH_TF32 || row->math == CNN_MATH_BF16))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "compute capability %d.%d has no such matrix units", c->properties.major,
                        c->properties.minor);
    snprintf(peak->what, sizeof peak->what, "gemm");
    snprintf(peak->variant, sizeof peak->variant, "cublas");
    peak->unit = CNN_PEAK_FLOPS;
    peak->dtype = row->dtype;
    peak->math = row->math;
    peak->amount = 2.0 * (double)matrix * row->side;
    cnn_status status = cuda_memory.alloc(context, 3 * (size_t)matrix * row->elem, &peak->state, err);
    if (status == CNN_OK) status = row->fill(c, peak->state, 3 * matrix, err);
    if (status != CNN_OK) peak_close(context, peak);
    return status;
}

static cnn_status peak_run(cnn_context *context, const cnn_peak *peak, cnn_error *err)
{
    cucol_context *c = reinterpret_cast<cucol_context *>(context);
    const gemm_row *row = row_of(peak);
    const int n = row->side;
    const size_t matrix = (size_t)n * (size_t)n * row->elem;
    char *a = static_cast<char *>(peak->state);
    const float one = 1.0f, zero = 0.0f;
    const double one64 = 1.0, zero64 = 0.0;
    const bool f64 = row->type == CUDA_R_64F;
    const void *alpha = f64 ? static_cast<const void *>(&one64) : &one,
               *beta = f64 ? static_cast<const void *>(&zero64) : &zero;
    const cublasStatus_t status =
        cublasGemmEx(c->blas.handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, alpha, a, row->type, n, a + matrix, row->type,
                     n, beta, a + 2 * matrix, row->type, n, row->compute, CUBLAS_GEMM_DEFAULT);
    if (status == CUBLAS_STATUS_SUCCESS) return CNN_OK;
    return CNN_FAIL(err, CNN_DEVICE, "cublasGemmEx of %d x %d: %s", n, n, cublasGetStatusString(status));
}

const cnn_peaks cucol_peaks = {ROWS, peak_open, peak_run, peak_close};
#endif
