/* conv_calls.c: cuDNN's legacy calls on a convolution. They exist three times, once a direction, with their own types;
 * everything else in conv*.c is written once. */
#include "impl_cudnn/conv_calls.h"

cnn_status conv_call_workspace(cudnn_context *c, const conv_state *s, int algo, size_t *bytes, cnn_error *err)
{
    *bytes = 0;
    switch (s->dir) {
    case CNN_FWD:
        CUDNN_TRY(c,
                  cudnnGetConvolutionForwardWorkspaceSize(c->handle, s->x, s->w, s->conv, s->y,
                                                          (cudnnConvolutionFwdAlgo_t)algo, bytes),
                  err);
        return CNN_OK;
    case CNN_BWD_D:
        CUDNN_TRY(c,
                  cudnnGetConvolutionBackwardDataWorkspaceSize(c->handle, s->w, s->y, s->conv, s->x,
                                                               (cudnnConvolutionBwdDataAlgo_t)algo, bytes),
                  err);
        return CNN_OK;
    default:
        CUDNN_TRY(c,
                  cudnnGetConvolutionBackwardFilterWorkspaceSize(c->handle, s->x, s->y, s->conv, s->w,
                                                                 (cudnnConvolutionBwdFilterAlgo_t)algo, bytes),
                  err);
        return CNN_OK;
    }
}

/* The three result types have the same fields. */
#define COPY_PERFS(from, list, count)                                                                                  \
    for (int i = 0; i < (count); i++) (list)[i] = (conv_perf)                                                          \
        {                                                                                                              \
            .algo = (int)(from)[i].algo, .status = (from)[i].status, .seconds = (double)(from)[i].time * 1e-3,         \
            .math = (from)[i].mathType                                                                                 \
        }

cnn_status conv_call_heuristics(cudnn_context *c, const conv_state *s, conv_perf list[CONV_PERFS_MAX], int *count,
                                cnn_error *err)
{
    cudnnConvolutionFwdAlgoPerf_t fwd[CONV_PERFS_MAX];
    cudnnConvolutionBwdDataAlgoPerf_t bwd_d[CONV_PERFS_MAX];
    cudnnConvolutionBwdFilterAlgoPerf_t bwd_w[CONV_PERFS_MAX];
    *count = 0;
    switch (s->dir) {
    case CNN_FWD:
        CUDNN_TRY(
            c, cudnnGetConvolutionForwardAlgorithm_v7(c->handle, s->x, s->w, s->conv, s->y, CONV_PERFS_MAX, count, fwd),
            err);
        COPY_PERFS(fwd, list, *count);
        return CNN_OK;
    case CNN_BWD_D:
        CUDNN_TRY(c,
                  cudnnGetConvolutionBackwardDataAlgorithm_v7(c->handle, s->w, s->y, s->conv, s->x, CONV_PERFS_MAX,
                                                              count, bwd_d),
                  err);
        COPY_PERFS(bwd_d, list, *count);
        return CNN_OK;
    default:
        CUDNN_TRY(c,
                  cudnnGetConvolutionBackwardFilterAlgorithm_v7(c->handle, s->x, s->y, s->conv, s->w, CONV_PERFS_MAX,
                                                                count, bwd_w),
                  err);
        COPY_PERFS(bwd_w, list, *count);
        return CNN_OK;
    }
}

cnn_status conv_call_find(cudnn_context *c, const conv_state *s, const conv_buffers *b, conv_perf list[CONV_PERFS_MAX],
                          int *count, cnn_error *err)
{
    cudnnConvolutionFwdAlgoPerf_t fwd[CONV_PERFS_MAX];
    cudnnConvolutionBwdDataAlgoPerf_t bwd_d[CONV_PERFS_MAX];
    cudnnConvolutionBwdFilterAlgoPerf_t bwd_w[CONV_PERFS_MAX];
    *count = 0;
    switch (s->dir) {
    case CNN_FWD:
        CUDNN_TRY(c,
                  cudnnFindConvolutionForwardAlgorithmEx(c->handle, s->x, b->x, s->w, b->w, s->conv, s->y, b->y,
                                                         CONV_PERFS_MAX, count, fwd, b->workspace, b->workspace_bytes),
                  err);
        COPY_PERFS(fwd, list, *count);
        return CNN_OK;
    case CNN_BWD_D:
        CUDNN_TRY(c,
                  cudnnFindConvolutionBackwardDataAlgorithmEx(c->handle, s->w, b->w, s->y, b->dy, s->conv, s->x, b->dx,
                                                              CONV_PERFS_MAX, count, bwd_d, b->workspace,
                                                              b->workspace_bytes),
                  err);
        COPY_PERFS(bwd_d, list, *count);
        return CNN_OK;
    default:
        CUDNN_TRY(c,
                  cudnnFindConvolutionBackwardFilterAlgorithmEx(c->handle, s->x, b->x, s->y, b->dy, s->conv, s->w,
                                                                b->dw, CONV_PERFS_MAX, count, bwd_w, b->workspace,
                                                                b->workspace_bytes),
                  err);
        COPY_PERFS(bwd_w, list, *count);
        return CNN_OK;
    }
}

cnn_status conv_call_run(cudnn_context *c, const conv_state *s, const conv_buffers *b, double beta, cnn_error *err)
{
    const cudnn_factor one = cudnn_factor_of(s->d.t.dtype, 1.0), add = cudnn_factor_of(s->d.t.dtype, beta);
    switch (s->dir) {
    case CNN_FWD:
        CUDNN_TRY(c,
                  cudnnConvolutionForward(c->handle, &one, s->x, b->x, s->w, b->w, s->conv,
                                          (cudnnConvolutionFwdAlgo_t)s->algo, b->workspace, b->workspace_bytes, &add,
                                          s->y, b->y),
                  err);
        return CNN_OK;
    case CNN_BWD_D:
        CUDNN_TRY(c,
                  cudnnConvolutionBackwardData(c->handle, &one, s->w, b->w, s->y, b->dy, s->conv,
                                               (cudnnConvolutionBwdDataAlgo_t)s->algo, b->workspace, b->workspace_bytes,
                                               &add, s->x, b->dx),
                  err);
        return CNN_OK;
    default:
        CUDNN_TRY(c,
                  cudnnConvolutionBackwardFilter(c->handle, &one, s->x, b->x, s->y, b->dy, s->conv,
                                                 (cudnnConvolutionBwdFilterAlgo_t)s->algo, b->workspace,
                                                 b->workspace_bytes, &add, s->w, b->dw),
                  err);
        return CNN_OK;
    }
}
