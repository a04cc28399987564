/* rows.h: pooling rows of outputs, for each instruction set ({base,avx2,avx512}.c, of one text: tiles.inc and
 * pixels.inc have NHWC, lines.inc and lines_back.inc NCHW, global.inc the mean of a plane). */
#ifndef IMPL_CPU_POOL_ROWS_H
#define IMPL_CPU_POOL_ROWS_H

#include "harness/cnn/desc.h"
#include "harness/cnn/shape.h"

#include <stdbool.h>

/* NCHW: the columns that all windows of a row reach over, padding included, are kept beside; rows of more, or of more
 * outputs, are not for these kernels. POOL_SLACK: what whole vectors are more than that. */
enum { POOL_SPAN = 1024, POOL_SLACK = 64 };

/* Rows of outputs, one below the other, of so many neighbouring channels in NHWC, of one in NCHW. */
typedef struct pool_rows {
    const cnn_pool_desc *desc;
    int64_t count, channels;
    int64_t in_step, out_step;              /* elements from one row's taps to the next row's, and outputs */
    int64_t slices, rows;                   /* taps inside the image, the same of all rows */
    int64_t slice_step, row_step, col_step; /* elements from one tap to the next */
    int64_t first_inner, last_inner;        /* outputs of which all columns of taps are inside */
    int64_t readable;                       /* elements of x from the first row's taps on */
    int64_t writable;                       /* elements from the first result on that no other task writes */
    bool padded;                            /* a mean counts the padding */
    double divisor;                         /* of a mean: padded, all taps; else slices * rows, times columns inside */
    /* NCHW, for each output, and 1 up to a vector's end: columns inside, as REAL, for a mean; the first one, as an
     * integer of REAL's size, for the maximum's gradient. */
    const void *columns;
} pool_rows;

/* Forward: y of the rows. x is column 0 of the first row of taps inside. It says how many rows are done, all of them
 * but for where a maximum's row reads an infinity or a NaN: what it has written there is undefined.
 * Backward: dx += the rows' shares; dx lies like x. The first of equal maxima has the gradient; a NaN is one. */
typedef int64_t pool_rows_run(const pool_rows *, const void *x, const void *dy, void *out);

/* Means of whole planes: NCHW, `channels` planes of `pixels` side by side; NHWC, so many channels of pixels that are
 * `step` elements apart. Forward from x to y, back from dy to dx. */
typedef void pool_global_run(int64_t channels, int64_t pixels, int64_t step, const void *from, void *to);

typedef struct pool_kernels {
    pool_rows_run *max[CNN_LAYOUT_COUNT][2], *mean[CNN_LAYOUT_COUNT][2]; /* [layout][backward] */
    pool_global_run *global[CNN_LAYOUT_COUNT][2];
    int64_t lanes; /* of a vector */
} pool_kernels;

extern const pool_kernels pool_base[CNN_DTYPE_COUNT], pool_avx2[CNN_DTYPE_COUNT], pool_avx512[CNN_DTYPE_COUNT];

/* [first, last) */
typedef struct pool_span {
    int64_t first, last;
} pool_span;

/* The taps of output `o` of one axis that fall inside. Divisions take longer than a small row of outputs. */
static inline pool_span pool_taps_inside(int64_t o, int64_t i, int64_t k, int64_t s, int64_t p, int64_t d)
{
    const int64_t start = o * s - p;
    pool_span taps = {0, k};
    if (start >= 0 && start + (k - 1) * (d + 1) < i) return taps;
    if (d != 0 || start + k <= 0 || start >= i) {
        cnn_tap_range(o, i, k, s, p, d, &taps.first, &taps.last);
        return taps;
    }
    return (pool_span){start < 0 ? -start : 0, i - start < k ? i - start : k};
}

#endif
