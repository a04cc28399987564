/* graph.h: the algorithms `graph:*`, convolutions through cuDNN 9's graph (backend) API.
 *
 * From a problem to a kernel this API goes (one file for each step, from the ground up):
 *   graph_call      every object is a descriptor, made, filled with attributes, finalized
 *   graph_problem   tensors and operations -> an operation graph
 *   graph_engine    the graph -> its engines, numbered ways to compute it -> configurations, an engine's knobs set
 *   graph_notes     what cuDNN notes about an engine: is it precise and deterministic enough for the problem?
 *   graph_propose   which configurations the heuristics propose
 *   graph_plan      a configuration -> an execution plan, which is run with a variant pack: pointers by tensor
 *   graph_find      which of the proposals is taken
 * A finalized object no longer needs those that it was made from, so only the plan is kept.
 *
 * The legacy calls name eight ways to convolve; the graph API numbers its engines, dozens for each direction, and
 * serves every problem that one of them takes. Four kinds of algorithm come from it:
 *   graph:heuristic   the first configuration that cuDNN's heuristics propose and that fits the limits
 *   graph:find        their best proposals, measured in `prepare` by cuda_rank(); plan->choice names the one taken
 *   graph:engN        engine N with its default knobs, enumerated for the problem
 *   graph:bias_engN   the same, for the graph in which the forward pass adds the bias itself
 *
 * The implementation's face puts CUDNN_GRAPH_ROWS into its table and hands every algorithm for which
 * cudnn_graph_serves() to the functions below, which have the signatures of the slots in cnn.h. plan->state is this
 * module's own, from cudnn_graph_prepare to cudnn_graph_release. */
#ifndef IMPL_CUDNN_GRAPH_H
#define IMPL_CUDNN_GRAPH_H

#include "harness/cnn.h"

/* Algorithm ids. The implementation's own are below the first. Engine N is CUDNN_GRAPH_ENGINE + N. */
enum { CUDNN_GRAPH_HEURISTIC = 1000, CUDNN_GRAPH_FIND, CUDNN_GRAPH_ENGINE = 2000, CUDNN_GRAPH_BIAS_ENGINE = 4000 };

/* Rows of cnn_impl.algorithms. Which engine these two settle on is not known beforehand, so they claim no determinism
 * (a knob narrows the search to deterministic engines); they pass over engines that transform (Winograd,
 * FFT), so that their results are held to the plain bound. Those are there as graph:engN. */
#define CUDNN_GRAPH_ROWS                                                                                               \
    {"graph:heuristic",                                                                                                \
     "graph API: the first engine that cuDNN's heuristics propose and that fits the limits",                           \
     1u << CNN_OP_CONV,                                                                                                \
     0,                                                                                                                \
     1,                                                                                                                \
     CUDNN_GRAPH_HEURISTIC},                                                                                           \
    {                                                                                                                  \
        "graph:find", "graph API: the fastest of the heuristics' proposals, measured", 1u << CNN_OP_CONV,              \
            CNN_ALGO_MAY_REFUSE, 1, CUDNN_GRAPH_FIND                                                                   \
    }

static inline bool cudnn_graph_serves(const cnn_algorithm *algorithm) { return algorithm->id >= CUDNN_GRAPH_HEURISTIC; }

/* Engines that take this problem, as rows of their own; none for an operation other than conv. */
cnn_status cudnn_graph_enumerate(cnn_context *, const cnn_request *, cnn_algorithm *list, int capacity, int *count,
                                 cnn_error *);
cnn_status cudnn_graph_supports(cnn_context *, const cnn_request *, cnn_error *);
cnn_status cudnn_graph_prepare(cnn_context *, cnn_plan *, cnn_error *);
void cudnn_graph_release(cnn_context *, cnn_plan *);
/* One function for the three directions: plan->dir says which. */
cnn_status cudnn_graph_run(cnn_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);

#endif
