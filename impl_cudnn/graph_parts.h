/* graph_parts.h: what the files of the graph API share among themselves.
 *
 * From a problem to a kernel the backend API goes: tensors and operations -> operation graph -> engine (one of its
 * numbered ways to compute the graph) -> engine configuration (the engine's knobs set) -> execution plan. Every object
 * is an opaque descriptor with attributes, made, filled and then finalized; a finalized one no longer needs the
 * descriptors that it was made from, so only the graph and the plan are kept. A configuration crosses our functions as
 * plain numbers (graph_config), from which its descriptors are made again where they are needed. */
#ifndef IMPL_CUDNN_GRAPH_PARTS_H
#define IMPL_CUDNN_GRAPH_PARTS_H

#include "impl_cudnn/cudnn.h"
#include "impl_cudnn/graph.h"

#include <cudnn_graph.h>

/* ---- graph_call.c: descriptors, and cuDNN's reasons in words. */

/* CNN_OK, or cuDNN's status and its own reason behind `what`, the step that failed: CNN_UNSUPPORTED where cuDNN refuses
 * the problem, CNN_OUT_OF_MEMORY, CNN_DEVICE. */
cnn_status graph_check(cudnnStatus_t status, const char *what, cnn_error *err);

/* A descriptor being made. The first failure stays in `status`; what follows it is passed over. */
typedef struct graph_maker {
    cudnnBackendDescriptor_t made;
    const char *what;
    cnn_status status;
    cnn_error *err;
} graph_maker;

graph_maker graph_make(cudnnBackendDescriptorType_t type, const char *what, cnn_error *err);
void graph_set(graph_maker *maker, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
               const void *values);
void graph_set_int64(graph_maker *maker, cudnnBackendAttributeName_t name, int64_t value);
void graph_set_part(graph_maker *maker, cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t part);
/* Finalizes: *made is the descriptor, or NULL on failure. */
cnn_status graph_finish(graph_maker *maker, cudnnBackendDescriptor_t *made);
void graph_drop(cudnnBackendDescriptor_t *descriptor); /* NULL is fine, and becomes so */

/* ---- graph_problem.c: the operation graph. */

/* Names of the tensors in a variant pack: x or dx, w or dw, y or dy, b, and what flows from convolution to bias. */
enum { GRAPH_X = 1, GRAPH_W, GRAPH_Y, GRAPH_B, GRAPH_INNER, GRAPH_TENSORS = 4 };

/* Alpha and beta are attributes of an operation, so the graph that adds to its output is another one. */
typedef struct graph_request {
    const cnn_conv_desc *conv;
    cnn_dir dir;
    bool bias; /* FWD: the graph adds the bias too */
    bool add;  /* beta is 1; not with bias, where the convolution's own output stays inside the graph */
} graph_request;

cnn_status graph_build(cudnn_context *context, const graph_request *request, cudnnBackendDescriptor_t *graph,
                       cnn_error *err);

/* Whether the end of x is outside the graph's tensor (negative right padding): BWD_D must clear it apart. */
bool graph_leaves_rest(const cnn_conv_desc *conv);

/* ---- graph_engine.c: engines, their notes, the heuristics. */

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

/* What cuDNN notes about an engine, in the harness's terms. */
typedef struct graph_traits {
    uint32_t flags; /* CNN_ALGO_* */
    double amplification;
    bool tensor_cores, converts, reduced; /* TF32 products; f16 products; sums in less than f32 */
    const char *doc;
} graph_traits;

cnn_status graph_engine_count(cudnnBackendDescriptor_t graph, int64_t *count, cnn_error *err);
cnn_status graph_engine_open(cudnnBackendDescriptor_t graph, int64_t index, cudnnBackendDescriptor_t *engine,
                             cnn_error *err);
cnn_status graph_config_open(cudnnBackendDescriptor_t graph, const graph_config *config, cudnnBackendDescriptor_t *made,
                             cnn_error *err);
/* "eng7 k2=1 k13=0", or "bias_eng7 ..." : the choice for the record. */
void graph_config_name(const graph_config *config, char *name, size_t size);
enum { GRAPH_PROPOSALS_MAX = 96 };
/* What the heuristics propose for the graph, best first, appended to list[*count]; doubles are left out. */
cnn_status graph_heuristics(cudnnBackendDescriptor_t graph, cudnnBackendHeurMode_t mode, bool bias, graph_config *list,
                            int capacity, int *count, cnn_error *err);

/* ---- graph_notes.c */
cnn_status graph_config_traits(cudnnBackendDescriptor_t graph, const graph_request *request, const graph_config *config,
                               graph_traits *traits, cnn_error *err);
/* CNN_UNSUPPORTED where the arithmetic is less precise than the type allows, or not deterministic when only that is
 * asked for, or where the engine is known to compute something else. */
cnn_status graph_config_admit(cudnn_context *context, cudnnBackendDescriptor_t graph, const graph_request *request,
                              const graph_config *config, graph_traits *traits, cnn_error *err);

/* ---- graph_plan.c: a configuration made ready to run. */

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
    graph_config config;
    char name[CNN_NAME_MAX];                /* of the configuration */
    graph_exec store, add;                  /* beta 0, beta 1; add.plan is NULL where scratch is used */
    size_t scratch_offset, workspace_bytes; /* the offset from the aligned start */
    size_t output_bytes;
    bool clear; /* the output, before the graph writes to a part of it */
    /* for what the legacy calls do, NULL where none is needed: adding the bias, db, adding the scratch output */
    cudnnTensorDescriptor_t y, bias, output;
} graph_state;

cnn_status graph_state_open(cudnn_context *context, const cnn_conv_desc *conv, cnn_dir dir, const graph_config *config,
                            graph_state **state, cnn_error *err);
void graph_state_close(graph_state *state);
/* The whole operation; args->workspace has workspace_bytes. */
cnn_status graph_state_run(cudnn_context *context, graph_state *state, const cnn_weighted_args *args, cnn_error *err);

/* ---- graph_find.c */
/* Appends one mode's proposals for one graph, best first, that are admitted and do not transform. A mode that has
 * nothing to say is no error while another may; err then holds the reason, in case none does. */
void graph_propose(cudnn_context *context, const graph_request *request, cudnnBackendHeurMode_t mode,
                   graph_config *list, int *count, cnn_error *err);
/* The first proposal for the problem that can be run within the limits. */
cnn_status graph_first(cudnn_context *context, const cnn_conv_desc *conv, cnn_dir dir, graph_state **state,
                       cnn_error *err);
/* The fastest of the first few, measured with temporary buffers. */
cnn_status graph_fastest(cudnn_context *context, const cnn_problem *problem, cnn_dir dir, graph_state **state,
                         cnn_error *err);

#endif
