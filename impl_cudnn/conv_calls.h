/* conv_calls.h: cuDNN's legacy calls on a convolution, one function for the three directions: how much
 * workspace an algorithm wants, what the heuristics rank first, what is fastest when measured, and the run. */
#ifndef IMPL_CUDNN_CONV_CALLS_H
#define IMPL_CUDNN_CONV_CALLS_H

#include "impl_cudnn/conv_open.h"

/* What the query and the measurement say of one algorithm, whatever the direction. */
typedef struct conv_perf {
    int algo;
    cudnnStatus_t status;
    double seconds;
    cudnnMathType_t math;
} conv_perf;
enum { CONV_PERFS_MAX = 32 };

/* Operands in the order of cuDNN's calls, the turned weights already in place. */
typedef struct conv_buffers {
    const void *x, *w, *dy;
    void *y, *dx, *dw;
    void *workspace;
    size_t workspace_bytes;
} conv_buffers;

cnn_status conv_call_workspace(cudnn_context *, const conv_state *, int algo, size_t *bytes, cnn_error *);
cnn_status conv_call_heuristics(cudnn_context *, const conv_state *, conv_perf list[CONV_PERFS_MAX], int *count,
                                cnn_error *);
cnn_status conv_call_find(cudnn_context *, const conv_state *, const conv_buffers *, conv_perf list[CONV_PERFS_MAX],
                          int *count, cnn_error *);
cnn_status conv_call_run(cudnn_context *, const conv_state *, const conv_buffers *, double beta, cnn_error *);

#endif
