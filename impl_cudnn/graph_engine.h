/* graph_engine.h: the engines of an operation graph, cuDNN's numbered ways to compute it, and their configurations.
 *
 * A configuration is an engine with its knobs set. It crosses our functions as plain numbers (graph_config), from which
 * its descriptors are made again where they are needed. */
#ifndef IMPL_CUDNN_GRAPH_ENGINE_H
#define IMPL_CUDNN_GRAPH_ENGINE_H

#include "impl_cudnn/graph_call.h"

enum { GRAPH_KNOBS_MAX = CUDNN_KNOB_TYPE_COUNTS };

/* An engine and the knobs that differ from its defaults. */
typedef struct graph_config {
    int64_t engine;
    bool bias; /* of the graph that adds the bias; engines are numbered anew for each pattern of operations */
    int n_knobs;
    struct {
        cudnnBackendKnobType_t type;
        int64_t value;
    } knobs[GRAPH_KNOBS_MAX];
} graph_config;

cnn_status graph_engine_open(cudnnBackendDescriptor_t graph, int64_t index, cudnnBackendDescriptor_t *engine,
                             cnn_error *err);
cnn_status graph_config_open(cudnnBackendDescriptor_t graph, const graph_config *config, cudnnBackendDescriptor_t *made,
                             cnn_error *err);
/* Walks the engines in the order of their numbers: the first from *next on that takes its default knobs for this graph,
 * and *next is then behind it. False when none is left; err then holds why the last one was refused, if any was. */
bool graph_engine_next(cudnnBackendDescriptor_t graph, bool bias, int64_t *next, graph_config *config, cnn_error *err);
/* "eng7 k2=1 k13=0", or "bias_eng7 ..." : the choice for the record. */
void graph_config_name(const graph_config *config, char *name, size_t size);
enum { GRAPH_PROPOSALS_MAX = 96 };
/* What the heuristics propose for the graph, best first, appended to list[*count]; doubles are left out. */
cnn_status graph_heuristics(cudnnBackendDescriptor_t graph, cudnnBackendHeurMode_t mode, bool bias, graph_config *list,
                            int capacity, int *count, cnn_error *err);

#endif
