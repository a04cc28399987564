/* graph_propose.c: cuDNN's heuristics, asked in their three modes: A and B rank engines by a model of the device, the
 * fallback lists those that take nearly everything. With a bias or an epilogue the forward pass can be one graph of
 * several operations, or several calls; both are proposed. */
#include "impl_cudnn/graph.h"

#include "harness/cnn/shape.h"

/* Where the kernel would not fit if the right were padded as the left is, cuDNN 9.14's heuristics end the process (seen
 * on BWD_W). They are not asked then. */
static bool heuristics_crash(const cnn_conv_desc *d)
{
    return cnn_out_size(d->ih, d->kh, d->sh, d->ph, d->ph, d->dh) <= 0 ||
           cnn_out_size(d->iw, d->kw, d->sw, d->pw, d->pw, d->dw) <= 0;
}

/* What the heuristics propose; in their place, every engine. */
static cnn_status ask(cudnnBackendDescriptor_t graph, const graph_request *request, cudnnBackendHeurMode_t mode,
                      graph_config *list, int *count, cnn_error *err)
{
    int64_t next = 0;
    if (!heuristics_crash(request->conv)) return graph_heuristics(graph, mode, request->tail, list, count, err);
    if (mode != CUDNN_HEUR_MODE_FALLBACK) return CNN_OK;
    while (*count < GRAPH_PROPOSALS_MAX && graph_engine_next(graph, request->tail, &next, &list[*count], err)) ++*count;
    return CNN_OK;
}

void graph_propose(cudnn_context *context, const graph_request *request, cudnnBackendHeurMode_t mode,
                   graph_config *list, int *count, cnn_error *err)
{
    cudnnBackendDescriptor_t graph = NULL;
    if (graph_build(context, request, &graph, err) != CNN_OK) return;
    int kept = *count;
    const int before = *count;
    const cnn_status status = ask(graph, request, mode, list, count, err);
    for (int i = before; i < *count && status == CNN_OK; i++) {
        graph_traits traits;
        if (graph_config_admit(graph, request, &list[i], &traits, err) != CNN_OK) continue;
        if (!(traits.flags & CNN_ALGO_TRANSFORMS)) list[kept++] = list[i];
    }
    *count = kept;
    graph_drop(&graph);
}

cnn_status graph_propose_all(cudnn_context *context, const cnn_request *r, graph_config list[GRAPH_PROPOSALS_MAX],
                             int *count, cnn_error *err)
{
    const cnn_conv_desc *conv = &r->problem->u.conv;
    static const cudnnBackendHeurMode_t modes[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK};
    *count = 0;
    CNN_FAIL(err, CNN_UNSUPPORTED, "cuDNN's heuristics propose no engine for this problem");
    for (int m = 0; m < 3; m++) {
        graph_request request = {.conv = conv, .dir = r->dir, .tail = graph_tail_of(conv, r->dir), .knobs = r->knobs};
        if (request.tail != GRAPH_BARE) graph_propose(context, &request, modes[m], list, count, err);
        request.tail = GRAPH_BARE;
        if (cudnn_check_tail(r, err) == CNN_OK) graph_propose(context, &request, modes[m], list, count, err);
    }
    return *count > 0 ? CNN_OK : (err->status = CNN_UNSUPPORTED);
}
