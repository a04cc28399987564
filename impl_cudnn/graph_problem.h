/* graph_problem.h: a convolution as cuDNN's operation graph. */
#ifndef IMPL_CUDNN_GRAPH_PROBLEM_H
#define IMPL_CUDNN_GRAPH_PROBLEM_H

#include "impl_cudnn/graph_call.h"

/* Names of the tensors in a variant pack: x or dx, w or dw, y or dy, b, and what flows from convolution to bias. */
enum { GRAPH_X = 1, GRAPH_W, GRAPH_Y, GRAPH_B, GRAPH_INNER, GRAPH_TENSORS = 4 };

/* Alpha and beta are attributes of an operation, so the graph that adds to its output is another one. */
typedef struct graph_request {
    const cnn_conv_desc *conv;
    cnn_dir dir;
    bool bias; /* FWD: the graph adds the bias too */
    bool add;  /* beta is 1; not with bias, where the convolution's own output stays inside the graph */
    const int64_t *knobs;
} graph_request;

cnn_status graph_build(cudnn_context *context, const graph_request *request, cudnnBackendDescriptor_t *graph,
                       cnn_error *err);

/* Whether the end of x is outside the graph's tensor (negative right padding): BWD_D must clear it apart. */
bool graph_leaves_rest(const cnn_conv_desc *conv);

#endif
