/* conv_choose.c: which of cuDNN's algorithms a plan gets: the one named, or the one that cuDNN's heuristics rank first.
 * Both must fit the workspace limit and the math, and be deterministic where only that is asked for. */
#include "impl_cudnn/conv_choose.h"

#include "harness/cnn/shape.h"
#include "impl_cudnn/conv_algorithms.h"

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
    CUDNN_TRY(c, cudnnSetConvolutionMathType(s->conv, math), err);
    cnn_status status = conv_call_workspace(c, s, algo, &s->cudnn_bytes, err);
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

/* The first of a list, best first, that may be had. */
static cnn_status settle_first(cudnn_context *c, conv_state *s, const conv_perf *list, int count, cnn_error *err)
{
    cnn_status status = CNN_FAIL(err, CNN_UNSUPPORTED, "cuDNN proposes no algorithm for this problem");
    for (int i = 0; i < count && status != CNN_OK; i++) status = conv_settle(c, s, &list[i], err);
    return status;
}

/* ---- Named, heuristic: with the weights turned where that is possible, else with the weights as they are. */

conv_filter conv_last_filter(const cnn_problem *problem)
{
    return problem->u.type.layout == CNN_NHWC ? CONV_FILTER_AS_STORED : CONV_FILTER_TURNED;
}

static cnn_status choose(cudnn_context *c, const cnn_request *r, int algo, conv_state **state, cnn_error *err)
{
    cnn_status status = CNN_UNSUPPORTED;
    for (int filter = CONV_FILTER_TURNED; filter <= (int)conv_last_filter(r->problem); filter++) {
        conv_perf list[CONV_PERFS_MAX];
        int count = 0;
        status = conv_open(c, r, (conv_filter)filter, state, err);
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

cnn_status conv_choose_named(cudnn_context *c, const cnn_request *r, int algo, conv_state **state, cnn_error *err)
{
    return choose(c, r, algo, state, err);
}

cnn_status conv_choose_heuristic(cudnn_context *c, const cnn_request *r, conv_state **state, cnn_error *err)
{
    return choose(c, r, CONV_NONE, state, err);
}
