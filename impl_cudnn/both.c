/* both.c: see both.h. */
#include "impl_cudnn/both.h"

#include "impl_cudnn/conv.h"
#include "impl_cudnn/graph.h"

#include <stdlib.h>

enum { LEGACY, GRAPH, WAYS };
static const int64_t searches[WAYS] = {[LEGACY] = CONV_FIND, [GRAPH] = CUDNN_GRAPH_FIND};

cnn_status both_supports(cudnn_context *c, const cnn_request *r, cnn_error *err)
{
    cnn_algorithm own = *r->algorithm;
    cnn_request request = *r;
    cnn_error graph;
    request.algorithm = &own;
    own.id = searches[LEGACY];
    if (conv_supports(c, &request, err) == CNN_OK) return CNN_OK;
    own.id = searches[GRAPH]; /* where neither takes it, the legacy calls' reason is the plainer one */
    if (r->problem->op != CNN_OP_CONV3D && cudnn_graph_supports(c, &request, &graph) == CNN_OK) return CNN_OK;
    return err->status;
}

static void close(cnn_plan *own)
{
    if (own == NULL) return;
    if (cudnn_graph_serves(&own->algorithm))
        graph_state_close(own->state);
    else
        conv_release(own);
    free(own);
}

static cnn_status open_way(cudnn_context *c, const cnn_plan *plan, int way, cnn_plan **own, cnn_error *err)
{
    *own = malloc(sizeof **own);
    if (*own == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plan");
    **own = *plan;
    (*own)->algorithm.id = searches[way];
    const cnn_status status = way == GRAPH ? cudnn_graph_prepare(c, *own, err) : conv_prepare(c, *own, err);
    if (status == CNN_OK) return CNN_OK;
    free(*own);
    *own = NULL;
    return status;
}

typedef struct candidate {
    cudnn_context *c;
    const cnn_plan *own;
    const cnn_weighted_args *args;
} candidate;

static cnn_status run(void *user, cnn_error *err)
{
    const candidate *k = user;
    if (cudnn_graph_serves(&k->own->algorithm)) return graph_state_run(k->c, k->own->state, k->args, err);
    return conv_run(k->c, k->own, k->args, err);
}

static cnn_status rank(cudnn_context *c, const cnn_plan *plan, cnn_plan *const own[WAYS], int *best, cnn_error *err)
{
    const cuda_rank_rules rules = cudnn_find_rules(plan->knobs);
    const cnn_request request = cuda_request_of(plan);
    candidate list[WAYS];
    cuda_candidate candidates[WAYS];
    cudnn_arena a;
    size_t most = 0;
    cnn_status status = cudnn_arena_open(c, &request, &a, err);
    if (status != CNN_OK) return status;
    for (int way = 0; way < WAYS; way++) {
        if (own[way]->workspace_bytes > most) most = own[way]->workspace_bytes;
        list[way] = (candidate){c, own[way], &a.args};
        candidates[way] = (cuda_candidate){.run = run, .user = &list[way]};
    }
    status = cudnn_arena_workspace(c, &a, most, err);
    if (status == CNN_OK) status = cuda_rank((cnn_context *)c, candidates, WAYS, &rules, best, err);
    cudnn_arena_close(c, &a);
    return status;
}

/* What the search promised for all that it may choose becomes what the chosen one is held to. */
static void settle(cnn_plan *plan, cnn_plan *chosen, int way)
{
    plan->state = chosen;
    plan->workspace_bytes = chosen->workspace_bytes;
    plan->algorithm.flags = chosen->algorithm.flags;
    plan->algorithm.amplification = chosen->algorithm.amplification;
    if (way == LEGACY) {
        snprintf(plan->choice, sizeof plan->choice, "%s", chosen->choice);
        return;
    }
    plan->algorithm.flags &= ~(uint32_t)CNN_ALGO_TRANSFORMS; /* graph_propose() passes over those */
    plan->algorithm.amplification = 1.0;
    snprintf(plan->choice, sizeof plan->choice, "graph:%.*s", (int)(sizeof plan->choice - 8), chosen->choice);
}

cnn_status both_prepare(cudnn_context *c, cnn_plan *plan, cnn_error *err)
{
    cnn_plan *own[WAYS] = {NULL, NULL};
    cnn_error graph;
    int best = LEGACY;
    cnn_status status = open_way(c, plan, LEGACY, &own[LEGACY], err);
    if (status == CNN_DEVICE) return status;
    if (plan->problem.op != CNN_OP_CONV3D && open_way(c, plan, GRAPH, &own[GRAPH], &graph) == CNN_OK) status = CNN_OK;
    if (status != CNN_OK) return status;
    if (own[LEGACY] == NULL) best = GRAPH;
    if (own[LEGACY] != NULL && own[GRAPH] != NULL) status = rank(c, plan, own, &best, err);
    if (status == CNN_OK) settle(plan, own[best], best);
    for (int way = 0; way < WAYS; way++)
        if (status != CNN_OK || way != best) close(own[way]);
    return status;
}

void both_release(cnn_plan *plan)
{
    close(plan->state);
    plan->state = NULL;
}
