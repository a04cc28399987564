/* shallow.h: what the files of cpu:shallow share: convolutions of few input channels, such as a network's first.
 *
 *   FWD    y   [oc x pixels] = w       [oc x rows]     * columns [rows x pixels]
 *   BWD_W  dw' [rows x oc]   = columns [rows x pixels] * dy'     [pixels x oc]
 *
 * Rows of columns are taps times channels, in the order of the weights. In NHWC, FWD is turned: rows are pixels.
 *
 * The idea: a task copies the rows of the image that it reads, once, with zeros around them, and a row of stride s as s
 * rows ("phases") of every s-th pixel. So whatever the stride and the padding, a row of columns is one copy for each
 * row of outputs, and a block of columns, some rows of outputs, stays in the second-level cache for all channels of
 * the output. Products are those of cpu:matrix.
 *
 *   plan.c        what is taken, how it is cut into tasks, where things lie in the workspace
 *   rows.c, .inc  the copy of the image, columns, and the weights' gradient on its way to dw
 *   blocks.c      the products of a block of columns
 *   conv.c        the tasks */
#ifndef IMPL_CPU_SHALLOW_SHALLOW_H
#define IMPL_CPU_SHALLOW_SHALLOW_H

#include "impl_cpu/matrix/matrix.h"

typedef struct sh_plan {
    const mx_kernels *kernels;
    cnn_conv_desc d;
    cnn_dir dir;
    int64_t elem, icg, ocg, panels; /* bytes; channels of a group; of two vectors of its outputs */
    int64_t rows;                   /* of columns */
    int64_t height, length, start;  /* of a copied channel; of a phase; the image's first column in a padded row */
    int64_t band, bands;            /* rows of outputs of a task, at most; tasks of an image */
    int64_t block_rows, block_cols; /* outputs of a block of columns, at most */
    int64_t pitch;                  /* from one row of columns to the next */
    int64_t store_panels;           /* FWD, NCHW: of pixels, whose results are stored together */
    int64_t parts;                  /* BWD_W: sums of their own */
    int64_t w_at, sums_at, worker_at, worker; /* the workspace, in bytes; then a piece for each worker: */
    int64_t columns_at, dy_at, to_at;         /* behind the copied rows */
    int64_t tap[];                            /* for each row of columns, where in the copy its first pixel is */
} sh_plan;

cpu_plan_fn sh_plan_make;

/* Of an image n and a group: rows [r0, r1) of outputs, columns [q0, q1). */
typedef struct sh_block {
    int64_t n, group, band0, r0, r1, q0, q1;
} sh_block;

/* rows.c. Of a group's channels the padded rows that a band from output row `band0` on reads:
 * copy[channel][row][phase][length]. */
void sh_copy(const sh_plan *, const void *x, const sh_block *, void *copy);
/* columns[row][pixel] of a block within the band; zeros behind its pixels, up to two vectors. */
void sh_columns(const sh_plan *, const void *copy, const sh_block *, void *columns);
/* dw (+)= sums[row][two vectors of channels], of panel number `panel` of all groups. */
void sh_turn(const sh_plan *, const void *sums, int64_t panel, void *dw, bool add);

#endif
