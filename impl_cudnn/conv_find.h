/* conv_find.h: algorithm `find`: the fastest of all, measured in `prepare`. */
#ifndef IMPL_CUDNN_CONV_FIND_H
#define IMPL_CUDNN_CONV_FIND_H

#include "impl_cudnn/conv_open.h"

/* On success *state has an algorithm. */
cnn_status conv_choose_find(cudnn_context *, const cnn_request *, conv_state **, cnn_error *);

#endif
