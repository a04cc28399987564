/* graph_find.c: choosing an engine: the first that the heuristics propose and that can be had, or the fastest when
 * measured. */
#include "impl_cudnn/graph.h"

cnn_status graph_first(cudnn_context *context, const cnn_request *r, graph_state **state, cnn_error *err)
{
    graph_config list[GRAPH_PROPOSALS_MAX];
    int count;
    cnn_status status = graph_propose_all(context, r, list, &count, err);
    if (status != CNN_OK) return status;
    for (int i = 0; i < count; i++)
        if ((status = graph_state_open(context, r, &list[i], state, err)) == CNN_OK) break;
    return status;
}

/* ---- Measuring */

/* The first few proposals for each graph, with the tail and without. */
enum { GRAPH_FIND_EACH = 8, MOST = 2 * GRAPH_FIND_EACH };

typedef struct candidate {
    cudnn_context *context;
    graph_state *state;
    const cnn_weighted_args *args;
} candidate;

static cnn_status run(void *user, cnn_error *err)
{
    const candidate *k = user;
    return graph_state_run(k->context, k->state, k->args, err);
}

static int open_all(cudnn_context *context, const cnn_request *r, const graph_config *list, int count,
                    graph_state *states[MOST], cnn_error *err)
{
    int tried[2] = {0, 0}, opened = 0;
    for (int i = 0; i < count; i++) {
        const bool whole = list[i].tail != GRAPH_BARE;
        if (tried[whole] == GRAPH_FIND_EACH) continue;
        if (graph_state_open(context, r, &list[i], &states[opened], err) != CNN_OK) continue;
        tried[whole]++;
        opened++;
    }
    return opened;
}

/* One workspace serves all, for they run in turn. Those for which it is too small are closed. */
static cnn_status lend_workspace(cudnn_context *context, graph_state *states[MOST], int *count, cudnn_arena *a,
                                 cnn_error *err)
{
    size_t sizes[MOST];
    int kept = 0;
    for (int i = 0; i < *count; i++) sizes[i] = states[i]->workspace_bytes;
    const cnn_status status = cudnn_arena_lend(context, a, sizes, *count, err);
    if (status != CNN_OK) return status;
    for (int i = 0; i < *count; i++) {
        if (sizes[i] <= a->workspace_bytes)
            states[kept++] = states[i];
        else
            graph_state_close(states[i]);
    }
    if (kept < *count)
        CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the workspace of any engine that cuDNN's heuristics propose");
    *count = kept;
    return CNN_OK;
}

/* The fastest comes first. */
static cnn_status rank(cudnn_context *context, const int64_t *knobs, const cnn_weighted_args *args,
                       graph_state *states[MOST], int count, cnn_error *err)
{
    const cuda_rank_rules rules = cudnn_find_rules(knobs);
    candidate list[MOST];
    cuda_candidate candidates[MOST];
    int best;
    for (int i = 0; i < count; i++) {
        list[i] = (candidate){context, states[i], args};
        candidates[i] = (cuda_candidate){.run = run, .user = &list[i]};
    }
    const cnn_status status = cuda_rank((cnn_context *)context, candidates, count, &rules, &best, err);
    if (status != CNN_OK) return status;
    states[best] = states[0];
    states[0] = list[best].state;
    states[0]->as_launched = candidates[best].as_launched;
    return CNN_OK;
}

/* Memory for the operands comes first: what is then free is the engines'. */
cnn_status graph_fastest(cudnn_context *context, const cnn_request *r, graph_state **state, cnn_error *err)
{
    graph_config list[GRAPH_PROPOSALS_MAX];
    graph_state *states[MOST];
    cudnn_arena a;
    int count;
    *state = NULL;
    cnn_status status = graph_propose_all(context, r, list, &count, err);
    if (status != CNN_OK) return status;
    if ((status = cudnn_arena_open(context, r, &a, err)) != CNN_OK) return status;
    count = open_all(context, r, list, count, states, err);
    if (count > 0) status = lend_workspace(context, states, &count, &a, err);
    if (status == CNN_OK) status = count > 0 ? rank(context, r->knobs, &a.args, states, count, err) : err->status;
    if (status == CNN_OK) *state = states[0];
    for (int i = status == CNN_OK ? 1 : 0; i < count; i++) graph_state_close(states[i]);
    cudnn_arena_close(context, &a);
    return status;
}
