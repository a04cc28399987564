/* graph_find.c: choosing an engine: what the heuristics propose, the first of it that runs, the fastest of it.
 *
 * With a bias the forward pass can be one graph of two operations or two calls; both are proposed, and measuring
 * decides. The temporary buffers hold a small number everywhere: the clocks of a GPU that multiplies zeros are not
 * those of one that works. */
#include "harness/shape.h"
#include "impl_cudnn/graph_parts.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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

/* All modes, the graph with the bias first where there is one; at least one proposal, or why the last was refused. */
static cnn_status propose_all(cudnn_context *context, const cnn_conv_desc *conv, cnn_dir dir, graph_config *list,
                              int *count, cnn_error *err)
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

cnn_status graph_first(cudnn_context *context, const cnn_conv_desc *conv, cnn_dir dir, graph_state **state,
                       cnn_error *err)
{
    graph_config list[GRAPH_PROPOSALS_MAX];
    int count;
    cnn_status status = propose_all(context, conv, dir, list, &count, err);
    if (status != CNN_OK) return status;
    for (int i = 0; i < count; i++)
        if ((status = graph_state_open(context, conv, dir, &list[i], state, err)) == CNN_OK) break;
    return status;
}

/* ---- Measuring */

typedef struct buffers {
    void *memory[CNN_MAX_OPERANDS];
    int count;
    cnn_weighted_args args;
} buffers;

static void free_buffers(cudnn_context *context, buffers *b)
{
    for (int i = 0; i < b->count; i++) cuda_free((cnn_context *)context, b->memory[i]);
}

static void point(cnn_weighted_args *args, const char *name, void *memory)
{
    if (strcmp(name, "x") == 0) args->x = memory;
    if (strcmp(name, "w") == 0) args->w = memory;
    if (strcmp(name, "b") == 0) args->b = memory;
    if (strcmp(name, "dy") == 0) args->dy = memory;
    if (strcmp(name, "y") == 0) args->y = memory;
    if (strcmp(name, "dx") == 0) args->dx = memory;
    if (strcmp(name, "dw") == 0) args->dw = memory;
    if (strcmp(name, "db") == 0) args->db = memory;
}

static cnn_status make_buffers(cudnn_context *context, const cnn_problem *problem, cnn_dir dir, buffers *b,
                               cnn_error *err)
{
    enum { SMALL = 0x3c }; /* in every byte: 0.011 as f32, 1.5e-18 as f64 */
    cnn_operand list[CNN_MAX_OPERANDS];
    const int count = cnn_operands(problem, dir, list, err);
    if (count < 0) return err->status;
    for (int i = 0; i < count; i++) {
        cnn_status status = cuda_alloc((cnn_context *)context, list[i].bytes, &b->memory[i], err);
        if (status != CNN_OK) return status;
        b->count++;
        point(&b->args, list[i].name, b->memory[i]);
        if ((status = cuda_fill((cnn_context *)context, b->memory[i], SMALL, list[i].bytes, err)) != CNN_OK)
            return status;
    }
    return CNN_OK;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of as many samples as the knob find_runs says, of a few runs each, so that a single slow launch does not
 * decide. */
static cnn_status measure(cudnn_context *context, graph_state *state, cnn_weighted_args args, double *seconds,
                          cnn_error *err)
{
    enum { WARM = 2, RUNS = 4, SAMPLES_MAX = 100 };
    cnn_context *c = (cnn_context *)context;
    double samples[SAMPLES_MAX];
    const int64_t asked = context->cuda.knobs[CUDNN_KNOB_FIND_RUNS];
    const int count = asked < SAMPLES_MAX ? (int)asked : SAMPLES_MAX;
    cnn_status status = CNN_OK;
    if (state->workspace_bytes > 0) status = cuda_alloc(c, state->workspace_bytes, &args.workspace, err);
    if (status != CNN_OK) return status;
    for (int i = 0; i < WARM && status == CNN_OK; i++) status = graph_state_run(context, state, &args, err);
    if (status == CNN_OK) status = cuda_sync(c, err);
    for (int s = 0; s < count && status == CNN_OK; s++) {
        status = cuda_timer_start(c, err);
        for (int i = 0; i < RUNS && status == CNN_OK; i++) status = graph_state_run(context, state, &args, err);
        if (status == CNN_OK) status = cuda_timer_stop(c, &samples[s], err);
    }
    if (args.workspace != NULL) {
        cnn_error ignored; /* the first error is the one to tell; nothing may still use the memory */
        (void)cuda_sync(c, &ignored);
        cuda_free(c, args.workspace);
    }
    if (status != CNN_OK) return status;
    qsort(samples, (size_t)count, sizeof samples[0], by_size);
    *seconds = samples[count / 2] / RUNS;
    return CNN_OK;
}

/* Measures the first few proposals of each graph; one that fails is passed over, unless it took the device with it. */
static cnn_status race(cudnn_context *context, const cnn_conv_desc *conv, cnn_dir dir, const graph_config *list,
                       int count, const buffers *b, graph_state **best, cnn_error *err)
{
    enum { EACH = 8 };
    int tried[2] = {0, 0};
    double least = INFINITY, seconds;
    for (int i = 0; i < count; i++) {
        graph_state *state = NULL;
        if (tried[list[i].bias] == EACH || graph_state_open(context, conv, dir, &list[i], &state, err) != CNN_OK)
            continue;
        tried[list[i].bias]++;
        const cnn_status status = measure(context, state, b->args, &seconds, err);
        if (status == CNN_OK && seconds < least) {
            graph_state_close(*best);
            *best = state;
            least = seconds;
            continue;
        }
        graph_state_close(state);
        if (context->cuda.dead) return status;
    }
    return *best != NULL ? CNN_OK : err->status;
}

cnn_status graph_fastest(cudnn_context *context, const cnn_problem *problem, cnn_dir dir, graph_state **state,
                         cnn_error *err)
{
    graph_config list[GRAPH_PROPOSALS_MAX];
    buffers b = {.count = 0};
    int count;
    const cnn_conv_desc *conv = &problem->u.conv;
    *state = NULL;
    cnn_status status = propose_all(context, conv, dir, list, &count, err);
    if (status != CNN_OK) return status;
    status = make_buffers(context, problem, dir, &b, err);
    if (status == CNN_OK) status = race(context, conv, dir, list, count, &b, state, err);
    free_buffers(context, &b);
    if (status == CNN_OK) return CNN_OK;
    graph_state_close(*state);
    *state = NULL;
    return status;
}
