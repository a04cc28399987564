/* graph_plan.h: a configuration made ready to run. */
#ifndef IMPL_CUDNN_GRAPH_PLAN_H
#define IMPL_CUDNN_GRAPH_PLAN_H

#include "impl_cudnn/graph_engine.h"
#include "impl_cudnn/graph_problem.h"
#include "impl_cudnn/tensor.h"

/* An execution plan, and the variant pack (its pointers) of the latest run. */
typedef struct graph_exec {
    cudnnBackendDescriptor_t plan, pack;
    size_t workspace_bytes;
    const void *pointers[GRAPH_TENSORS], *workspace;
} graph_exec;

/* plan->state. For beta = 1 there is a second execution plan: of the same engine, or, beside a graph with the bias, of
 * another one without it. Where there is none, the first plan writes to scratch memory behind its workspace, which is
 * then added to the output. */
typedef struct graph_state {
    cnn_conv_desc conv;
    cnn_dir dir;
    const int64_t *knobs; /* the request's, or the plan's */
    graph_config config;
    char name[CNN_NAME_MAX];                /* of the configuration */
    graph_exec store, add;                  /* beta 0, beta 1; add.plan is NULL where scratch is used */
    size_t scratch_offset, workspace_bytes; /* the offset from the aligned start */
    size_t output_bytes;
    bool as_launched;               /* graph:find could not record it */
    bool clear;                     /* the output, before the graph writes to a part of it */
    cudnnTensorDescriptor_t output; /* to add the scratch output to it; NULL where there is none */
} graph_state;

cnn_status graph_state_open(cudnn_context *context, const cnn_request *request, const graph_config *config,
                            graph_state **state, cnn_error *err);
void graph_state_close(graph_state *state);
/* The whole operation; args->workspace has workspace_bytes. */
cnn_status graph_state_run(cudnn_context *context, graph_state *state, const cnn_weighted_args *args, cnn_error *err);

#endif
