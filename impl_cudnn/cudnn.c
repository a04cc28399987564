/* cudnn.c: impl_cudnn's face: its tables, its context, and the one struct through which the harness knows it.
 *
 * The context is a CUDA context with cuDNN's handle on its stream. An algorithm's id says whose it is: fc.h's, conv.h's
 * below OTHER_POINTWISE, other.h's below CUDNN_GRAPH_HEURISTIC, graph.h's from there. */
#include "harness/names.h"
#include "harness/shape.h"
#include "impl_cudnn/conv.h"
#include "impl_cudnn/fc.h"
#include "impl_cudnn/graph.h"
#include "impl_cudnn/other.h"

#define BIT(op) (1u << CNN_OP_##op)
#define WEIGHTED (BIT(CONV) | BIT(FC))
#define EVERY_OTHER                                                                                                    \
    (BIT(POOL) | BIT(ACT) | BIT(LOSS) | BIT(DROPOUT) | BIT(ADD) | BIT(CONCAT) | BIT(BATCHNORM) | BIT(OPTIMIZER))
#define BY_CUDNN (BIT(POOL) | BIT(ACT) | BIT(LOSS) | BIT(DROPOUT) | BIT(BATCHNORM))

enum { NOTHING = 0, DETERMINISTIC = CNN_ALGO_DETERMINISTIC };

/* What the searches settle on is not known beforehand, so they promise no more than the least of what they choose from;
 * with the knob deterministic_only they choose deterministic ones. */
static const cnn_algorithm algorithms[] = {
    {"cublas", "one matrix product by cuBLAS", BIT(FC), CNN_ALGO_DETERMINISTIC, 1, FC_CUBLAS},
    {"heuristic", "what cuDNN's heuristics rank first, of what fits the limits", BIT(CONV), CNN_ALGO_TRANSFORMS,
     CONV_AMPLIFICATION, CONV_HEURISTIC},
    {"find", "what is fastest when measured, of what fits the limits", BIT(CONV), CNN_ALGO_TRANSFORMS,
     CONV_AMPLIFICATION, CONV_FIND},
#define ALGORITHM(id, name, flags, amplification, fwd, bwd_d, bwd_w, doc)                                              \
    {name, doc, WEIGHTED, flags, amplification, CONV_##id},
#include "impl_cudnn/conv_algorithms.inc"
#undef ALGORITHM
    CUDNN_GRAPH_ROWS,
    {"pointwise", "the kernels that all CUDA implementations share", EVERY_OTHER, CNN_ALGO_DETERMINISTIC, 1,
     OTHER_POINTWISE},
    {"cudnn", "cuDNN's own call, where it computes the same", BY_CUDNN, CNN_ALGO_DETERMINISTIC, 1, OTHER_CUDNN},
};

static const cnn_knob knobs[] = {
#define KNOB(id, name, doc, min, max, def) {name, doc, min, max, def, NULL, 0},
#include "harness/cuda/knobs.inc"
#include "impl_cudnn/knobs.inc"
#undef KNOB
};

static bool is_cublas(const cnn_algorithm *algorithm) { return algorithm->id == FC_CUBLAS; }
static bool is_weighted(const cnn_problem *problem) { return problem->op == CNN_OP_CONV || problem->op == CNN_OP_FC; }

/* ---- Can it run, opening, closing. */

/* cuDNN 9 is one small library that loads the others when they are first needed; the checks make it load them. */
static cnn_status check_library(cnn_error *err)
{
    const size_t version = cudnnGetVersion();
    if (version / 10000 != CUDNN_MAJOR || version < CUDNN_MAJOR * 10000 + CUDNN_MINOR * 100)
        return CNN_FAIL(err, CNN_UNAVAILABLE,
                        "built for cuDNN %d.%d, but the library found is %zu.%zu.%zu: install %d.%d or newer of %d.x, "
                        "or build again",
                        CUDNN_MAJOR, CUDNN_MINOR, version / 10000, version / 100 % 100, version % 100, CUDNN_MAJOR,
                        CUDNN_MINOR, CUDNN_MAJOR);
    const struct {
        const char *library;
        cudnnStatus_t status;
    } parts[] = {{"graph", cudnnGraphVersionCheck()}, {"ops", cudnnOpsVersionCheck()}, {"cnn", cudnnCnnVersionCheck()}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].status != CUDNN_STATUS_SUCCESS)
            return CNN_FAIL(err, CNN_UNAVAILABLE,
                            "cuDNN's library libcudnn_%s is missing or of another version than libcudnn (%s): install "
                            "all of one cuDNN",
                            parts[i].library, cudnnGetErrorString(parts[i].status));
    return CNN_OK;
}

static cnn_status probe(cnn_error *err)
{
    const cnn_status status = cuda_probe(err);
    return status == CNN_OK ? check_library(err) : status;
}

static void close_context(cnn_context *context)
{
    cudnn_context *c = (cudnn_context *)context;
    if (c != NULL) cudnn_fc_close(c);
    if (c != NULL && c->handle != NULL) (void)cudnnDestroy(c->handle);
    cuda_context_close(context);
}

static cnn_status open_handle(cudnn_context *c, cnn_error *err)
{
    CUDNN_TRY(c, cudnnCreate(&c->handle), err);
    CUDNN_TRY(c, cudnnSetStream(c->handle, c->cuda.stream), err);
    return cudnn_fc_open(c, err);
}

static cnn_status open_context(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    cnn_status status = cuda_context_open(params, knobs, CUDNN_KNOB_COUNT, sizeof(cudnn_context), context, err);
    if (status != CNN_OK) return status;
    if ((status = open_handle((cudnn_context *)*context, err)) == CNN_OK) return CNN_OK;
    close_context(*context);
    *context = NULL;
    return status;
}

static void describe(cnn_context *context, cnn_put_fn *put, void *user)
{
    const size_t version = cudnnGetVersion(), cudart = cudnnGetCudartVersion();
    char text[32];
    cuda_describe(context, put, user);
    snprintf(text, sizeof text, "%zu.%zu.%zu", version / 10000, version / 100 % 100, version % 100);
    put(user, "cudnn", text);
    snprintf(text, sizeof text, "%zu.%zu", cudart / 1000, cudart % 1000 / 10);
    put(user, "cudnn_cuda", text);
}

/* ---- Plans. */

static cnn_status check_type(const cnn_problem *problem, cnn_dir dir, const cnn_algorithm *algorithm, cnn_error *err)
{
    const cnn_type *t = &problem->u.type;
    if (!(cnn_op_dirs(problem) & 1u << dir))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s has no direction %s", cnn_op_name(problem->op), cnn_dir_name(dir));
    if (!(algorithm->ops & 1u << problem->op))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "algorithm %s does not serve %s", algorithm->name,
                        cnn_op_name(problem->op));
    if (t->dtype != CNN_F32 && t->dtype != CNN_F64)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "dtype %d: impl cudnn computes in f32 and f64", (int)t->dtype);
    if (t->math == CNN_MATH_F32 || (t->math == CNN_MATH_TF32 && t->dtype == CNN_F32)) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "math %s with dtype %s: cuDNN's legacy calls offer f32, and tf32 for f32",
                    cnn_math_name(t->math), cnn_dtype_name(t->dtype));
}

static cnn_status supports(cnn_context *context, const cnn_problem *problem, cnn_dir dir,
                           const cnn_algorithm *algorithm, cnn_error *err)
{
    cudnn_context *c = (cudnn_context *)context;
    if (cuda_enter(&c->cuda, err) != CNN_OK) return err->status = CNN_UNSUPPORTED;
    if (cudnn_graph_serves(algorithm)) return cudnn_graph_supports(context, problem, dir, algorithm, err);
    const cnn_status status = check_type(problem, dir, algorithm, err);
    if (status != CNN_OK) return status;
    if (is_cublas(algorithm)) return cudnn_fc_supports(&problem->u.fc, err);
    return is_weighted(problem) ? conv_supports(c, problem, dir, algorithm, err)
                                : other_supports(c, problem, dir, algorithm, err);
}

/* Of conv and FC `prepare` says it, when cuDNN has been asked. */
static cnn_status workspace(cnn_context *context, const cnn_problem *problem, cnn_dir dir,
                            const cnn_algorithm *algorithm, size_t *bytes, cnn_error *err)
{
    *bytes = 0;
    if (is_weighted(problem)) return CNN_OK;
    return other_workspace((cudnn_context *)context, problem, dir, algorithm, bytes, err);
}

static cnn_status prepare(cnn_context *context, cnn_plan *plan, cnn_error *err)
{
    cudnn_context *c = (cudnn_context *)context;
    const cnn_status status = cuda_enter(&c->cuda, err);
    if (status != CNN_OK) return status;
    if (cudnn_graph_serves(&plan->algorithm)) return cudnn_graph_prepare(context, plan, err);
    if (is_cublas(&plan->algorithm)) return CNN_OK;
    return is_weighted(&plan->problem) ? conv_prepare(c, plan, err) : other_prepare(c, plan, err);
}

static void release(cnn_context *context, cnn_plan *plan)
{
    if (cudnn_graph_serves(&plan->algorithm))
        cudnn_graph_release(context, plan);
    else if (is_weighted(&plan->problem))
        conv_close(plan->state);
    else
        other_release(plan);
    plan->state = NULL;
}

static cnn_status run(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    cudnn_context *c = (cudnn_context *)context;
    const cnn_status status = cuda_enter(&c->cuda, err);
    if (status != CNN_OK) return status;
    if (cudnn_graph_serves(&plan->algorithm)) return cudnn_graph_run(context, plan, args, err);
    if (is_cublas(&plan->algorithm)) return cudnn_fc_run(c, plan, args, err);
    return conv_run(c, plan, args, err);
}

const cnn_impl *cnn_impl_cudnn(void);
const cnn_impl *cnn_impl_cudnn(void)
{
    static const cnn_impl impl = {
        .abi_version = CNN_ABI_VERSION,
        .struct_size = sizeof(cnn_impl),
        .name = "cudnn",
        .doc = "cuDNN: every algorithm of its legacy calls by name, every engine of its graph API by number",
        CUDA_DEVICE_SLOTS,
        .algorithms = algorithms,
        .n_algorithms = sizeof algorithms / sizeof algorithms[0],
        .knobs = knobs,
        .n_knobs = CUDNN_KNOB_COUNT,
        .probe = probe,
        .open = open_context,
        .close = close_context,
        .describe = describe,
        .supports = supports,
        .workspace = workspace,
        .enumerate = cudnn_graph_enumerate,
        .prepare = prepare,
        .release = release,
        .conv_fwd = run,
        .conv_bwd_data = run,
        .conv_bwd_weights = run,
        .fc_fwd = run,
        .fc_bwd_data = run,
        .fc_bwd_weights = run,
        .pool_fwd = cudnn_pool_fwd,
        .pool_bwd = cudnn_pool_bwd,
        .act_fwd = cudnn_act_fwd,
        .act_bwd = cudnn_act_bwd,
        .dropout_fwd = cuda_dropout_fwd,
        .dropout_bwd = cuda_dropout_bwd,
        .loss_fwd = cudnn_loss_fwd,
        .loss_bwd = cuda_loss_bwd,
        .add_fwd = cuda_add_fwd,
        .concat_fwd = cuda_concat_fwd,
        .concat_bwd = cuda_concat_bwd,
        .batchnorm_fwd = cudnn_batchnorm_fwd,
        .batchnorm_bwd = cudnn_batchnorm_bwd,
        .optimizer_step = cuda_optimizer_step,
        .gather = cuda_gather,
    };
    return &impl;
}
