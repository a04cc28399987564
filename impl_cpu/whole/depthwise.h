/* depthwise.h: groups of one channel in and one out, on integers: between depthwise.c, depthwise_x.c and the kernels.
 *
 * Nothing is shared between channels there, so lanes are channels, and a lane of 32 bits holds as many taps as one
 * instruction multiplies and adds: two of 16 bits, or four bytes. They are taps of one column of the kernel: so the
 * pixels that they meet, a *stack* of as many rows of x, are put together once for all columns. */
#ifndef IMPL_CPU_WHOLE_DEPTHWISE_H
#define IMPL_CPU_WHOLE_DEPTHWISE_H

#include "pairs.h"

/* Rows of a stack, pixels of a tile, and pixels of a band at most: whole tiles, for which results.c has room. */
enum { STACK_MOST = 4, STACK_PIXELS = 4, STACK_BAND = PAIRS_TILES * PAIRS_PIXELS };

/* A block of channels of `pixels` pixels in each row of a stack, `step` bytes apart, each bit of `change` turned:
 * to[pixel][channel], of 32 bits. */
typedef struct stack_rows {
    const uint8_t *from[STACK_MOST];
    int64_t step[STACK_MOST];
    int64_t pixels;
    uint8_t change;
    void *to;
} stack_rows;

/* The sums of up to STACK_BAND pixels, to sums[pixel][channel]; some behind the last are written as well. x[r]: where
 * pixel r's first tap reads; the next stack, and the next column, are so many bytes on. w: for each stack and column a
 * block of lanes. start: what the sums begin with. */
typedef struct stack_tile {
    const uint8_t *const *x; /* [pixels], whole tiles */
    const uint8_t *w;
    const int32_t *start;
    int64_t pixels, stacks, kw, down, right;
} stack_tile;

typedef struct depthwise_kernel {
    int rows;                /* of a stack */
    const pairs_kernel *put; /* as many channels as a block has */
    void (*stack)(const stack_rows *);
    void (*product)(const stack_tile *, int32_t *sums);
} depthwise_kernel;

extern const depthwise_kernel depthwise_base, depthwise_avx2, depthwise_avx512, depthwise_vnni;

/* Items of work are (image, strip of rows of y, block of channels), strips last in NCHW. A strip's bands are a few rows
 * each, or a part of one. */
typedef struct depthwise_job {
    cnn_conv_desc d;
    const cnn_weighted_args *a;
    const depthwise_kernel *kernel;
    pairs_kernel put;
    whole_quantizer q;
    int64_t channels, blocks;                /* of a block; of these */
    int64_t stacks, panel;                   /* of the kernel's rows; the bytes of a block's weights and starts */
    int64_t rows, cols, width;               /* of a band: of its results; columns of its stacks */
    int64_t strip, strips;                   /* rows of y; of these */
    int64_t copied, copy_bytes, stack_bytes; /* of a worker: rows of x; their bytes, and those of a band's stacks */
    int zero;                                /* what stands for 0 in x, once it is u8 */
    uint8_t outside[PAIRS_CHANNELS_MOST];    /* a pixel of the padding, as x has it */
    uint8_t *w, *copy, *stack;
} depthwise_job;

static inline bool depthwise_signed(const cnn_conv_desc *d)
{
    return cnn_part_dtype(d->t.dtype, CNN_PART_FACTOR) == CNN_S8;
}

/* depthwise.c: for a problem that pairs.c's gate has let through. */
static inline bool is_depthwise(const cnn_problem *problem)
{
    const cnn_conv_desc *d = &problem->u.conv;
    return problem->op != CNN_OP_FC && d->ic == d->g && d->oc == d->g;
}
cnn_status depthwise_plan(const cpu_context *, const cnn_request *, size_t *bytes, cnn_error *);
void depthwise_run(const cpu_context *, const cnn_plan *, const cnn_weighted_args *);

/* depthwise_x.c: where a block of channels of the rows of x lies that a strip reads, in x or in a copy: row h,
 * column v begins at from + (h - first) * row + v * pixel. */
typedef struct depthwise_rows {
    const uint8_t *from;
    int64_t first, row, pixel;
} depthwise_rows;
depthwise_rows depthwise_find(const depthwise_job *, int64_t n, int64_t block, int64_t p, int64_t rows, int worker);
/* The stacks of a band whose results begin in row p and column q: to[row][stack][width][channels]. */
void depthwise_stack(const depthwise_job *, const depthwise_rows *, int64_t p, int64_t q, int64_t rows, uint8_t *to);

#endif
