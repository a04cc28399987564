/* conv.h: convolution and FC through cuDNN's legacy calls: what the face calls.
 *
 * From the ground up: conv_algorithms names the algorithms; conv_open makes the descriptors; conv_calls has cuDNN's
 * calls, which differ by direction in name only; conv_choose and conv_find pick the algorithm; conv.c runs it, with
 * what cuDNN leaves to us: the bias, and the filter's order in NHWC. */
#ifndef IMPL_CUDNN_CONV_H
#define IMPL_CUDNN_CONV_H

#include "impl_cudnn/conv_algorithms.h"
#include "impl_cudnn/conv_open.h"

cnn_status conv_supports(cudnn_context *, const cnn_request *, cnn_error *);
cnn_status conv_prepare(cudnn_context *, cnn_plan *, cnn_error *);
void conv_release(cnn_plan *);
cnn_status conv_run(cudnn_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);

#endif
