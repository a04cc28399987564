/* block.h: a piece of a 4-D tensor in which a channel, or up to CPU_LANES of them, can be walked in either layout.
 *
 * A block is `runs` runs of `width` neighbouring elements. In NCHW it is one channel: a run is a plane of an image, and
 * all lanes belong to that channel. In NHWC it is up to CPU_LANES channels: a run is those channels of a pixel, lane l
 * being the block's channel l. So one loop over lanes serves both; only at the end do NCHW's lanes have to be added. */
#ifndef IMPL_CPU_BLOCK_H
#define IMPL_CPU_BLOCK_H

#include "ops.h"

typedef struct cpu_block {
    int64_t offset, runs, stride, width;
    int64_t channel; /* the first one */
    int lanes;       /* channels in it: 1 in NCHW */
} cpu_block;

/* How many blocks the channels make. */
static inline int64_t cpu_block_count(cnn_layout layout, int64_t ic)
{
    return layout == CNN_NCHW ? ic : (ic + CPU_LANES - 1) / CPU_LANES;
}

/* Block `b` of `images` images from image `n` on. */
CPU_INLINE cpu_block cpu_block_at(cnn_layout layout, int64_t ic, int64_t pixels, int64_t n, int64_t images, int64_t b)
{
    const int64_t image = n * ic * pixels;
    if (layout == CNN_NCHW)
        return (cpu_block){.offset = image + b * pixels,
                           .runs = images,
                           .stride = ic * pixels,
                           .width = pixels,
                           .channel = b,
                           .lanes = 1};
    const int64_t first = b * CPU_LANES, left = ic - first;
    const int lanes = left < CPU_LANES ? (int)left : CPU_LANES;
    return (cpu_block){.offset = image + first,
                       .runs = images * pixels,
                       .stride = ic,
                       .width = lanes,
                       .channel = first,
                       .lanes = lanes};
}

/* Every element of block `b`: `expression` of its position i in memory and its lane l. Whole vectors have a loop of
 * constant length, which the compiler turns into one. */
#define CPU_EACH_IN_BLOCK(b, expression)                                                                               \
    for (int64_t run_ = 0; run_ < (b)->runs; run_++) {                                                                 \
        const int64_t first_ = (b)->offset + run_ * (b)->stride, last_ = first_ + (b)->width;                          \
        int64_t at_ = first_;                                                                                          \
        for (; at_ + CPU_LANES <= last_; at_ += CPU_LANES) {                                                           \
            CPU_INDEPENDENT                                                                                            \
            for (int l = 0; l < CPU_LANES; l++) {                                                                      \
                const int64_t i = at_ + l;                                                                             \
                expression;                                                                                            \
            }                                                                                                          \
        }                                                                                                              \
        for (int l = 0; at_ + l < last_; l++) {                                                                        \
            const int64_t i = at_ + l;                                                                                 \
            expression;                                                                                                \
        }                                                                                                              \
    }

/* Sums by lane become sums by channel: where the block is one channel, every lane gets the total, added in order. */
CPU_INLINE void cpu_block_combine(const cpu_block *b, double lanes[CPU_LANES])
{
    if (b->lanes != 1) return;
    double total = 0;
    for (int l = 0; l < CPU_LANES; l++) total += lanes[l];
    for (int l = 0; l < CPU_LANES; l++) lanes[l] = total;
}

/* The channel of lane l; lanes without one get the block's first, so that what is computed in them is harmless. */
CPU_INLINE int64_t cpu_block_channel(const cpu_block *b, int l) { return b->channel + (l < b->lanes ? l : 0); }

#endif
