/* naive.h: what the files of impl_cuda_naive share: direct convolution, a ladder of kernel versions.
 *
 * Each version of each direction is one file, and one line in the table of conv.c. An algorithm is a version: v2 means
 * version 2 of the direction's kernel, or the latest one before it where the direction has fewer. All kernels read both
 * layouts through strides, f32 and f64 through a template. */
#ifndef IMPL_CUDA_NAIVE_NAIVE_H
#define IMPL_CUDA_NAIVE_NAIVE_H

#include "harness/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Behind the shared knobs: NAIVE_KNOB_V1_BLOCK_X == CUDA_KNOB_COUNT. */
typedef enum naive_knob_id {
    NAIVE_KNOB_BEFORE = CUDA_KNOB_COUNT - 1,
#define KNOB(id, name, doc, min, max, def) NAIVE_KNOB_##id,
#define STEPS(id, name, doc, min, max, def, ...) NAIVE_KNOB_##id,
#include "knobs.inc"
#undef KNOB
#undef STEPS
    NAIVE_KNOB_COUNT
} naive_knob_id;

/* cnn_algorithm.id of the rows of the table in naive.c; V1 to V4 are the convolution's. */
enum { NAIVE_V1 = 1, NAIVE_V2, NAIVE_V3, NAIVE_V4, NAIVE_FC_NAIVE, NAIVE_FC_TILED, NAIVE_DEFAULT };

/* ---- A kernel version. `check` is its part of the gate: CNN_UNSUPPORTED and why, where problem and knobs do not fit
 * it or this device. `workspace` is NULL where none is needed. Both may be NULL. */
typedef struct naive_kernel {
    cnn_status (*run)(cuda_context *, const cnn_conv_desc *, const cnn_weighted_args *, cnn_error *);
    cnn_status (*check)(const cuda_context *, const cnn_conv_desc *, cnn_error *);
    size_t (*workspace)(const cuda_context *, const cnn_conv_desc *);
} naive_kernel;
extern const naive_kernel naive_fwd_v1, naive_fwd_v2, naive_fwd_v3, naive_fwd_v4;
extern const naive_kernel naive_bwd_d_v1, naive_bwd_d_v2, naive_bwd_d_v3;
extern const naive_kernel naive_bwd_w_v1, naive_bwd_w_v2, naive_bwd_w_v3;

typedef struct naive_fc_kernel {
    cnn_status (*run)(cuda_context *, const cnn_fc_desc *, const cnn_weighted_args *, cnn_error *);
    cnn_status (*check)(const cuda_context *, const cnn_fc_desc *, cnn_error *);
    size_t (*workspace)(const cuda_context *, const cnn_fc_desc *);
} naive_fc_kernel;
extern const naive_fc_kernel naive_fc_naive[CNN_DIR_COUNT], naive_fc_tiled[CNN_DIR_COUNT];

/* ---- conv.c: slots of cnn_impl, each for its three directions: plan->dir; which kernel an algorithm means. */
const naive_kernel *naive_conv_kernel(int64_t version, cnn_dir dir);
const naive_fc_kernel *naive_fc_kernel_of(int64_t id, cnn_dir dir);
cnn_status naive_conv_run(cnn_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);
cnn_status naive_fc_run(cnn_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);

/* ---- supports.c: the gate, and the workspace. */
cnn_status naive_supports(cnn_context *, const cnn_problem *, cnn_dir, const cnn_algorithm *, cnn_error *);
cnn_status naive_workspace(cnn_context *, const cnn_problem *, cnn_dir, const cnn_algorithm *, size_t *bytes,
                           cnn_error *);

#ifdef __cplusplus
}
#endif
#endif
