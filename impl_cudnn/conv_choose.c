/* conv_choose.c: which of cuDNN's algorithms a plan gets: the one named, the one that cuDNN's heuristics rank first, or
 * the fastest when measured (conv_find.c). All must fit the workspace limit and the math, and be deterministic where
 * only that is asked for. */
#include "impl_cudnn/conv.h"

#include "harness/cnn/shape.h"

/* ---- What may be chosen. */

static size_t align_up(size_t bytes) { return (bytes + CONV_ALIGN - 1) / CONV_ALIGN * CONV_ALIGN; }

/* The workspace: cuDNN's own, and behind it the turned weights. */
static cnn_status size_workspace(conv_state *s, const char *name, cnn_error *err)
{
    const size_t limit = cuda_workspace_limit(s->knobs);
    size_t bytes = 0;
    if (s->cudnn_bytes <= limit) bytes = align_up(s->cudnn_bytes);
    if (s->w_ours != NULL && s->cudnn_bytes <= limit) {
        s->weights_offset = bytes;
        bytes += align_up((size_t)(s->d.oc * (s->d.ic / s->d.g) * s->d.kh * s->d.kw) * cnn_dtype_size(s->d.t.dtype));
    }
    if (s->cudnn_bytes > limit || bytes > limit)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s asks for a workspace of %zu bytes, and the limit is %zu", name,
                        bytes > s->cudnn_bytes ? bytes : s->cudnn_bytes, limit);
    s->workspace_bytes = bytes > 0 ? bytes + CONV_ALIGN - CNN_ALIGN : 0; /* the harness aligns to CNN_ALIGN */
    return CNN_OK;
}

static cnn_status settle(cudnn_context *c, conv_state *s, int algo, cudnnMathType_t math, cnn_error *err)
{
    char name[CNN_NAME_MAX];
    conv_algo_name(s->dir, algo, name, sizeof name);
    if (cudnn_deterministic_only(s->knobs) && !conv_algo_deterministic(s->dir, algo))
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "%s is not deterministic, and only deterministic algorithms are asked for", name);
    if (s->deep && conv_algo_transforms(s->dir, algo))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s: no bound is known here for a transform of three dimensions", name);
    cnn_status status = cudnn_check_half(s->d.t.dtype, conv_algo_transforms(s->dir, algo),
                                         conv_algo_deterministic(s->dir, algo), name, err);
    if (status != CNN_OK) return status;
    CUDNN_TRY(c, cudnnSetConvolutionMathType(s->conv, math), err);
    status = conv_call_workspace(c, s, algo, &s->cudnn_bytes, err);
    if (status == CNN_OK) status = size_workspace(s, name, err);
    if (status == CNN_OK) s->algo = algo, s->math = math;
    return status;
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

cnn_status conv_settle(cudnn_context *c, conv_state *s, const conv_perf *perf, cnn_error *err)
{
    cudnnMathType_t math;
    if (perf->status != CUDNN_STATUS_SUCCESS)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "no algorithm: cuDNN refuses the last with %s",
                        cudnnGetErrorString(perf->status));
    if (!math_of(s, perf, &math))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "no algorithm: the last rounds factors further than math %s allows",
                        cnn_math_name(s->d.t.math));
    return settle(c, s, perf->algo, math, err);
}

/* ---- How: named, by the heuristics, by measurement. */

static cnn_status choose(cudnn_context *c, conv_state *s, const cnn_request *r, bool measured, cnn_error *err)
{
    const int algo = conv_algo_of(r->algorithm->id, r->dir);
    conv_perf list[CONV_PERFS_MAX];
    int count;
    if (measured) return conv_find(c, s, r, err);
    if (algo != CONV_NONE) return settle(c, s, algo, conv_math_type(&s->d.t), err);
    cnn_status status = conv_call_list(c, s, NULL, 0, list, &count, err);
    if (status != CNN_OK) return status;
    status = CNN_FAIL(err, CNN_UNSUPPORTED, "cuDNN proposes no algorithm for this problem");
    for (int i = 0; i < count && status != CNN_OK; i++) status = conv_settle(c, s, &list[i], err);
    return status;
}

static cnn_status check_named(const cnn_request *r, cnn_error *err)
{
    static const char *const what[CNN_DIR_COUNT] = {"forward", "backward data", "backward weights"};
    const int64_t id = r->algorithm->id;
    if (id == CONV_FIND || id == CONV_HEURISTIC || conv_algo_of(id, r->dir) != CONV_NONE) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "cuDNN has no algorithm %s for %s convolution", r->algorithm->name,
                    what[r->dir]);
}

/* With the weights turned where that is possible, else with the weights as they are: in NCHW these are the same. */
cnn_status conv_choose(cudnn_context *c, const cnn_request *r, bool search, conv_state **state, cnn_error *err)
{
    const bool measured = search && r->algorithm->id == CONV_FIND;
    const int attempts = r->problem->u.type.layout == CNN_NHWC ? 2 : 1;
    *state = NULL;
    cnn_status status = check_named(r, err);
    if (status != CNN_OK) return status;
    for (int i = 0; i < attempts; i++) {
        status = conv_open(c, r, i == 0, state, err);
        if (status != CNN_OK) return status;
        status = choose(c, *state, r, measured, err);
        if (status == CNN_OK) return CNN_OK;
        conv_close(*state);
        *state = NULL;
        if (measured && status != CNN_UNSUPPORTED) return status;
    }
    return status;
}
