/* conv_find.c: `legacy:find`: of cuDNN's named algorithms the fastest, on operands that are the device's for that long
 * only.
 *
 * cudnnFindConvolution...Ex() says which algorithms run at all, and with which math. Its times are of one launch each
 * by the host, so they give only the order in which ours are taken: cuda_rank()'s, of replays. */
#include "impl_cudnn/conv.h"

/* As much workspace as any algorithm may want, the limit allowing. */
static cnn_status lend_workspace(cudnn_context *c, const conv_state *s, cudnn_arena *a, cnn_error *err)
{
    const size_t limit = cuda_workspace_limit(s->knobs);
    size_t sizes[CONV_ALGORITHMS] = {0};
    cnn_error refused;
    for (int id = 0; id < CONV_ALGORITHMS; id++) {
        size_t bytes;
        const int algo = conv_algo_of(id, s->dir);
        if (algo == CONV_NONE || conv_call_workspace(c, s, algo, &bytes, &refused) != CNN_OK) continue;
        if (bytes <= limit) sizes[id] = bytes;
    }
    return cudnn_arena_lend(c, a, sizes, CONV_ALGORITHMS, err);
}

typedef struct candidate {
    cudnn_context *c;
    conv_state *s;
    conv_perf perf; /* as cuDNN told it */
    cudnnMathType_t math;
    const cnn_weighted_args *args;
    size_t workspace_bytes;
} candidate;

/* Algorithm and math type are set for each run: all candidates share one convolution. */
static cnn_status run(void *user, cnn_error *err)
{
    const candidate *k = user;
    k->s->algo = k->perf.algo;
    CUDNN_TRY(k->c, cudnnSetConvolutionMathType(k->s->conv, k->math), err);
    return conv_call_run(k->c, k->s, k->args, k->workspace_bytes, err);
}

/* What cuDNN itself passed over for want of workspace is settled, too: the limit may be what forbids it, or memory. */
static cnn_status settle_lent(cudnn_context *c, conv_state *s, const conv_perf *perf, size_t lent, cnn_error *err)
{
    char name[CNN_NAME_MAX];
    conv_perf wanted = *perf;
    if (cudnn_status_of(wanted.status) == CNN_OUT_OF_MEMORY) wanted.status = CUDNN_STATUS_SUCCESS;
    cnn_status status = conv_settle(c, s, &wanted, err);
    if (status != CNN_OK) return status;
    conv_algo_name(s->dir, s->algo, name, sizeof name);
    if (s->cudnn_bytes > lent)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%s wants a workspace of %zu bytes, and %zu are all that could be lent",
                        name, s->cudnn_bytes, lent);
    return perf->status == CUDNN_STATUS_SUCCESS ? CNN_OK : conv_settle(c, s, perf, err);
}

/* Those of cuDNN's list that may be had, each once; where there are none, err says why the first may not for which
 * memory is missing, or else the last. */
static int admit(cudnn_context *c, conv_state *s, const cudnn_arena *a, const conv_perf *perfs, int count,
                 candidate *list, cnn_error *err)
{
    int admitted = 0;
    cnn_error memory = {.status = CNN_OK};
    CNN_FAIL(err, CNN_UNSUPPORTED, "cuDNN finds no algorithm for this problem");
    for (int i = 0; i < count; i++) {
        int at = 0;
        const cnn_status status = settle_lent(c, s, &perfs[i], a->workspace_bytes, err);
        if (status == CNN_OUT_OF_MEMORY && memory.status == CNN_OK) memory = *err;
        if (status != CNN_OK) continue;
        while (at < admitted && !(list[at].perf.algo == s->algo && list[at].math == s->math)) at++;
        if (at < admitted) continue;
        list[admitted++] = (candidate){c, s, perfs[i], s->math, &a->args, s->cudnn_bytes};
    }
    if (memory.status != CNN_OK) *err = memory;
    return admitted;
}

static cnn_status measure(cudnn_context *c, conv_state *s, const cudnn_arena *a, cnn_error *err)
{
    const cuda_rank_rules rules = cudnn_find_rules(s->knobs);
    conv_perf perfs[CONV_PERFS_MAX];
    candidate list[CONV_PERFS_MAX];
    cuda_candidate candidates[CONV_PERFS_MAX];
    int count, best;
    cnn_status status = conv_call_list(c, s, &a->args, a->workspace_bytes, perfs, &count, err);
    if (status != CNN_OK) return status;
    count = admit(c, s, a, perfs, count, list, err);
    if (count == 0) return err->status;
    for (int i = 0; i < count; i++) candidates[i] = (cuda_candidate){.run = run, .user = &list[i]};
    status = cuda_rank((cnn_context *)c, candidates, count, &rules, &best, err);
    if (status != CNN_OK) return status;
    s->as_launched = candidates[best].as_launched;
    return conv_settle(c, s, &list[best].perf, err);
}

cnn_status conv_find(cudnn_context *c, conv_state *s, const cnn_request *r, cnn_error *err)
{
    cudnn_arena a;
    cnn_status status = cudnn_arena_open(c, r, &a, err);
    if (status != CNN_OK) return status;
    status = lend_workspace(c, s, &a, err);
    if (status == CNN_OK) status = measure(c, s, &a, err);
    cudnn_arena_close(c, &a);
    return status;
}
