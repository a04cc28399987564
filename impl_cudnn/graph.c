/* graph.c: the face of the graph API's algorithms: enumerate, supports, prepare.
 *
 * Whether an engine takes a problem is known for sure only once its execution plan is built; so that is what `supports`
 * does, and throws it away. `prepare` builds it again and keeps it. */
#include "impl_cudnn/graph.h"

#include "harness/cnn/half.h"

static graph_tail tail_of(const cnn_request *r) { return graph_tail_of(&r->problem->u.conv, r->dir); }

/* Engines whose descriptors can be finalized: most that cannot take the problem are sorted out there, at little cost.
 */
static void enumerate_graph(cudnn_context *context, const graph_request *request, cnn_algorithm *list, int capacity,
                            int *count)
{
    cudnnBackendDescriptor_t graph = NULL;
    cnn_error refused; /* a graph or an engine that cuDNN refuses is just not listed */
    graph_config config;
    int64_t next = 0;
    if (graph_build(context, request, &graph, &refused) != CNN_OK) return;
    while (*count < capacity && graph_engine_next(graph, request->tail, &next, &config, &refused)) {
        graph_traits traits;
        char name[CNN_NAME_MAX - 8];
        if (config.engine >= CUDNN_GRAPH_BIAS_ENGINE - CUDNN_GRAPH_ENGINE) break; /* its id would be another's */
        if (graph_config_traits(graph, request, &config, &traits, &refused) != CNN_OK) continue;
        cnn_algorithm *row = &list[(*count)++];
        *row = (cnn_algorithm){
            .doc = traits.doc,
            .ops = CUDA_CONVS,
            .flags = traits.flags | CNN_ALGO_REPLACES | CNN_ALGO_EPILOGUES,
            .amplification = traits.amplification,
            .id = (request->tail != GRAPH_BARE ? CUDNN_GRAPH_BIAS_ENGINE : CUDNN_GRAPH_ENGINE) + config.engine,
        };
        graph_config_name(&config, name, sizeof name);
        snprintf(row->name, sizeof row->name, "graph:%s", name);
    }
    graph_drop(&graph);
}

cnn_status cudnn_graph_enumerate(cnn_context *context, const cnn_request *r, cnn_algorithm *list, int capacity,
                                 int *count, cnn_error *err)
{
    *count = 0;
    if (r->problem->op != CNN_OP_CONV ||
        (!cnn_is_half(r->problem->u.type.dtype) && cuda_check_number(r->problem, true, err) != CNN_OK))
        return CNN_OK; /* none, and `supports` says why */
    graph_request request = {.conv = &r->problem->u.conv, .dir = r->dir, .knobs = r->knobs};
    enumerate_graph((cudnn_context *)context, &request, list, capacity, count);
    request.tail = tail_of(r);
    if (request.tail != GRAPH_BARE) enumerate_graph((cudnn_context *)context, &request, list, capacity, count);
    return CNN_OK;
}

/* One engine by its number, with its default knobs. */
static cnn_status open_engine(cudnn_context *context, const cnn_request *r, graph_state **state, cnn_error *err)
{
    const bool whole = r->algorithm->id >= CUDNN_GRAPH_BIAS_ENGINE;
    const graph_config config = {.engine = r->algorithm->id - (whole ? CUDNN_GRAPH_BIAS_ENGINE : CUDNN_GRAPH_ENGINE),
                                 .tail = whole ? tail_of(r) : GRAPH_BARE};
    if (whole && config.tail == GRAPH_BARE)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "algorithm %s adds a bias or does an epilogue, and here is none",
                        r->algorithm->name);
    if (!whole && cudnn_check_tail(r, err) != CNN_OK) return err->status;
    const graph_request request = {.conv = &r->problem->u.conv, .dir = r->dir, .tail = config.tail, .knobs = r->knobs};
    cudnnBackendDescriptor_t graph = NULL;
    graph_traits traits;
    cnn_status status = graph_build(context, &request, &graph, err);
    if (status == CNN_OK) status = graph_config_admit(graph, &request, &config, &traits, err);
    graph_drop(&graph);
    return status == CNN_OK ? graph_state_open(context, r, &config, state, err) : status;
}

/* For graph:find, `supports` asks only whether there is anything to measure. */
static cnn_status open_any(cudnn_context *context, const cnn_request *r, bool search, graph_state **state,
                           cnn_error *err)
{
    *state = NULL;
    if (r->algorithm->id >= CUDNN_GRAPH_ENGINE) return open_engine(context, r, state, err);
    if (r->algorithm->id == CUDNN_GRAPH_FIND && search) return graph_fastest(context, r, state, err);
    return graph_first(context, r, state, err);
}

cnn_status cudnn_graph_supports(cudnn_context *context, const cnn_request *r, cnn_error *err)
{
    graph_state *state;
    if (open_any(context, r, false, &state, err) == CNN_OK) {
        graph_state_close(state);
        return CNN_OK;
    }
    return err->status = CNN_UNSUPPORTED;
}

cnn_status cudnn_graph_prepare(cudnn_context *context, cnn_plan *plan, cnn_error *err)
{
    const cnn_request request = cuda_request_of(plan);
    graph_state *state;
    const cnn_status status = open_any(context, &request, true, &state, err);
    if (status != CNN_OK) return status;
    plan->state = state;
    plan->workspace_bytes = state->workspace_bytes;
    if (plan->algorithm.id < CUDNN_GRAPH_ENGINE) cudnn_put_choice(plan, state->name, state->as_launched);
    return CNN_OK;
}
