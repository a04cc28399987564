/* columns.h: bundles into columns, and back; the small sums around the products. */
#ifndef IMPL_CPU_IM2COL_COLUMNS_H
#define IMPL_CPU_IM2COL_COLUMNS_H

#include "plan.h"

/* Columns of a block from its packed bundle (x points at the bundle's channel 0), and the reverse: adds columns to dx,
 * which points at channel b->channel. */
void im2col_gather(const im2col_plan *m, const im2col_block *b, const void *x, void *columns);
void im2col_scatter(const im2col_plan *m, const im2col_block *b, const void *columns, void *dx);

/* y[row][0..width) = b[row], or += with `add`; ld elements from row to row. */
void im2col_fill_bias(cnn_dtype dtype, const void *b, int64_t rows, int64_t width, void *y, int64_t ld, bool add);
/* sums[row] = the sum of dy[row][0..width), or += with `add`. */
void im2col_row_sums(cnn_dtype dtype, const void *dy, int64_t ld, int64_t rows, int64_t width, void *sums, bool add);
/* out[i] = partial[0][i] + partial[1][i] + ... (`parts` of them, `stride` apart), or += with `add`. */
void im2col_reduce(cnn_dtype dtype, const void *partial, int64_t parts, int64_t stride, int64_t count, void *out,
                   bool add);

#endif
