/* cudnn.c: impl_cudnn's face: its table of algorithms, and the one struct through which the harness knows it.
 *
 * Two of cuDNN's interfaces are served: the legacy calls (cudnnConvolutionForward and its kin), whose algorithms have
 * names, and the graph API, whose engines have numbers. From the ground up:
 *   context     cuDNN's handle, and how a call to it fails        tensor   the descriptors that all calls take
 *   arena       memory for trial runs in `prepare`
 *   conv*       convolution and FC by the legacy calls: conv.h    ids 0 and up
 *   other, ...  the other operations: ops.h                       ids 100 and up
 *   fc          FC by cuBLAS: ops.h                                id 900
 *   both        the faster of both interfaces: both.h              id 950
 *   graph*      convolution by the graph API: graph.h             ids 1000 and up
 * So an algorithm's id says whose it is, and every slot below sends the plan there. */
#include "harness/cnn/half.h"
#include "impl_cudnn/both.h"
#include "impl_cudnn/conv.h"
#include "impl_cudnn/graph.h"
#include "impl_cudnn/ops.h"

#define WEIGHTED (CUDA_CONVS | CUDA_OP(FC))
#define BY_CUDNN                                                                                                       \
    (CUDA_OP(POOL) | CUDA_OP(POOL3D) | CUDA_OP(ACT) | CUDA_OP(LOSS) | CUDA_OP(DROPOUT) | CUDA_OP(BATCHNORM))

enum {
    NOTHING = 0,
    DETERMINISTIC = CNN_ALGO_DETERMINISTIC,
    TRIED = CNN_ALGO_MAY_REFUSE | CNN_ALGO_REPLACES | CNN_ALGO_EPILOGUES
};

/* MAY_REFUSE: cuDNN's legacy algorithms may fail at their trial run (conv.c) where cuDNN said that they would not, and
 * a search may find that nothing runs. What the searches settle on is not known beforehand, so they promise no more
 * than the least of what they choose from; with the knob deterministic_only they choose deterministic ones. Those of
 * the graph API pass over engines that transform (Winograd, FFT), so that their results are held to the plain bound:
 * those are there as graph:engN. */
static const cnn_algorithm algorithms[] = {
    {"cublas", "one matrix product by cuBLAS", CUDA_OP(FC), CNN_ALGO_DETERMINISTIC | CNN_ALGO_EPILOGUES, 1, FC_CUBLAS},
    {"heuristic", "what cuDNN's heuristics rank first, of what fits the limits", CUDA_CONVS | CUDA_OP(CONV3D),
     TRIED | CNN_ALGO_TRANSFORMS, AMPLIFICATION_13X13, CONV_HEURISTIC},
    {"find", "the fastest of both interfaces when measured, of what fits the limits", CUDA_CONVS | CUDA_OP(CONV3D),
     TRIED | CNN_ALGO_TRANSFORMS, AMPLIFICATION_13X13, CUDNN_FIND_BOTH},
    {"legacy:find", "legacy calls: the fastest when measured, of what fits the limits", CUDA_CONVS | CUDA_OP(CONV3D),
     TRIED | CNN_ALGO_TRANSFORMS, AMPLIFICATION_13X13, CONV_FIND},
#define ALGORITHM(id, name, flags, amplification, fwd, bwd_d, bwd_w, doc)                                              \
    {name,          doc,      WEIGHTED | ((flags)&CNN_ALGO_TRANSFORMS ? 0 : CUDA_OP(CONV3D)), (flags) | TRIED,         \
     amplification, CONV_##id},
#include "impl_cudnn/conv_algorithms.inc"
#undef ALGORITHM
    {"graph:heuristic", "graph API: the first engine that cuDNN's heuristics propose and that fits the limits",
     CUDA_CONVS, CNN_ALGO_REPLACES | CNN_ALGO_EPILOGUES, 1, CUDNN_GRAPH_HEURISTIC},
    {"graph:find", "graph API: the fastest of the heuristics' proposals, measured", CUDA_CONVS, TRIED, 1,
     CUDNN_GRAPH_FIND},
    {"pointwise", "the kernels that all CUDA implementations share", CUDA_POINTWISE_OPS, CNN_ALGO_DETERMINISTIC, 1,
     OTHER_POINTWISE},
    {"cudnn", "cuDNN's own call, where it computes the same", BY_CUDNN, CNN_ALGO_DETERMINISTIC, 1, OTHER_CUDNN},
};

static const cnn_knob knobs[] = {
#define KNOB CUDA_KNOB_ROW
#define CONTEXT_KNOB CUDA_CONTEXT_KNOB_ROW
#define STEPS CUDA_STEPS_ROW
#include "harness/cuda/knobs.inc"
#include "impl_cudnn/knobs.inc"
#undef KNOB
#undef CONTEXT_KNOB
#undef STEPS
};

/* ---- Plans. */

/* Sums may be kept in the data's 16 bits (cnn_half_check() lets no other math through). */
static bool sums_in_half(const cnn_request *r)
{
    return cnn_is_half(r->problem->u.type.dtype) && r->problem->u.type.math != CNN_MATH_F32;
}

static cnn_status supports(cnn_context *context, const cnn_request *r, cnn_error *err)
{
    cudnn_context *c = (cudnn_context *)context;
    if (cuda_enter(&c->cuda, err) != CNN_OK) return err->status = CNN_UNSUPPORTED;
    cnn_status status = cuda_check_served(r, err);
    if (status == CNN_OK && !sums_in_half(r)) status = cuda_check_number(r->problem, true, err);
    if (status == CNN_OK && cuda_is_weighted(r->problem)) status = cudnn_check_sums(r, err);
    if (status != CNN_OK) return status;
    if (r->algorithm->id == CUDNN_FIND_BOTH) return both_supports(c, r, err);
    if (cudnn_graph_serves(r->algorithm)) return cudnn_graph_supports(c, r, err);
    if (r->algorithm->id == FC_CUBLAS)
        return cudnn_check_tail(r, err) == CNN_OK ? cudnn_fc_supports(&r->problem->u.fc, err) : err->status;
    return cuda_is_weighted(r->problem) ? conv_supports(c, r, err) : other_supports(c, r, err);
}

static cnn_status prepare(cnn_context *context, cnn_plan *plan, cnn_error *err)
{
    cudnn_context *c = (cudnn_context *)context;
    if (cuda_enter(&c->cuda, err) != CNN_OK) return err->status;
    if (plan->algorithm.id == CUDNN_FIND_BOTH) return both_prepare(c, plan, err);
    if (cudnn_graph_serves(&plan->algorithm)) return cudnn_graph_prepare(c, plan, err);
    if (plan->algorithm.id == FC_CUBLAS) return CNN_OK;
    return cuda_is_weighted(&plan->problem) ? conv_prepare(c, plan, err) : other_prepare(c, plan, err);
}

static void release(cnn_context *context, cnn_plan *plan)
{
    (void)context;
    if (plan->algorithm.id == CUDNN_FIND_BOTH)
        both_release(plan);
    else if (cudnn_graph_serves(&plan->algorithm))
        graph_state_close(plan->state);
    else if (cuda_is_weighted(&plan->problem))
        conv_release(plan);
    else
        other_release(plan);
    plan->state = NULL;
}

static cnn_status run(cnn_context *context, const cnn_plan *of, const cnn_weighted_args *args, cnn_error *err)
{
    cudnn_context *c = (cudnn_context *)context;
    const cnn_plan *plan = both_chosen(of);
    if (cuda_enter(&c->cuda, err) != CNN_OK) return err->status;
    if (cudnn_graph_serves(&plan->algorithm)) return graph_state_run(c, plan->state, args, err);
    if (plan->algorithm.id == FC_CUBLAS) return cudnn_fc_run(c, plan, args, err);
    return conv_run(c, plan, args, err);
}

const cnn_impl *cnn_impl_cudnn(void);
const cnn_impl *cnn_impl_cudnn(void)
{
    static const cnn_operations ops = {
        .struct_size = sizeof(cnn_operations),
        CNN_WEIGHTED_SLOTS(run),
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
        CUDA_BIAS_SLOTS,
    };
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
        .probe = cudnn_probe,
        .open = cudnn_context_open,
        .close = cudnn_context_close,
        .describe = cudnn_describe,
        .supports = supports,
        .enumerate = cudnn_graph_enumerate,
        .prepare = prepare,
        .release = release,
        .ops = &ops,
        .dtypes = 1u << CNN_F32 | 1u << CNN_F64 | 1u << CNN_F16 | 1u << CNN_BF16,
    };
    return &impl;
}
