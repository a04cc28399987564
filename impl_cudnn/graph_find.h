/* graph_find.h: algorithms `graph:heuristic` and `graph:find`. */
#ifndef IMPL_CUDNN_GRAPH_FIND_H
#define IMPL_CUDNN_GRAPH_FIND_H

#include "impl_cudnn/graph_plan.h"

/* The first proposal for the problem that can be run within the limits. */
cnn_status graph_first(cudnn_context *context, const cnn_request *request, graph_state **state, cnn_error *err);
/* The fastest of the first few of either graph, with the bias and without, measured with temporary buffers. */
cnn_status graph_fastest(cudnn_context *context, const cnn_request *request, graph_state **state, cnn_error *err);

#endif
