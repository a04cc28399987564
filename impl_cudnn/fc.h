/* fc.h: fully connected layers by cuBLAS: what cuDNN's own users take, since to cuDNN a layer is a convolution with a
 * kernel as large as the image, at several times the cost. */
#ifndef IMPL_CUDNN_FC_H
#define IMPL_CUDNN_FC_H

#include "impl_cudnn/cudnn.h"

/* cnn_algorithm.id; far from the others: conv.h, other.h, graph.h. */
enum { FC_CUBLAS = 900 };

cnn_status cudnn_fc_open(cudnn_context *, cnn_error *); /* the cuBLAS handle, on the context's stream */
void cudnn_fc_close(cudnn_context *);
cnn_status cudnn_fc_supports(const cnn_fc_desc *, cnn_error *);
cnn_status cudnn_fc_run(cudnn_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);

#endif
