/* graph_find.c: choosing an engine: the first that the heuristics propose and that can be had, or the fastest when
 * measured. */
#include "impl_cudnn/graph_find.h"

#include "impl_cudnn/arena.h"
#include "impl_cudnn/graph_propose.h"

#include <math.h>
#include <stdlib.h>

cnn_status graph_first(cudnn_context *context, const cnn_conv_desc *conv, cnn_dir dir, graph_state **state,
                       cnn_error *err)
{
    graph_config list[GRAPH_PROPOSALS_MAX];
    int count;
    cnn_status status = graph_propose_all(context, conv, dir, list, &count, err);
    if (status != CNN_OK) return status;
    for (int i = 0; i < count; i++)
        if ((status = graph_state_open(context, conv, dir, &list[i], state, err)) == CNN_OK) break;
    return status;
}

/* ---- Measuring */

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
                       int count, const cudnn_arena *a, graph_state **best, cnn_error *err)
{
    enum { EACH = 8 };
    int tried[2] = {0, 0};
    double least = INFINITY, seconds;
    for (int i = 0; i < count; i++) {
        graph_state *state = NULL;
        if (tried[list[i].bias] == EACH || graph_state_open(context, conv, dir, &list[i], &state, err) != CNN_OK)
            continue;
        tried[list[i].bias]++;
        const cnn_status status = measure(context, state, a->args, &seconds, err);
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
    cudnn_arena a;
    int count;
    const cnn_conv_desc *conv = &problem->u.conv;
    *state = NULL;
    cnn_status status = graph_propose_all(context, conv, dir, list, &count, err);
    if (status != CNN_OK) return status;
    if ((status = cudnn_arena_open(context, problem, dir, &a, err)) != CNN_OK) return status;
    status = race(context, conv, dir, list, count, &a, state, err);
    cudnn_arena_close(context, &a);
    if (status == CNN_OK) return CNN_OK;
    graph_state_close(*state);
    *state = NULL;
    return status;
}
