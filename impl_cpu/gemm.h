/* gemm.h: matrix products in f32 and f64 by OpenBLAS, row-major, one thread a call. */
#ifndef IMPL_CPU_GEMM_H
#define IMPL_CPU_GEMM_H

#include "harness/cnn/shape.h"
#include "impl_cpu/counts.h"
#include "impl_cpu/cpu.h"

/* A matrix in memory: `ld` elements from one row to the next. With `trans` its transpose is meant, in rows and columns
 * of the product; `ld` still describes what lies in memory. */
typedef struct gemm_matrix {
    const void *p;
    int64_t ld;
    bool trans;
} gemm_matrix;

/* C[m][n] = A[m][k] * B[k][n] + beta * C; with beta 0, C is not read. */
void cpu_gemm(cnn_dtype dtype, int64_t m, int64_t n, int64_t k, gemm_matrix a, gemm_matrix b, double beta, void *c,
              int64_t ldc);

/* The same, C cut into tiles that the pool's threads compute. The cut depends on the sizes alone: the same bits for any
 * number of threads. */
void cpu_gemm_parallel(thread_pool *pool, cnn_dtype dtype, int64_t m, int64_t n, int64_t k, gemm_matrix a,
                       gemm_matrix b, double beta, void *c, int64_t ldc);

/* OpenBLAS counts rows, columns and leading dimensions in 32-bit integers: CNN_UNSUPPORTED where `what`, a x b, is
 * more. */
cnn_status cpu_fits_blas(const char *what, int64_t a, int64_t b, cnn_error *err);

/* p + count elements. */
static inline void *cpu_at(cnn_dtype dtype, void *p, int64_t count)
{
    return (char *)p + count * (int64_t)cnn_dtype_size(dtype);
}
static inline const void *cpu_at_const(cnn_dtype dtype, const void *p, int64_t count)
{
    return (const char *)p + count * (int64_t)cnn_dtype_size(dtype);
}

#endif
