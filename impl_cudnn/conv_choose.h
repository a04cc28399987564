/* conv_choose.h: which algorithm a plan gets; on success *state has one. */
#ifndef IMPL_CUDNN_CONV_CHOOSE_H
#define IMPL_CUDNN_CONV_CHOOSE_H

#include "impl_cudnn/conv_calls.h"

/* The one named: cuDNN's number. */
cnn_status conv_choose_named(cudnn_context *, const cnn_request *, int algo, conv_state **, cnn_error *);
/* The first that cuDNN's heuristics propose and that can be had. */
cnn_status conv_choose_heuristic(cudnn_context *, const cnn_request *, conv_state **, cnn_error *);

/* ---- For conv_find.c too. */

/* Takes what cuDNN ranks if it fits the math, the workspace limit of the request and its wish for determinism: sets
 * algorithm and math type and sizes the workspace. CNN_UNSUPPORTED where it does not fit. */
cnn_status conv_settle(cudnn_context *, conv_state *, const conv_perf *, cnn_error *);
/* Filters are tried from CONV_FILTER_TURNED to this one: turned where that is possible, else as they are. */
conv_filter conv_last_filter(const cnn_problem *);

#endif
