/* conv_choose.c: which of cuDNN's algorithms a plan gets: the one named, the one that cuDNN's heuristics rank first, or
 * the one that was fastest when measured here. All must fit the workspace limit and the math, and be deterministic
 * where only that is asked for. */
#include "impl_cudnn/conv.h"

/* ---- What may be chosen. */

static cnn_status settle(cudnn_context *c, conv_state *s, int algo, cudnnMathType_t math, cnn_error *err)
{
    char name[CNN_NAME_MAX];
    conv_algo_name(s->dir, algo, name, sizeof name);
    if (cudnn_deterministic_only(c) && !conv_algo_deterministic(s->dir, algo))
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "%s is not deterministic, and only deterministic algorithms are asked for", name);
    return conv_settle(c, s, algo, math, err);
}

/* Under strict f32 the plain math is asked for, whatever the ranking says; else what it was ranked with. */
static bool math_of(const conv_state *s, const conv_perf *perf, cudnnMathType_t *math)
{
    const bool strict = conv_math_type(&s->d.t) == CUDNN_FMA_MATH;
    *math = strict ? CUDNN_FMA_MATH : perf->math;
    /* This one would also round f32 factors to f16, which no math of ours allows. */
    if (!strict && perf->math == CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION) return false;
    return !(strict && (perf->math == CUDNN_TENSOR_OP_MATH || perf->math == CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION));
}

/* The first of the list, best first, that can be had. */
static cnn_status settle_first(cudnn_context *c, conv_state *s, const conv_perf *list, int count, cnn_error *err)
{
    cudnnMathType_t math;
    CNN_FAIL(err, CNN_UNSUPPORTED, "cuDNN proposes no algorithm for this problem");
    for (int i = 0; i < count; i++) {
        if (list[i].status != CUDNN_STATUS_SUCCESS)
            CNN_FAIL(err, CNN_UNSUPPORTED, "no algorithm: cuDNN refuses the last with %s",
                     cudnnGetErrorString(list[i].status));
        else if (math_of(s, &list[i], &math) && settle(c, s, list[i].algo, math, err) == CNN_OK)
            return CNN_OK;
    }
    return err->status;
}

/* ---- Named, heuristic: with the weights turned where that is possible, else with the weights as they are. */

static conv_filter last_filter(const cnn_problem *problem)
{
    return problem->u.type.layout == CNN_NHWC ? CONV_FILTER_AS_STORED : CONV_FILTER_TURNED;
}

static cnn_status choose(cudnn_context *c, const cnn_problem *problem, cnn_dir dir, int algo, conv_state **state,
                         cnn_error *err)
{
    cnn_status status = CNN_UNSUPPORTED;
    for (int filter = CONV_FILTER_TURNED; filter <= (int)last_filter(problem); filter++) {
        conv_perf list[CONV_PERFS_MAX];
        int count = 0;
        status = conv_open(c, problem, dir, (conv_filter)filter, state, err);
        if (status != CNN_OK) return status;
        if (algo != CONV_NONE) {
            status = settle(c, *state, algo, conv_math_type(&(*state)->d.t), err);
        } else {
            status = conv_call_heuristics(c, *state, list, &count, err);
            if (status == CNN_OK) status = settle_first(c, *state, list, count, err);
        }
        if (status == CNN_OK) return CNN_OK;
        conv_close(*state);
        *state = NULL;
    }
    return status;
}

cnn_status conv_choose_named(cudnn_context *c, const cnn_problem *problem, cnn_dir dir, int algo, conv_state **state,
                             cnn_error *err)
{
    return choose(c, problem, dir, algo, state, err);
}

cnn_status conv_choose_heuristic(cudnn_context *c, const cnn_problem *problem, cnn_dir dir, conv_state **state,
                                 cnn_error *err)
{
    return choose(c, problem, dir, CONV_NONE, state, err);
}

/* ---- Find. */

/* As much workspace as any algorithm may want, the limit and three quarters of what is free allowing. */
static cnn_status lend_workspace(cudnn_context *c, const conv_state *s, conv_arena *a, cnn_error *err)
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
    return conv_arena_workspace(c, a, most, err);
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
static cnn_status measure(cudnn_context *c, conv_state *s, const conv_arena *a, cnn_error *err)
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
    return settle_first(c, s, best, n_best, err);
}

static cnn_status measure_all(cudnn_context *c, conv_state *s, const cnn_problem *problem, cnn_dir dir, cnn_error *err)
{
    conv_arena a;
    cnn_status status = conv_arena_open(c, problem, dir, &a, err);
    if (status != CNN_OK) return status;
    status = lend_workspace(c, s, &a, err);
    if (status == CNN_OK) status = measure(c, s, &a, err);
    conv_arena_close(c, &a);
    return status;
}

cnn_status conv_choose_find(cudnn_context *c, const cnn_problem *problem, cnn_dir dir, conv_state **state,
                            cnn_error *err)
{
    cnn_status status = CNN_UNSUPPORTED;
    for (int filter = CONV_FILTER_TURNED; filter <= (int)last_filter(problem); filter++) {
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
