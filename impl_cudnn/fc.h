/* fc.h: fully connected layers by cuBLAS: what cuDNN's own users take, since to cuDNN a layer is a convolution with a
 * kernel as large as the image, at several times the cost. */
#ifndef IMPL_CUDNN_FC_H
#define IMPL_CUDNN_FC_H

#include "impl_cudnn/context.h"

/* cnn_algorithm.id */
enum { FC_CUBLAS = 900 };

cnn_status cudnn_fc_supports(const cnn_fc_desc *, cnn_error *);
cnn_status cudnn_fc_run(cudnn_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);

#endif
