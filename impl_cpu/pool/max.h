/* max.h: max pooling of neighbouring channels (NHWC), for each instruction set ({base,avx2,avx512}.c, of one text,
 * max.inc). */
#ifndef IMPL_CPU_POOL_MAX_H
#define IMPL_CPU_POOL_MAX_H

#include "harness/cnn/base.h"

#include <stdbool.h>

/* One output pixel: its channels, and its taps inside the image: how many, and elements from one to the next. */
typedef struct pool_pixel {
    int64_t channels;
    int64_t slices, rows, cols;
    int64_t slice_step, row_step, col_step;
} pool_pixel;

/* y[c] = the largest x[c] of all taps; of equals the first in row-major order. x: the first tap. False where a number
 * is infinite or not one: y is undefined then. */
typedef bool pool_max(const pool_pixel *, const void *x, void *y);

/* dx[c] of the tap with the first maximum += dy[c]. A NaN is a maximum; of several the first. dx: the first tap. */
typedef void pool_max_back(const pool_pixel *, const void *x, const void *dy, void *dx);

typedef struct pool_kernels {
    pool_max *forward;
    pool_max_back *back;
} pool_kernels;

extern const pool_kernels pool_base[CNN_DTYPE_COUNT], pool_avx2[CNN_DTYPE_COUNT], pool_avx512[CNN_DTYPE_COUNT];

#endif
