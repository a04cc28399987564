/* graph_notes.h: what cuDNN notes about an engine's numbers, and whether the problem's type allows them. */
#ifndef IMPL_CUDNN_GRAPH_NOTES_H
#define IMPL_CUDNN_GRAPH_NOTES_H

#include "impl_cudnn/graph_engine.h"
#include "impl_cudnn/graph_problem.h"

/* What cuDNN notes about an engine, in the harness's terms. */
typedef struct graph_traits {
    uint32_t flags; /* CNN_ALGO_* */
    double amplification;
    bool tensor_cores, converts, reduced; /* TF32 products; f16 products; sums in less than f32 */
    const char *doc;
} graph_traits;

cnn_status graph_config_traits(cudnnBackendDescriptor_t graph, const graph_request *request, const graph_config *config,
                               graph_traits *traits, cnn_error *err);
/* CNN_UNSUPPORTED where the arithmetic is less precise than the type allows, or not deterministic when only that is
 * asked for, or where the engine is known to compute something else. */
cnn_status graph_config_admit(cudnnBackendDescriptor_t graph, const graph_request *request, const graph_config *config,
                              graph_traits *traits, cnn_error *err);

#endif
