/* gemm.c: the calls to OpenBLAS, and a product cut into tiles. */
#include "cpu.h"

#include <cblas.h>
#include <limits.h>

void cpu_gemm(cnn_dtype dtype, int64_t m, int64_t n, int64_t k, gemm_matrix a, gemm_matrix b, double beta, void *c,
              int64_t ldc)
{
    const CBLAS_TRANSPOSE ta = a.trans ? CblasTrans : CblasNoTrans, tb = b.trans ? CblasTrans : CblasNoTrans;
    if (dtype == CNN_F32)
        cblas_sgemm(CblasRowMajor, ta, tb, (int)m, (int)n, (int)k, 1, a.p, (int)a.ld, b.p, (int)b.ld, (float)beta, c,
                    (int)ldc);
    else
        cblas_dgemm(CblasRowMajor, ta, tb, (int)m, (int)n, (int)k, 1, a.p, (int)a.ld, b.p, (int)b.ld, beta, c,
                    (int)ldc);
}

typedef struct tiles {
    cnn_dtype dtype;
    int64_t m, n, k, tile_m, tile_n, across, ldc;
    gemm_matrix a, b;
    double beta;
    void *c;
} tiles;

static void tile_body(void *arg, int64_t task, int worker)
{
    (void)worker;
    const tiles *t = arg;
    const int64_t row = task / t->across * t->tile_m, col = task % t->across * t->tile_n;
    gemm_matrix a = t->a, b = t->b;
    a.p = cpu_at_const(t->dtype, a.p, a.trans ? row : row * a.ld);
    b.p = cpu_at_const(t->dtype, b.p, b.trans ? col * b.ld : col);
    cpu_gemm(t->dtype, cpu_min(t->tile_m, t->m - row), cpu_min(t->tile_n, t->n - col), t->k, a, b, t->beta,
             cpu_at(t->dtype, t->c, row * t->ldc + col), t->ldc);
}

void cpu_gemm_parallel(thread_pool *pool, cnn_dtype dtype, int64_t m, int64_t n, int64_t k, gemm_matrix a,
                       gemm_matrix b, double beta, void *c, int64_t ldc)
{
    enum { MOST_TASKS = 64, LEAST_SIDE = 32 };
    tiles t = {dtype, m, n, k, m, n, 1, ldc, a, b, beta, c};
    const int64_t tasks = cpu_task_count((double)m * (double)n * (double)k, MOST_TASKS);
    /* The longer side is cut first: tiles near to square read the least of A and B. */
    const int64_t longer = cpu_max(m, n), cut = cpu_clamp(tasks, 1, cpu_ceil_div(longer, LEAST_SIDE));
    const int64_t cut_other = cpu_clamp(cpu_ceil_div(tasks, cut), 1, cpu_ceil_div(cpu_min(m, n), LEAST_SIDE));
    t.tile_m = cpu_ceil_div(m, m >= n ? cut : cut_other);
    t.tile_n = cpu_ceil_div(n, m >= n ? cut_other : cut);
    t.across = cpu_ceil_div(n, t.tile_n);
    parallel_for(pool, cpu_ceil_div(m, t.tile_m) * t.across, tile_body, &t);
}

cnn_status cpu_fits_blas(const char *what, int64_t a, int64_t b, cnn_error *err)
{
    int64_t product;
    if (cnn_mul(a, b, &product) && product <= INT_MAX) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "%s, %lld x %lld, is more than OpenBLAS can count (%d); use algorithm naive",
                    what, (long long)a, (long long)b, INT_MAX);
}
