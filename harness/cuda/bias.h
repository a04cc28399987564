/* bias.h: adding a bias to a convolution's (or FC's) outputs, and its gradient, for implementations whose library does
 * neither well. Tensors are [mb][channels][pixels], or [mb][pixels][channels] in NHWC; pixels is 1 for FC. */
#ifndef HARNESS_CUDA_BIAS_H
#define HARNESS_CUDA_BIAS_H

#include "harness/cuda/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cuda_bias {
    cnn_type t;
    int64_t mb, channels, pixels;
    int threads, parts; /* the gradient's, in NCHW: of a block, whole warps; most blocks that share a channel */
    const int64_t *knobs;
} cuda_bias;

/* y[n,c,p] += b[c]; of f32 and f64: what was stored in fewer bits is rounded already. */
cnn_status cuda_bias_add(cuda_context *, const cuda_bias *, const void *b, void *y, cnn_error *);
/* db[c] = beta*db[c] + sum over n and p of dy[n,c,p]: thesis eq. 3.10; with beta 0, db is not read. Deterministic.
 * Of f16 and bf16, too, and with db of f32. */
cnn_status cuda_bias_gradient(cuda_context *, const cuda_bias *, const void *dy, void *db, double beta, cnn_error *);

#ifdef __cplusplus
}
#endif
#endif
