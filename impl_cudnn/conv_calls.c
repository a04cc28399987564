/* conv_calls.c: cuDNN's legacy calls on a convolution. They exist three times, once a direction, with their own types;
 * everything else in conv*.c is written once. */
#include "impl_cudnn/conv.h"

cnn_status conv_call_workspace(cudnn_context *c, const conv_state *s, int algo, size_t *bytes, cnn_error *err)
{
    *bytes = 0;
    switch (s->dir) {
    case CNN_FWD:
        return CUDNN_CHECK(c,
                           cudnnGetConvolutionForwardWorkspaceSize(c->handle, s->x, s->w, s->conv, s->y,
                                                                   (cudnnConvolutionFwdAlgo_t)algo, bytes),
                           err);
    case CNN_BWD_D:
        return CUDNN_CHECK(c,
                           cudnnGetConvolutionBackwardDataWorkspaceSize(c->handle, s->w, s->y, s->conv, s->x,
                                                                        (cudnnConvolutionBwdDataAlgo_t)algo, bytes),
                           err);
    default:
        return CUDNN_CHECK(c,
                           cudnnGetConvolutionBackwardFilterWorkspaceSize(c->handle, s->x, s->y, s->conv, s->w,
                                                                          (cudnnConvolutionBwdFilterAlgo_t)algo, bytes),
                           err);
    }
}

/* The three result types have the same fields. */
#define COPY_PERFS(from, list, count)                                                                                  \
    for (int i = 0; i < (count); i++) (list)[i] = (conv_perf)                                                          \
        {                                                                                                              \
            .algo = (int)(from)[i].algo, .status = (from)[i].status, .math = (from)[i].mathType                        \
        }

cnn_status conv_call_list(cudnn_context *c, const conv_state *s, const cnn_weighted_args *a, size_t bytes,
                          conv_perf list[CONV_PERFS_MAX], int *count, cnn_error *err)
{
    enum { MOST = CONV_PERFS_MAX };
    cudnnConvolutionFwdAlgoPerf_t fwd[MOST];
    cudnnConvolutionBwdDataAlgoPerf_t bwd_d[MOST];
    cudnnConvolutionBwdFilterAlgoPerf_t bwd_w[MOST];
    const cudnnHandle_t h = c->handle;
    *count = 0;
    switch (s->dir) {
    case CNN_FWD:
        if (a == NULL)
            CUDNN_TRY(c, cudnnGetConvolutionForwardAlgorithm_v7(h, s->x, s->w, s->conv, s->y, MOST, count, fwd), err);
        else
            CUDNN_TRY(c,
                      cudnnFindConvolutionForwardAlgorithmEx(h, s->x, a->x, s->w, a->w, s->conv, s->y, a->y, MOST,
                                                             count, fwd, a->workspace, bytes),
                      err);
        COPY_PERFS(fwd, list, *count);
        return CNN_OK;
    case CNN_BWD_D:
        if (a == NULL)
            CUDNN_TRY(c, cudnnGetConvolutionBackwardDataAlgorithm_v7(h, s->w, s->y, s->conv, s->x, MOST, count, bwd_d),
                      err);
        else
            CUDNN_TRY(c,
                      cudnnFindConvolutionBackwardDataAlgorithmEx(h, s->w, a->w, s->y, a->dy, s->conv, s->x, a->dx,
                                                                  MOST, count, bwd_d, a->workspace, bytes),
                      err);
        COPY_PERFS(bwd_d, list, *count);
        return CNN_OK;
    default:
        if (a == NULL)
            CUDNN_TRY(c,
                      cudnnGetConvolutionBackwardFilterAlgorithm_v7(h, s->x, s->y, s->conv, s->w, MOST, count, bwd_w),
                      err);
        else
            CUDNN_TRY(c,
                      cudnnFindConvolutionBackwardFilterAlgorithmEx(h, s->x, a->x, s->y, a->dy, s->conv, s->w, a->dw,
                                                                    MOST, count, bwd_w, a->workspace, bytes),
                      err);
        COPY_PERFS(bwd_w, list, *count);
        return CNN_OK;
    }
}

cnn_status conv_call_run(cudnn_context *c, const conv_state *s, const cnn_weighted_args *a, size_t workspace_bytes,
                         cnn_error *err)
{
    const cudnn_factor one = cudnn_factor_of(s->d.t.dtype, 1.0), add = cudnn_factor_of(s->d.t.dtype, a->beta);
    switch (s->dir) {
    case CNN_FWD:
        return CUDNN_CHECK(c,
                           cudnnConvolutionForward(c->handle, &one, s->x, a->x, s->w, a->w, s->conv,
                                                   (cudnnConvolutionFwdAlgo_t)s->algo, a->workspace, workspace_bytes,
                                                   &add, s->y, a->y),
                           err);
    case CNN_BWD_D:
        return CUDNN_CHECK(c,
                           cudnnConvolutionBackwardData(c->handle, &one, s->w, a->w, s->y, a->dy, s->conv,
                                                        (cudnnConvolutionBwdDataAlgo_t)s->algo, a->workspace,
                                                        workspace_bytes, &add, s->x, a->dx),
                           err);
    default:
        return CUDNN_CHECK(c,
                           cudnnConvolutionBackwardFilter(c->handle, &one, s->x, a->x, s->y, a->dy, s->conv,
                                                          (cudnnConvolutionBwdFilterAlgo_t)s->algo, a->workspace,
                                                          workspace_bytes, &add, s->w, a->dw),
                           err);
    }
}
