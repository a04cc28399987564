/* other.h: gate, prepare and release of the operations that are neither conv nor FC, for both algorithms. */
#ifndef IMPL_CUDNN_OTHER_H
#define IMPL_CUDNN_OTHER_H

#include "impl_cudnn/ops.h"

cnn_status other_supports(cudnn_context *, const cnn_request *, cnn_error *);
cnn_status other_prepare(cudnn_context *, cnn_plan *, cnn_error *);
void other_release(cnn_plan *);

#endif
