/* naive.h: what the files of impl_cuda_naive share: direct convolution, a ladder of kernel versions.
 *
 * Each version of each direction is one file. An algorithm is a version, a row of kernels.inc: v2 means version 2 of
 * the direction's kernel, or the latest one before it where the direction has fewer. All kernels read both layouts
 * through strides, and types through a template; those of version 2 and before take f16 and bf16, too
 * (harness/cuda/real.h). */
#ifndef IMPL_CUDA_NAIVE_NAIVE_H
#define IMPL_CUDA_NAIVE_NAIVE_H

#include "harness/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Behind the shared knobs: NAIVE_KNOB_V1_BLOCK_X == CUDA_KNOB_COUNT. */
typedef enum naive_knob_id {
    NAIVE_KNOB_BEFORE = CUDA_KNOB_COUNT - 1,
#define KNOB(id, ...) NAIVE_KNOB_##id,
#define STEPS KNOB
#include "knobs.inc"
#undef KNOB
#undef STEPS
    NAIVE_KNOB_COUNT
} naive_knob_id;

/* A kernel's launch for a problem: what `fit` finds out once, and plan->state. */
typedef struct naive_launch {
    const char *kernel;
    int64_t grid[3], block[3], shared_bytes;
    int64_t cluster; /* blocks of a cluster: cluster.h */
    size_t workspace_bytes;
    bool lines;              /* it has a cuda_line_epilogue, so a pass may follow */
    unsigned char args[256]; /* the kernel's own: naive_put_args() */
} naive_launch;

typedef struct naive_kernel {
    const char *name; /* of the kernel, for errors and laps */
    /* Its part of the gate: CNN_UNSUPPORTED and why, where problem and knobs do not fit it; else the launch, which has
     * its name and is otherwise zero, with a grid, a block and a cluster of 1. Whether the device allows it naive.c
     * asks. */
    cnn_status (*fit)(const cuda_context *, const cnn_request *, naive_launch *, cnn_error *);
    cnn_status (*run)(cuda_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);
} naive_kernel;
#define KERNELS(name, doc, op, flags, half, fwd, bwd_d, bwd_w)                                                         \
    extern const naive_kernel naive_##fwd, naive_##bwd_d, naive_##bwd_w;
#include "kernels.inc"
#undef KERNELS

#ifdef __cplusplus
}
#endif
#endif
