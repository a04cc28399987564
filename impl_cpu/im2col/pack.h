/* pack.h: tensors into bundles of images, and back. */
#ifndef IMPL_CPU_IM2COL_PACK_H
#define IMPL_CPU_IM2COL_PACK_H

#include "plan.h"

/* Packs a whole tensor of `channels` x `pixels` into bundles, in parallel; `split`: it is the input of a split plan. */
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
