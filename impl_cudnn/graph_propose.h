/* graph_propose.h: what cuDNN's heuristics propose for a problem, of what may be had. */
#ifndef IMPL_CUDNN_GRAPH_PROPOSE_H
#define IMPL_CUDNN_GRAPH_PROPOSE_H

#include "impl_cudnn/graph_notes.h"

/* Appends one mode's proposals for one graph, best first, that are admitted and do not transform. A mode that has
 * nothing to say is no error while another may; err then holds the reason, in case none does. */
void graph_propose(cudnn_context *context, const graph_request *request, cudnnBackendHeurMode_t mode,
                   graph_config *list, int *count, cnn_error *err);
/* All modes, the graph with the bias first where there is one; at least one proposal, or why the last was refused. */
cnn_status graph_propose_all(cudnn_context *context, const cnn_request *request, graph_config list[GRAPH_PROPOSALS_MAX],
                             int *count, cnn_error *err);

#endif
