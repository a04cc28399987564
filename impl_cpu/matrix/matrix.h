/* matrix.h: what the files of cpu:matrix share: convolutions with 1x1 kernels, each a product of matrices.
 *
 *   FWD    y  [oc x pixels] = w   [oc x ic] * x  [ic x pixels]
 *   BWD_D  dx [ic x pixels] = w^T [ic x oc] * dy [oc x pixels]
 *   BWD_W  dw [oc x ic]     = dy  [oc x pixels] * x^T [pixels x ic]
 *
 * In NHWC the first two are turned: rows are pixels. Pixels are those of the whole batch; with a stride, those that the
 * kernel reads.
 *
 * The idea (Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008): K is cut into blocks; a
 * block's panel of B, two vectors of columns, is packed and stays in the first-level cache while all rows of A go by. A
 * is read in place where its rows lie along K, as weights do in FWD, and packed elsewhere. Each block's sums start at
 * zero and are added to those before: short chains of roundings.
 *
 *   plan.c       what is taken, how it is cut into tasks, where things lie in the workspace
 *   conv.c       the tasks
 *   operands.c   the matrices, as they lie in memory
 *   share.c      what several tasks read, packed once
 *   epilogue.c   results to y, with an epilogue
 *   kernels.inc  pack, store.inc's store, and the product of product.h, for each instruction set
 *                ({base,avx2,avx512}.c) */
#ifndef IMPL_CPU_MATRIX_MATRIX_H
#define IMPL_CPU_MATRIX_MATRIX_H

#include "impl_cpu/product.h"

/* One axis of a matrix in memory: element i stands at[i] elements from the first, or i * step where at is NULL. */
typedef struct mx_axis {
    const int64_t *at;
    int64_t step;
} mx_axis;

/* Panels of `width` lanes (rows of a product, or two vectors), `panel` elements apart: to[k * width + l] = from[lane l,
 * k], k < count; of the last panel 0 for lanes that there are none of. */
typedef struct mx_pack {
    const void *from;
    mx_axis lane, k;
    int64_t lanes, width, count, panel;
    void *to;
} mx_pack;

/* to[row r, column c] (+)= sums[c / (2 lanes) * panel + r * 2 lanes + c % (2 lanes)] + bias: of each row, or column, or
 * NULL; and then finished, NULL: as they are. */
typedef struct mx_store {
    const void *sums, *row_bias, *col_bias;
    int64_t rows, cols, panel;
    void *to;
    mx_axis row, col;
    bool add;
    const cpu_finish *finish; /* z from `to` on */
} mx_store;

typedef struct mx_kernels {
    int lanes, rows; /* rows of a product in registers */
    void (*product)(const cpu_product *);
    void (*pack)(const mx_pack *);
    void (*store)(const mx_store *);
    /* to[i] (+)= the sum over parts, `stride` apart, of sums[i]. */
    void (*reduce)(const void *sums, int64_t parts, int64_t stride, int64_t count, void *to, bool add);
} mx_kernels;

extern const mx_kernels mx_base[CNN_DTYPE_COUNT], mx_avx2[CNN_DTYPE_COUNT], mx_avx512[CNN_DTYPE_COUNT];

const mx_kernels *mx_kernels_for(const cpu_context *, cnn_dtype);
/* epilogue.c: the store, with what an epilogue does to its results. */
void mx_put(const mx_kernels *, mx_store *, const cpu_epilogue *);

/* Terms of a sum in one block of K; panels of B that are packed together. */
enum { MX_BLOCK = 256, MX_PANELS = 4 };

/* A tensor: where pixel p of those that the kernel reads stands, and how far apart a pixel's channels are. */
typedef struct mx_tensor {
    int64_t image, row, pixel, channel;
} mx_tensor;

/* An axis of C[m x n] = sum over k of A[m x k] B[k x n], cut into parts of whole units. */
typedef struct mx_cut {
    int64_t count, unit, parts;
} mx_cut;
static inline int64_t mx_first(mx_cut cut, int64_t part)
{
    return cpu_min(cut.count, cpu_ceil_div(cut.count, cut.unit) * part / cut.parts * cut.unit);
}
static inline int64_t mx_most(mx_cut cut)
{
    return cpu_min(cut.count, cpu_ceil_div(cpu_ceil_div(cut.count, cut.unit), cut.parts) * cut.unit);
}

typedef struct mx_plan {
    const mx_kernels *kernels;
    cnn_conv_desc d;
    cnn_dir dir;
    int64_t elem;
    mx_tensor x, y;
    mx_cut m, n, k; /* of a group's product; units are rows and columns of a product in registers, and MX_BLOCK */
    bool share_a, share_b; /* packed once, before all tasks, so many panels at a time */
    int64_t share_panels;
    /* The workspace, in bytes: what is shared; BWD_W's sums of each part of K; then a piece for each worker: a block of
     * A, a panel of B, sums [panel][row][2 lanes], two lists of places. */
    int64_t shared_a_at, shared_b_at, sums_at, worker_at, worker, b_at, c_at, lists_at, list;
} mx_plan;

cpu_plan_fn mx_plan_make;

#endif
