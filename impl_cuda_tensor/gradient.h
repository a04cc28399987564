/* gradient.h: how a block of gradient.cu divides its shared memory and its sums, which plan.c and sum.cu must know,
 * too. */
#ifndef IMPL_CUDA_TENSOR_GRADIENT_H
#define IMPL_CUDA_TENSOR_GRADIENT_H

#include "impl_cuda_tensor/tensor.h"

enum {
    GRADIENT_SLOTS = 9,         /* taps (or 64s of input channels) that a block sums for: three a warpgroup */
    GRADIENT_SIDE = 64,         /* input channels, and output channels, of a slot */
    GRADIENT_ROWS = 512,        /* most rows of a patch, of 64 channels */
    GRADIENT_CHUNK_BYTES = 512, /* most pixels that are loaded together, of one channel */
    GRADIENT_STEPS = 6,         /* most tiles of dy under way */
    GRADIENT_STEPS_LEAST = 5,
    GRADIENT_PATCHES = 3,   /* most patches under way */
    GRADIENT_LAG = 3,       /* tiles of dy that are loaded before the first of them is handed on */
    GRADIENT_THREADS = 512, /* three warpgroups that multiply, two warps that load dy, two that load x */
    CLUSTER_MOST = 8,
    GRADIENT_F32_ROW = GRADIENT_SIDE * 4 + 32, /* bytes from one row of a patch to the next one */
    GRADIENT_SEGMENT = GRADIENT_SLOTS * GRADIENT_SIDE * GRADIENT_SIDE /* numbers of a block's sums */
};

/* From its first 1024: tiles of dy, patches, the table of a patch's pixels, those of the pixels' rows, barriers.
 * `bytes`: of a number. */
static inline int32_t gradient_step_bytes(int32_t parts) { return GRADIENT_SIDE * 128 * parts; }
static inline int32_t gradient_row_bytes(int32_t bytes)
{
    return bytes == 4 ? (int32_t)GRADIENT_F32_ROW : GRADIENT_SIDE * bytes;
}
static inline int32_t gradient_fixed_bytes(int32_t bytes)
{
    return 1024 + GRADIENT_ROWS * 4 + GRADIENT_PATCHES * (GRADIENT_CHUNK_BYTES / bytes) * 4 +
           2 * (GRADIENT_STEPS + GRADIENT_PATCHES) * 8;
}

#endif
