/* peaks.c: square products by the library that im2col and FC use, as these call it. */
#include "harness/cpu/peaks.h"

#include "cpu.h"
#include "harness/base/rng.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 1024, PRODUCTS = 2 }; /* OpenBLAS has those of f32 and f64, the first two types */

static cnn_status open_gemm(cnn_dtype dtype, cnn_peak *peak, cnn_error *err)
{
    const int64_t count = 3 * (int64_t)SIDE * SIDE;
    cnn_rng rng = rng_stream(1, 0);
    memset(peak, 0, sizeof *peak);
    snprintf(peak->what, sizeof peak->what, "gemm");
    snprintf(peak->variant, sizeof peak->variant, "openblas");
    peak->unit = CNN_PEAK_FLOPS;
    peak->dtype = dtype;
    peak->amount = 2.0 * SIDE * SIDE * SIDE;
    peak->state = aligned_alloc(CNN_ALIGN, (size_t)count * cnn_dtype_size(dtype));
    if (!peak->state) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a product of %d x %d", SIDE, SIDE);
    for (int64_t i = 0; i < count; i++) {
        const double value = rng_real(&rng, -1, 1);
        if (dtype == CNN_F32)
            ((float *)peak->state)[i] = (float)value;
        else
            ((double *)peak->state)[i] = value;
    }
    return CNN_OK;
}

static cnn_status peaks_open(cnn_context *context, int index, cnn_peak *peak, cnn_error *err)
{
    if (index >= CPU_PEAK_COUNT && index < CPU_PEAK_COUNT + PRODUCTS)
        return open_gemm((cnn_dtype)(index - CPU_PEAK_COUNT), peak, err);
    return cpu_peak_open(((cpu_context *)context)->pool, index, peak, err);
}

static bool is_gemm(const cnn_peak *peak) { return strcmp(peak->what, "gemm") == 0; }

static cnn_status peaks_run(cnn_context *context, const cnn_peak *peak, cnn_error *err)
{
    const int64_t matrix = (int64_t)SIDE * SIDE;
    (void)err;
    if (!is_gemm(peak)) {
        cpu_peak_run(peak);
        return CNN_OK;
    }
    const gemm_matrix a = {peak->state, SIDE, false}, b = {cpu_at(peak->dtype, peak->state, matrix), SIDE, false};
    cpu_gemm_parallel(((cpu_context *)context)->pool, peak->dtype, SIDE, SIDE, SIDE, a, b, 0,
                      cpu_at(peak->dtype, peak->state, 2 * matrix), SIDE);
    return CNN_OK;
}

static void peaks_close(cnn_context *context, cnn_peak *peak)
{
    (void)context;
    if (!is_gemm(peak)) {
        cpu_peak_close(peak);
        return;
    }
    free(peak->state);
    peak->state = NULL;
}

const cnn_peaks cpu_peaks = {
    .count = CPU_PEAK_COUNT + PRODUCTS, .open = peaks_open, .run = peaks_run, .close = peaks_close};
