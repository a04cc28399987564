/* graph_propose.c: cuDNN's heuristics, asked in their three modes: A and B rank engines by a model of the device, the
 * fallback lists those that take nearly everything. With a bias the forward pass can be one graph of two operations or
 * two calls; both are proposed. */
#include "impl_cudnn/graph_propose.h"

void graph_propose(cudnn_context *context, const graph_request *request, cudnnBackendHeurMode_t mode,
                   graph_config *list, int *count, cnn_error *err)
{
    cudnnBackendDescriptor_t graph = NULL;
    if (graph_build(context, request, &graph, err) != CNN_OK) return;
    int kept = *count;
    const int before = *count;
    const cnn_status status = graph_heuristics(graph, mode, request->bias, list, GRAPH_PROPOSALS_MAX, count, err);
    for (int i = before; i < *count && status == CNN_OK; i++) {
        graph_traits traits;
        if (graph_config_admit(context, graph, request, &list[i], &traits, err) != CNN_OK) continue;
        if (!(traits.flags & CNN_ALGO_TRANSFORMS)) list[kept++] = list[i];
    }
    *count = kept;
    graph_drop(&graph);
}

cnn_status graph_propose_all(cudnn_context *context, const cnn_conv_desc *conv, cnn_dir dir,
                             graph_config list[GRAPH_PROPOSALS_MAX], int *count, cnn_error *err)
{
    static const cudnnBackendHeurMode_t modes[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK};
    *count = 0;
    CNN_FAIL(err, CNN_UNSUPPORTED, "cuDNN's heuristics propose no engine for this problem");
    for (int m = 0; m < 3; m++) {
        graph_request request = {.conv = conv, .dir = dir, .bias = true};
        if (conv->bias && dir == CNN_FWD) graph_propose(context, &request, modes[m], list, count, err);
        request.bias = false;
        graph_propose(context, &request, modes[m], list, count, err);
    }
    return *count > 0 ? CNN_OK : (err->status = CNN_UNSUPPORTED);
}
