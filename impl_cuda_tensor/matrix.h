/* matrix.h: how a block of matrix.cu divides its shared memory, and the boxes that are copied there. */
#ifndef IMPL_CUDA_TENSOR_MATRIX_H
#define IMPL_CUDA_TENSOR_MATRIX_H

#include "impl_cuda_tensor/tensor.h"

enum {
    MATRIX_SIDE = 64,         /* of a box, in numbers */
    MATRIX_BOX = 64 * 128,    /* bytes */
    MATRIX_STEPS = 8,         /* most steps under way */
    MATRIX_MULTIPLIERS = 256, /* threads: two warpgroups that multiply; a warp more loads */
    MATRIX_THREADS = MATRIX_MULTIPLIERS + 32
};

/* From its first 1024: steps' boxes, of A then of B, then barriers. */
static inline int32_t matrix_step_bytes(const cutensor_matrix *g)
{
    return (g->high + g->wide) / MATRIX_SIDE * MATRIX_BOX;
}
static inline int32_t matrix_shared_bytes(const cutensor_matrix *g)
{
    return 1024 + g->depth * matrix_step_bytes(g) + 2 * MATRIX_STEPS * 8;
}

#endif
