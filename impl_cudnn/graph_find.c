/* graph_find.c: choosing an engine: the first that the heuristics propose and that can be had, or the fastest when
 * measured. */
#include "impl_cudnn/graph_find.h"

#include "impl_cudnn/arena.h"
#include "impl_cudnn/graph_propose.h"

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

enum { GRAPH_FIND_EACH = 8 };

/* The first few proposals for each graph, with the bias and without, opened; then those for whose workspace there is
 * memory. */
typedef struct candidates {
    cudnn_context *context;
    graph_state *list[2 * GRAPH_FIND_EACH];
    cnn_weighted_args args;
    int count;
} candidates;

typedef struct candidate {
    const candidates *all;
    graph_state *state;
} candidate;

static cnn_status run(void *user, cnn_error *err)
{
    const candidate *k = user;
    return graph_state_run(k->all->context, k->state, &k->all->args, err);
}

static void open_all(candidates *k, const cnn_request *r, const graph_config *list, int count, cnn_error *err)
{
    int tried[2] = {0, 0};
    for (int i = 0; i < count; i++) {
        graph_state *state;
        if (tried[list[i].bias] == GRAPH_FIND_EACH) continue;
        if (graph_state_open(k->context, r, &list[i], &state, err) != CNN_OK) continue;
        tried[list[i].bias]++;
        k->list[k->count++] = state;
    }
}

static void close_all(candidates *k)
{
    for (int i = 0; i < k->count; i++) graph_state_close(k->list[i]);
}

/* One workspace serves all, for they run in turn. */
static cnn_status lend_workspace(candidates *k, cudnn_arena *a, cnn_error *err)
{
    size_t sizes[2 * GRAPH_FIND_EACH];
    int kept = 0;
    for (int i = 0; i < k->count; i++) sizes[i] = k->list[i]->workspace_bytes;
    const cnn_status status = cudnn_arena_lend(k->context, a, sizes, k->count, err);
    if (status != CNN_OK) return status;
    for (int i = 0; i < k->count; i++) {
        if (sizes[i] <= a->workspace_bytes)
            k->list[kept++] = k->list[i];
        else
            graph_state_close(k->list[i]);
    }
    if (kept < k->count)
        CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the workspace of any engine that cuDNN's heuristics propose");
    k->count = kept;
    k->args = a->args;
    return CNN_OK;
}

static cnn_status fastest(candidates *k, const int64_t *knobs, graph_state **state, cnn_error *err)
{
    const cuda_rank_rules rules = cudnn_find_rules(knobs);
    candidate list[2 * GRAPH_FIND_EACH];
    cuda_entrant entrants[2 * GRAPH_FIND_EACH];
    int best;
    for (int i = 0; i < k->count; i++) {
        list[i] = (candidate){k, k->list[i]};
        entrants[i] = (cuda_entrant){.run = run, .user = &list[i]};
    }
    const cnn_status status = cuda_rank((cnn_context *)k->context, entrants, k->count, &rules, &best, err);
    if (status != CNN_OK) return status;
    *state = k->list[best];
    (*state)->as_launched = entrants[best].as_launched;
    k->list[best] = k->list[--k->count];
    return CNN_OK;
}

/* Memory for the operands comes first: what is then free is the engines'. */
static cnn_status open_and_rank(candidates *k, const cnn_request *r, graph_state **state, cnn_error *err)
{
    graph_config list[GRAPH_PROPOSALS_MAX];
    cudnn_arena a;
    int count;
    cnn_status status = graph_propose_all(k->context, r, list, &count, err);
    if (status != CNN_OK) return status;
    if ((status = cudnn_arena_open(k->context, r, &a, err)) != CNN_OK) return status;
    open_all(k, r, list, count, err);
    if (k->count > 0) status = lend_workspace(k, &a, err);
    if (status == CNN_OK) status = k->count > 0 ? fastest(k, r->knobs, state, err) : err->status;
    cudnn_arena_close(k->context, &a);
    return status;
}

cnn_status graph_fastest(cudnn_context *context, const cnn_request *r, graph_state **state, cnn_error *err)
{
    candidates k = {.context = context};
    *state = NULL;
    const cnn_status status = open_and_rank(&k, r, state, err);
    close_all(&k);
    return status;
}
