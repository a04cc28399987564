/* graph_plan.c: a configuration of an engine made ready to run: execution plans, workspace, variant packs.
 *
 * What no engine does itself is done here: the bias of a graph without it and db by the kernels that all CUDA
 * implementations share, and adding to the output, where the engine cannot, by cudnnAddTensor(). The plan's workspace
 * is cuDNN's own, aligned, and behind it the scratch output. */
#include "impl_cudnn/graph.h"

#include "harness/cnn/half.h"
#include "harness/cnn/shape.h"

#include <stdlib.h>
#include <string.h>

/* cuDNN says nothing of a workspace's alignment; this is what cudaMalloc gives and every caller of it relies on. */
enum { WORKSPACE_ALIGN = 256 };

static cnn_status exec_open(cudnn_context *context, cudnnBackendDescriptor_t graph, const graph_config *config,
                            graph_exec *exec, cnn_error *err)
{
    cudnnBackendDescriptor_t made = NULL;
    char what[CNN_NAME_MAX];
    int64_t bytes = 0;
    cnn_status status = graph_config_open(graph, config, &made, err);
    if (status != CNN_OK) return status;
    snprintf(what, sizeof what, "execution plan of engine %lld", (long long)config->engine);
    graph_maker m = graph_make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, what, err);
    graph_set(&m, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &context->handle);
    graph_set_part(&m, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, made);
    status = graph_finish(&m, &exec->plan);
    graph_drop(&made);
    if (status == CNN_OK)
        status = graph_read_one(exec->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, &bytes, err);
    if (status != CNN_OK) graph_drop(&exec->plan);
    exec->workspace_bytes = bytes > 0 ? (size_t)bytes : 0;
    return status;
}

static void exec_close(graph_exec *exec)
{
    graph_drop(&exec->pack);
    graph_drop(&exec->plan);
}

/* A finalized pack cannot change its pointers; in training they are the same every time, so it is kept. */
static cnn_status exec_run(cudnn_context *context, graph_exec *exec, const void *const pointers[GRAPH_TENSORS],
                           const void *workspace, cnn_error *err)
{
    int64_t names[GRAPH_TENSORS], count = 0;
    const void *named[GRAPH_TENSORS];
    if (exec->pack == NULL || exec->workspace != workspace ||
        memcmp(exec->pointers, pointers, sizeof exec->pointers) != 0) {
        graph_drop(&exec->pack);
        for (int i = 0; i < GRAPH_TENSORS; i++)
            if (pointers[i] != NULL) names[count] = GRAPH_X + i, named[count++] = pointers[i];
        graph_maker m = graph_make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, "variant pack", err);
        graph_set(&m, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, names);
        graph_set(&m, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, named);
        graph_set(&m, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
        const cnn_status status = graph_finish(&m, &exec->pack);
        if (status != CNN_OK) return status;
        memcpy(exec->pointers, pointers, sizeof exec->pointers);
        exec->workspace = workspace;
    }
    return CUDNN_CHECK(context, cudnnBackendExecute(context->handle, exec->plan, exec->pack), err);
}

/* The size of the output, and its descriptor where a scratch output is to be added to it. */
static cnn_status make_rest(cudnn_context *context, graph_state *s, bool scratch, cnn_error *err)
{
    const cnn_conv_desc *d = &s->conv;
    const cnn_type type = {d->t.dtype, d->t.dtype, s->dir == CNN_BWD_W ? CNN_NCHW : d->t.layout, d->t.math};
    const int64_t x[4] = {d->mb, d->ic, d->ih, d->iw}, y[4] = {d->mb, d->oc, d->oh, d->ow};
    const int64_t w[4] = {d->oc, d->ic / d->g, d->kh, d->kw};
    const int64_t *o = s->dir == CNN_FWD ? y : s->dir == CNN_BWD_D ? x : w;
    int64_t count;
    if (!cnn_mul4(o[0], o[1], o[2], o[3], &count))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "the size of the output overflows");
    s->output_bytes = (size_t)count * cnn_dtype_size(d->t.dtype);
    s->clear = s->dir == CNN_BWD_D && graph_leaves_rest(d);
    return scratch ? cudnn_tensor_open(context, &type, o[0], o[1], o[2], o[3], &s->output, err) : CNN_OK;
}

/* The workspace: cuDNN's own for either plan, the scratch output behind it. Aligning its start may cost some more,
 * which is not counted against the limit. */
static cnn_status size_workspace(graph_state *s, bool scratch, cnn_error *err)
{
    const size_t align = WORKSPACE_ALIGN - 1, limit = cuda_workspace_limit(s->knobs);
    size_t bytes = s->store.workspace_bytes;
    if (bytes < s->add.workspace_bytes) bytes = s->add.workspace_bytes;
    if (scratch && bytes <= limit) {
        s->scratch_offset = (bytes + align) & ~align;
        bytes = s->scratch_offset + s->output_bytes;
    }
    if (bytes > limit)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "engine %s asks for a workspace of %zu bytes, and the limit is %zu",
                        s->name, bytes, limit);
    s->workspace_bytes = bytes > 0 ? bytes + align : 0;
    return CNN_OK;
}

/* Beside a graph with the bias: the first deterministic engine without it that asks for no more workspace. It need not
 * be fast, as only tests add to the output of a forward pass, but it must not break what the algorithm promises. */
static void open_other(cudnn_context *context, cudnnBackendDescriptor_t graph, const graph_request *request,
                       graph_state *s)
{
    graph_config list[GRAPH_PROPOSALS_MAX];
    graph_traits traits;
    cnn_error refused;
    int count = 0;
    graph_propose(context, request, CUDNN_HEUR_MODE_A, list, &count, &refused);
    graph_propose(context, request, CUDNN_HEUR_MODE_FALLBACK, list, &count, &refused);
    for (int i = 0; i < count && s->add.plan == NULL; i++) {
        if (graph_config_traits(graph, request, &list[i], &traits, &refused) != CNN_OK) continue;
        if (!(traits.flags & CNN_ALGO_DETERMINISTIC)) continue;
        if (exec_open(context, graph, &list[i], &s->add, &refused) != CNN_OK) continue;
        if (s->add.workspace_bytes > s->store.workspace_bytes) exec_close(&s->add);
    }
}

/* The second plan, which adds to the output; where there is none, a scratch output. Refusals are no errors here. */
static cnn_status open_add(cudnn_context *context, graph_state *s, cnn_error *err)
{
    const graph_request request = {.conv = &s->conv, .dir = s->dir, .add = true, .knobs = s->knobs};
    const bool half = cnn_is_half(s->conv.t.dtype), never = s->config.tail == GRAPH_FUSED || (half && s->config.tail);
    cudnnBackendDescriptor_t graph = NULL;
    cnn_error refused;
    if (!never && graph_build(context, &request, &graph, &refused) == CNN_OK) {
        if (s->config.tail != GRAPH_BARE)
            open_other(context, graph, &request, s);
        else
            (void)exec_open(context, graph, &s->config, &s->add, &refused);
    }
    graph_drop(&graph);
    const bool scratch = !never && s->add.plan == NULL;
    if (s->add.plan == NULL) s->add.workspace_bytes = 0;
    if (scratch && half)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "engine %s does not add to its output, and a call that adds to %s would round it twice",
                        s->name, cnn_dtype_name(s->conv.t.dtype));
    const cnn_status status = make_rest(context, s, scratch, err);
    return status == CNN_OK ? size_workspace(s, scratch, err) : status;
}

cnn_status graph_state_open(cudnn_context *context, const cnn_request *r, const graph_config *config,
                            graph_state **state, cnn_error *err)
{
    graph_state *s = calloc(1, sizeof *s);
    *state = NULL;
    if (s == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plan of %zu bytes", sizeof *s);
    s->conv = r->problem->u.conv, s->dir = r->dir, s->knobs = r->knobs, s->config = *config;
    graph_config_name(config, s->name, sizeof s->name);
    const graph_request request = {.conv = &s->conv, .dir = s->dir, .tail = config->tail, .knobs = s->knobs};
    cudnnBackendDescriptor_t graph = NULL;
    cnn_status status = graph_build(context, &request, &graph, err);
    if (status == CNN_OK) status = exec_open(context, graph, config, &s->store, err);
    graph_drop(&graph);
    if (status == CNN_OK) status = open_add(context, s, err);
    if (status != CNN_OK) {
        graph_state_close(s);
        return status;
    }
    *state = s;
    return CNN_OK;
}

void graph_state_close(graph_state *s)
{
    if (s == NULL) return;
    exec_close(&s->store);
    exec_close(&s->add);
    cudnn_tensor_close(&s->output);
    free(s);
}

/* What the plan did not: the scratch output added, the bias, the epilogue, db. */
static cnn_status run_rest(cudnn_context *context, const graph_state *s, const cnn_weighted_args *args,
                           const void *scratch, void *output, graph_tail done, cnn_error *err)
{
    const cudnn_factor one = cudnn_factor_of(s->conv.t.dtype, 1);
    if (scratch != NULL) {
        CUDNN_TRY(context, cudnnAddTensor(context->handle, &one, s->output, scratch, &one, s->output, output), err);
        const cnn_status status = cuda_phase(&context->cuda, "add", err);
        if (status != CNN_OK) return status;
    }
    return done == GRAPH_BARE ? cudnn_tail_run(context, s->knobs, &s->conv, s->dir, args, err) : CNN_OK;
}

cnn_status graph_state_run(cudnn_context *context, graph_state *s, const cnn_weighted_args *args, cnn_error *err)
{
    const bool add = args->beta != 0, scratch = add && s->add.plan == NULL;
    const size_t align = WORKSPACE_ALIGN - 1;
    char *workspace = args->workspace;
    if (workspace != NULL) workspace += (WORKSPACE_ALIGN - ((uintptr_t)workspace & align)) & align;
    void *output = s->dir == CNN_FWD ? args->y : s->dir == CNN_BWD_D ? args->dx : args->dw;
    void *target = scratch ? workspace + s->scratch_offset : output;
    graph_exec *exec = add && !scratch ? &s->add : &s->store;
    const graph_tail tail = exec == &s->store ? s->config.tail : GRAPH_BARE;
    const void *pointers[GRAPH_TENSORS] = {args->x, args->w, args->dy};
    if (tail != GRAPH_BARE) pointers[GRAPH_B - 1] = args->b, pointers[GRAPH_Z - 1] = args->z;
    pointers[s->dir == CNN_FWD ? GRAPH_Y - 1 : s->dir == CNN_BWD_D ? GRAPH_X - 1 : GRAPH_W - 1] = target;

    if (s->clear && exec == &s->store)
        CUDA_TRY(&context->cuda, cudaMemsetAsync(target, 0, s->output_bytes, context->cuda.stream), err);
    memcpy(context->cuda.last_kernel, s->name, sizeof s->name); /* to be named if the device fails */
    cnn_status status = exec_run(context, exec, pointers, workspace, err);
    if (status == CNN_OK) status = cuda_phase(&context->cuda, "conv", err);
    return status == CNN_OK ? run_rest(context, s, args, scratch ? target : NULL, output, tail, err) : status;
}
