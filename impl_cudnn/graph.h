/* graph.h: the algorithms `graph:*`, convolutions through cuDNN 9's graph (backend) API.
 *
 * From a problem to a kernel this API goes (one file for each step, from the ground up):
 *   graph_call      every object is a descriptor, made, filled with attributes, finalized
 *   graph_problem   tensors and operations -> an operation graph
 *   graph_engine    the graph -> its engines, numbered ways to compute it -> configurations, an engine's knobs set
 *   graph_notes     what cuDNN notes about an engine: is it precise and deterministic enough for the problem?
 *   graph_propose   which configurations the heuristics propose
 *   graph_plan      a configuration -> an execution plan, which is run with a variant pack: pointers by tensor
 *   graph_find      which of the proposals is taken
 * A finalized object no longer needs those that it was made from, so only the plan is kept.
 *
 * The legacy calls name eight ways to convolve; the graph API numbers its engines, dozens for each direction, and
 * serves every problem that one of them takes. Four kinds of algorithm come from it:
 *   graph:heuristic   the first configuration that cuDNN's heuristics propose and that fits the limits
 *   graph:find        their best proposals, measured in `prepare` by cuda_rank(); plan->choice names the one taken
 *   graph:engN        engine N with its default knobs, enumerated for the problem
 *   graph:bias_engN   the same, for the graph in which the forward pass adds the bias itself
 *   graph:fused_engN  ... in which it does the epilogue, too
 *
 * The implementation's face hands every algorithm for which
 * cudnn_graph_serves() to graph.c; plan->state is then a graph_state. */
#ifndef IMPL_CUDNN_GRAPH_H
#define IMPL_CUDNN_GRAPH_H

#include "impl_cudnn/context.h"

#include <cudnn_graph.h>

/* Algorithm ids. The implementation's own are below the first. Engine N is CUDNN_GRAPH_ENGINE + N. */
enum { CUDNN_GRAPH_HEURISTIC = 1000, CUDNN_GRAPH_FIND, CUDNN_GRAPH_ENGINE = 2000, CUDNN_GRAPH_BIAS_ENGINE = 4000 };

static inline bool cudnn_graph_serves(const cnn_algorithm *algorithm) { return algorithm->id >= CUDNN_GRAPH_HEURISTIC; }

/* ---- graph_call.c: every object of the API is an opaque descriptor with attributes: it is made, filled, then
 * finalized. A finalized one no longer needs the descriptors that it was made from. */

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
/* An attribute of a finalized one: one value, or up to `capacity`, of which *count are there. */
cnn_status graph_read_one(cudnnBackendDescriptor_t from, cudnnBackendAttributeName_t name,
                          cudnnBackendAttributeType_t type, void *value, cnn_error *err);
cnn_status graph_read(cudnnBackendDescriptor_t from, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                      int64_t capacity, int64_t *count, void *values, cnn_error *err);
void graph_drop(cudnnBackendDescriptor_t *descriptor); /* NULL is fine, and becomes so */

/* ---- graph_problem.c: a convolution as cuDNN's operation graph. */

/* Names of the tensors in a variant pack: x or dx, w or dw, y or dy, b, z. Then what flows from one operation to the
 * next, which is stored nowhere. */
enum { GRAPH_X = 1, GRAPH_W, GRAPH_Y, GRAPH_B, GRAPH_Z, GRAPH_INNER, GRAPH_TENSORS = 5 };

/* What stands behind the convolution, in the graph itself: nothing, the bias, or the epilogue with a bias if there is
 * one. Of a problem there are two graphs where it has a bias or an epilogue: the first, and that with all of it. */
typedef enum graph_tail { GRAPH_BARE, GRAPH_BIAS, GRAPH_FUSED } graph_tail;
graph_tail graph_tail_of(const cnn_conv_desc *conv, cnn_dir dir);

/* Alpha and beta are attributes of an operation, so the graph that adds to its output is another one. */
typedef struct graph_request {
    const cnn_conv_desc *conv;
    cnn_dir dir;
    graph_tail tail;
    bool add; /* beta is 1; not with a tail, where the convolution's own output stays inside the graph */
    const int64_t *knobs;
} graph_request;

cnn_status graph_build(cudnn_context *context, const graph_request *request, cudnnBackendDescriptor_t *graph,
                       cnn_error *err);

/* Whether the end of x is outside the graph's tensor (negative right padding): BWD_D must clear it apart. */
bool graph_leaves_rest(const cnn_conv_desc *conv);

/* ---- graph_engine.c: the engines of an operation graph, cuDNN's numbered ways to compute it, and their
 * configurations.
 *
 * A configuration is an engine with its knobs set. It crosses our functions as plain numbers (graph_config), from which
 * its descriptors are made again where they are needed. */

enum { GRAPH_KNOBS_MAX = CUDNN_KNOB_TYPE_COUNTS };

/* An engine and the knobs that differ from its defaults. */
typedef struct graph_config {
    int64_t engine;
    graph_tail tail; /* engines are numbered anew for each pattern of operations */
    int n_knobs;
    struct {
        cudnnBackendKnobType_t type;
        int64_t value;
    } knobs[GRAPH_KNOBS_MAX];
} graph_config;

cnn_status graph_engine_open(cudnnBackendDescriptor_t graph, int64_t index, cudnnBackendDescriptor_t *engine,
                             cnn_error *err);
cnn_status graph_config_open(cudnnBackendDescriptor_t graph, const graph_config *config, cudnnBackendDescriptor_t *made,
                             cnn_error *err);
/* Walks the engines in the order of their numbers: the first from *next on that takes its default knobs for this graph,
 * and *next is then behind it. False when none is left; err then holds why the last one was refused, if any was. */
bool graph_engine_next(cudnnBackendDescriptor_t graph, graph_tail tail, int64_t *next, graph_config *config,
                       cnn_error *err);
/* "eng7 k2=1 k13=0", "bias_eng7 ...", "fused_eng7 ...": the choice for the record. */
void graph_config_name(const graph_config *config, char *name, size_t size);
enum { GRAPH_PROPOSALS_MAX = 96 };
/* What the heuristics propose for the graph, best first, appended to list[*count]; doubles are left out. */
cnn_status graph_heuristics(cudnnBackendDescriptor_t graph, cudnnBackendHeurMode_t mode, graph_tail tail,
                            graph_config list[GRAPH_PROPOSALS_MAX], int *count, cnn_error *err);

/* ---- graph_notes.c: what cuDNN notes about an engine's numbers, and whether the problem's type allows them. */

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

/* ---- graph_propose.c: what cuDNN's heuristics propose for a problem, of what may be had. */

/* Appends one mode's proposals for one graph, best first, that are admitted and do not transform. A mode that has
 * nothing to say is no error while another may; err then holds the reason, in case none does. */
void graph_propose(cudnn_context *context, const graph_request *request, cudnnBackendHeurMode_t mode,
                   graph_config *list, int *count, cnn_error *err);
/* All modes, the graph with the tail first where there is one; at least one proposal, or why the last was refused. */
cnn_status graph_propose_all(cudnn_context *context, const cnn_request *request, graph_config list[GRAPH_PROPOSALS_MAX],
                             int *count, cnn_error *err);

/* ---- graph_plan.c: a configuration made ready to run. */

/* An execution plan, and the variant pack (its pointers) of the latest run. */
typedef struct graph_exec {
    cudnnBackendDescriptor_t plan, pack;
    size_t workspace_bytes;
    const void *pointers[GRAPH_TENSORS], *workspace;
} graph_exec;

/* plan->state. For beta = 1, which no epilogue has, there is a second execution plan: of the same engine, or, beside a
 * graph with the bias, of another one without it. Where there is none, the first plan writes to scratch memory behind
 * its workspace, which is then added to the output. */
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

/* ---- graph_find.c: graph:heuristic and graph:find. */

/* The first proposal for the problem that can be run within the limits. */
cnn_status graph_first(cudnn_context *context, const cnn_request *request, graph_state **state, cnn_error *err);
/* The fastest of the first few of either graph, with the tail and without, measured with temporary buffers. */
cnn_status graph_fastest(cudnn_context *context, const cnn_request *request, graph_state **state, cnn_error *err);

/* ---- graph.c: what the face calls. */

/* Engines that take this problem, as rows of their own; none for an operation other than conv. */
cnn_status cudnn_graph_enumerate(cnn_context *, const cnn_request *, cnn_algorithm *list, int capacity, int *count,
                                 cnn_error *);
cnn_status cudnn_graph_supports(cudnn_context *, const cnn_request *, cnn_error *);
cnn_status cudnn_graph_prepare(cudnn_context *, cnn_plan *, cnn_error *);

#endif
