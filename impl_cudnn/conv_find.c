/* conv_find.c: every algorithm measured by cuDNN itself (cudnnFindConvolution...Ex), several times over, on operands
 * that are the device's for that long only; then the fastest that can be had. */
#include "impl_cudnn/conv_find.h"

#include "impl_cudnn/arena.h"
#include "impl_cudnn/conv_algorithms.h"
#include "impl_cudnn/conv_choose.h"

/* As much workspace as any algorithm may want, the limit and three quarters of what is free allowing. */
static cnn_status lend_workspace(cudnn_context *c, const conv_state *s, cudnn_arena *a, cnn_error *err)
{
    const size_t limit = cudnn_workspace_limit(c);
    size_t most = 0, bytes, free_bytes = 0;
    cnn_error refused;
    const cnn_status status = cuda_memory_free((cnn_context *)c, &free_bytes, err);
    if (status != CNN_OK) return status;
    for (int id = 0; id < CONV_ALGORITHMS; id++) {
        const int algo = conv_algo_of(id, s->dir);
        if (algo == CONV_NONE || conv_call_workspace(c, s, algo, &bytes, &refused) != CNN_OK) continue;
        if (bytes > most && bytes <= limit && bytes <= free_bytes / 4 * 3) most = bytes;
    }
    return cudnn_arena_workspace(c, a, most, err);
}

/* Keeps the least time of each algorithm and math type. */
static void merge(conv_perf *best, int *n_best, const conv_perf *list, int count)
{
    for (int i = 0; i < count; i++) {
        int at = 0;
        if (list[i].status != CUDNN_STATUS_SUCCESS || !(list[i].seconds >= 0.0)) continue;
        while (at < *n_best && !(best[at].algo == list[i].algo && best[at].math == list[i].math)) at++;
        if (at == *n_best) {
            if (at == CONV_PERFS_MAX) continue;
            best[(*n_best)++] = list[i];
        } else if (list[i].seconds < best[at].seconds) {
            best[at].seconds = list[i].seconds;
        }
    }
}

static void sort_by_time(conv_perf *list, int count)
{
    for (int i = 1; i < count; i++) {
        const conv_perf moved = list[i];
        int at = i;
        for (; at > 0 && list[at - 1].seconds > moved.seconds; at--) list[at] = list[at - 1];
        list[at] = moved;
    }
}

/* cuDNN measures each algorithm once a call, which is noisy: several calls, and the least time counts. */
static cnn_status measure(cudnn_context *c, conv_state *s, const cudnn_arena *a, cnn_error *err)
{
    const cnn_weighted_args *args = &a->args;
    const conv_buffers buffers = {.x = args->x,
                                  .w = args->w,
                                  .dy = args->dy,
                                  .y = args->y,
                                  .dx = args->dx,
                                  .dw = args->dw,
                                  .workspace = args->workspace,
                                  .workspace_bytes = a->workspace_bytes};
    const int64_t runs = c->cuda.knobs[CUDNN_KNOB_FIND_RUNS];
    conv_perf list[CONV_PERFS_MAX], best[CONV_PERFS_MAX];
    int count, n_best = 0;
    for (int64_t i = 0; i < runs; i++) {
        const cnn_status status = conv_call_find(c, s, &buffers, list, &count, err);
        if (status != CNN_OK) return status;
        merge(best, &n_best, list, count);
    }
    sort_by_time(best, n_best);
    return conv_settle_first(c, s, best, n_best, err);
}

static cnn_status measure_all(cudnn_context *c, conv_state *s, const cnn_problem *problem, cnn_dir dir, cnn_error *err)
{
    cudnn_arena a;
    cnn_status status = cudnn_arena_open(c, problem, dir, &a, err);
    if (status != CNN_OK) return status;
    status = lend_workspace(c, s, &a, err);
    if (status == CNN_OK) status = measure(c, s, &a, err);
    cudnn_arena_close(c, &a);
    return status;
}

cnn_status conv_choose_find(cudnn_context *c, const cnn_problem *problem, cnn_dir dir, conv_state **state,
                            cnn_error *err)
{
    cnn_status status = CNN_UNSUPPORTED;
    for (int filter = CONV_FILTER_TURNED; filter <= (int)conv_last_filter(problem); filter++) {
        status = conv_open(c, problem, dir, (conv_filter)filter, state, err);
        if (status != CNN_OK) return status;
        status = measure_all(c, *state, problem, dir, err);
        if (status == CNN_OK) return CNN_OK;
        conv_close(*state);
        *state = NULL;
        if (status != CNN_UNSUPPORTED) return status;
    }
    return status;
}
