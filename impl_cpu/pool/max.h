/* max.h: forward max pooling of neighbouring channels (NHWC), for each instruction set ({base,avx2,avx512}.c, of one
 * text, max.inc). */
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

extern pool_max *const pool_max_base[CNN_DTYPE_COUNT], *const pool_max_avx2[CNN_DTYPE_COUNT],
                                                           *const pool_max_avx512[CNN_DTYPE_COUNT];

#endif
