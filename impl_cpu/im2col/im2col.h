/* im2col.h: what the im2col files share: how a problem is cut, its workspace, and how data are moved.
 *
 * Images are packed in bundles of up to `lanes`: the same pixel of the bundle's images stands side by side,
 * [channel][pixel][lane]. So one column is a vector of images: building columns moves whole vectors whatever the stride
 * or the dilation, and a product stays wide enough for OpenBLAS where an image has only 4 x 4 outputs. A single lane
 * of NCHW is the tensor as it stands and is not packed. Where the stride is more than 1, a packed row of the input
 * holds its pixels by their column modulo the stride, so that what one tap reads or adds to stands side by side: one
 * copy for a row of columns, of any stride and dilation.
 *
 * A block of columns is [row][pixel][lane], its rows (channel, kernel depth, row, column) in the order of the weights,
 * over a range of output pixels that fits the knob im2col.block_kib. With w as [oc/g][row], for each group:
 *   FWD    y block = w * columns          BWD_D  columns = w' * dy block, then added to dx (col2im)
 *   BWD_W  dw += dy block * columns'
 */
#ifndef IMPL_CPU_IM2COL_IM2COL_H
#define IMPL_CPU_IM2COL_IM2COL_H

#include "harness/cnn/shape.h"
#include "impl_cpu/cpu.h"

enum { IM2COL_MAX_LANES = 16 };

/* How one direction of one problem is cut: by the problem and the knob alone, never by the threads. */
typedef struct im2col_plan {
    cnn_conv_desc d;
    cnn_dtype dtype;
    cpu_isa isa;
    int64_t elem; /* bytes */
    int64_t group_ic, group_oc, taps, in_pixels, out_pixels;
    int64_t lanes, bundles;
    bool pack;                    /* bundles are copies; else they are the tensors themselves */
    bool split;                   /* packed rows of the input are ordered by column modulo sw */
    bool pointwise;               /* 1x1, stride 1, no padding: a channel's pixels are its row of columns */
    int64_t chunk, chunks;        /* input channels of a group that one task takes, and how many such chunks */
    int64_t piece;                /* rows of columns in one product */
    int64_t block_pixels, blocks; /* output pixels of one block of columns, and how many blocks in an image */
    int64_t parts;                /* BWD_W: partial sums over (bundle, block) */
    int64_t tasks;
    /* Workspace, in bytes from its start; scratch is per worker. */
    int64_t x_start, y_start, partial_start, scratch_start, scratch_stride, bytes;
    int64_t result_at; /* within a worker's scratch, behind the columns */
} im2col_plan;

cpu_plan_fn im2col_plan_make; /* plan.c */

/* Output pixels [first, last) of `lanes` images from number `image` on, and input channels [channel, channel + count)
 * counted over all groups. */
typedef struct im2col_block {
    int64_t image, lanes, first, last, channel, count;
} im2col_block;

/* The images of bundle b: fills image and lanes. */
static inline void im2col_bundle(const im2col_plan *m, int64_t b, im2col_block *block)
{
    block->image = b * m->lanes;
    block->lanes = cpu_min(m->lanes, m->d.mb - block->image);
}

static inline void im2col_pixels(const im2col_plan *m, int64_t index, im2col_block *block)
{
    block->first = index * m->block_pixels;
    block->last = cpu_min(block->first + m->block_pixels, m->out_pixels);
}

static inline int64_t im2col_width(const im2col_block *b) { return (b->last - b->first) * b->lanes; }

/* Where a row's pixel `col` stands in a split row of the input. */
static inline int64_t im2col_place(const cnn_conv_desc *d, int64_t col)
{
    const int64_t phase = col % d->sw;
    return phase * (d->iw / d->sw) + cpu_min(phase, d->iw % d->sw) + col / d->sw;
}

/* columns.c: columns of a block from its packed bundle (x points at the bundle's channel 0), and the reverse: adds
 * columns to dx, which points at channel b->channel. */
void im2col_gather(const im2col_plan *m, const im2col_block *b, const void *x, void *columns);
void im2col_scatter(const im2col_plan *m, const im2col_block *b, const void *columns, void *dx);

/* pack.c: packs whole tensors of `channels` x `pixels` into bundles, in parallel; `split`: it is the input of a split
 * plan. One without a `to` is left alone. */
typedef struct im2col_tensor {
    const im2col_plan *plan;
    const void *from;
    void *to;
    int64_t channels, pixels;
    bool split;
} im2col_tensor;
void im2col_pack(thread_pool *pool, im2col_tensor tensor, im2col_tensor also);

/* Copies a packed block [channel][pixel][lane] of channels [c0, c0 + count), pixels [first, last), to where it belongs
 * in an NCHW or NHWC tensor of `channels` x `pixels`; adds it there if `add`. A `split` block is whole images. */
typedef struct im2col_target {
    void *to;
    int64_t channels, pixels, c0, count;
    bool add, split;
} im2col_target;
void im2col_unpack(const im2col_plan *m, const im2col_block *b, const void *from, im2col_target target);

#endif
