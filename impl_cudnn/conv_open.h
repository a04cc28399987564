/* conv_open.h: a convolution as cuDNN's legacy calls want it: descriptors of x, w, y and of the convolution itself. */
#ifndef IMPL_CUDNN_CONV_OPEN_H
#define IMPL_CUDNN_CONV_OPEN_H

#include "impl_cudnn/tensor.h"

/* Of cuDNN's workspace and of the turned weights: what cudaMalloc gives. */
enum { CONV_ALIGN = 256 };

/* plan->state. */
typedef struct conv_state {
    cnn_conv_desc d; /* an FC layer as the convolution that it is */
    cnn_dir dir;
    const int64_t *knobs; /* the request's, or the plan's */
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t conv;
    /* NHWC: cuDNN's kernels want the filter as [oc][kh][kw][ic/g]. Then the weights are turned into workspace, and dw
     * from there; as tensors, w_ours and w_theirs. NULL where they are the same bytes. */
    cudnnTensorDescriptor_t w_ours, w_theirs;
    int algo;
    cudnnMathType_t math;   /* as the convolution has it */
    size_t cudnn_bytes;     /* cuDNN's own workspace */
    size_t weights_offset;  /* the turned weights, behind it; both from the aligned start */
    size_t workspace_bytes; /* the whole, room to align included */
    bool as_launched;       /* `find` could not record it */
} conv_state;

/* How the filter is given in NHWC problems; in NCHW there is only AS_STORED. */
typedef enum conv_filter { CONV_FILTER_TURNED, CONV_FILTER_AS_STORED, CONV_FILTERS } conv_filter;

/* Descriptors without an algorithm. CNN_UNSUPPORTED where cuDNN cannot say this problem. */
cnn_status conv_open(cudnn_context *, const cnn_request *, conv_filter, conv_state **, cnn_error *);
void conv_close(conv_state *);
/* The math type that the problem's math allows at most. */
cudnnMathType_t conv_math_type(const cnn_type *);

#endif
