/* gradient_boxes.h: how a block of gradient_boxes.cu divides its shared memory. */
#ifndef IMPL_CUDA_TENSOR_GRADIENT_BOXES_H
#define IMPL_CUDA_TENSOR_GRADIENT_BOXES_H

#include "impl_cuda_tensor/tensor.h"

enum {
    PRODUCT_STEPS = 6,                                        /* most steps under way */
    PRODUCT_TILES = 3,                                        /* of B, in parts: two in use, and one being laid out */
    PRODUCT_MULTIPLIERS = 256,                                /* threads: two warpgroups that multiply */
    PRODUCT_SPLITTERS = 128,                                  /* a warpgroup that makes tiles of B */
    PRODUCT_LOADER = PRODUCT_MULTIPLIERS + PRODUCT_SPLITTERS, /* the first thread of a warpgroup that names boxes */
    PRODUCT_THREADS = PRODUCT_LOADER + 128,
    PRODUCT_LOADERS = 4 /* warps, most */
};

/* From its first 1024: steps' boxes, of A then of B, tiles of B, barriers, a sum of each splitter. */
static inline int32_t product_step_bytes(int32_t high, int32_t wide) { return (high + wide) * CUTENSOR_ROW_BYTES; }
static inline int32_t product_fixed_bytes(int32_t wide, int32_t parts)
{
    return 1024 + PRODUCT_TILES * wide * CUTENSOR_ROW_BYTES * parts + 2 * (PRODUCT_STEPS + PRODUCT_TILES) * 8 +
           PRODUCT_SPLITTERS * 4;
}

#endif
