/* forward.h: how a block of forward.cu divides its shared memory, which plan.c must know to count it. */
#ifndef IMPL_CUDA_TENSOR_FORWARD_H
#define IMPL_CUDA_TENSOR_FORWARD_H

#include "impl_cuda_tensor/tensor.h"

enum {
    FORWARD_STEPS = 4,       /* tiles of weights under way */
    FORWARD_PATCHES = 8,     /* most patches under way */
    FORWARD_LOADERS = 96,    /* threads that load patches; 32 more load weights */
    FORWARD_KEEP_TALL = 128, /* of forward_keep.h: a warpgroup's pixels, and channels at a time */
    FORWARD_KEEP_WIDE = 64,
    FORWARD_KEEP_WARPGROUPS = 2,
    FORWARD_KEEP_TILES = 16 /* most tiles of weights that stay */
};

/* From its first 1024: tiles of weights, patches, the table of a patch's pixels, barriers. */
static inline int32_t forward_step_bytes(int32_t wide, int32_t parts) { return wide * 128 * parts; }
static inline int32_t forward_fixed_bytes(int32_t wide, int32_t parts, int32_t table)
{
    return 1024 + FORWARD_STEPS * forward_step_bytes(wide, parts) + table + 2 * (FORWARD_STEPS + FORWARD_PATCHES) * 8;
}
/* forward_keep.h's, beside tiles of weights and boxes: their barriers. */
static inline int32_t forward_keep_fixed_bytes(void)
{
    return 1024 + (FORWARD_KEEP_TILES + 2 * FORWARD_KEEP_WARPGROUPS * FORWARD_PATCHES) * 8;
}

#endif
