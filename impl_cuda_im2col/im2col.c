/* im2col.c: impl_cuda_im2col's face: its tables, its context, and the one struct through which the harness knows it.
 *
 * The context is what every CUDA implementation has, and a cuBLAS handle with its workspace. */
#include "impl_cuda_im2col/im2col.h"

#define SERVES_CONV CUDA_CONVS
#define SERVES_CONV3D CUDA_OP(CONV3D)
static const cnn_algorithm algorithms[] = {
#define KERNELS(name, doc, op, flags, ...)                                                                             \
    {#name, doc, SERVES_##op, (flags) | CNN_ALGO_EPILOGUES | CNN_ALGO_FUSES, 1, CUCOL_##name},
#include "impl_cuda_im2col/kernels.inc"
#undef KERNELS
    {"gemm", "one matrix product by cuBLAS", CUDA_OP(FC), CNN_ALGO_DETERMINISTIC | CNN_ALGO_EPILOGUES | CNN_ALGO_FUSES,
     1, CUCOL_gemm},
    {"default", "the one kernel of an operation without a choice", CUDA_POINTWISE_OPS, CNN_ALGO_DETERMINISTIC, 1,
     CUCOL_default},
};

static const cnn_knob knobs[] = {
#define KNOB CUDA_KNOB_ROW
#define CONTEXT_KNOB CUDA_CONTEXT_KNOB_ROW
#define STEPS CUDA_STEPS_ROW
#include "harness/cuda/knobs.inc"
#include "knobs.inc"
#undef KNOB
#undef CONTEXT_KNOB
#undef STEPS
};

static void close_context(cnn_context *context)
{
    if (!context) return;
    cuda_blas_close(&((cucol_context *)context)->blas);
    cuda_context_close(context);
}

static cnn_status follow(cuda_context *context, bool second, cnn_error *err)
{
    return cuda_blas_follow(context, &((cucol_context *)context)->blas, second, err);
}

static cnn_status open_context(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    cnn_status status = cuda_context_open(params, sizeof(cucol_context), context, err);
    if (status != CNN_OK) return status;
    cucol_context *c = (cucol_context *)*context;
    c->cuda.follow = follow;
    c->blas.pedantic = params->knobs[CUCOL_KNOB_GEMM_PEDANTIC] != 0;
    status = cuda_blas_open(&c->cuda, &c->blas, (size_t)params->knobs[CUCOL_KNOB_GEMM_WORKSPACE] << 20, err);
    if (status == CNN_OK) return CNN_OK;
    close_context(*context);
    *context = NULL;
    return status;
}

static void describe(cnn_context *context, cnn_put_fn *put, void *user)
{
    cuda_describe(context, put, user);
    cuda_blas_describe(&((cucol_context *)context)->blas, put, user);
}

/* ---- Plans. */

typedef union either_plan {
    cucol_plan conv;
    cucol_fc_plan fc;
} either_plan;

static cnn_status settle(const cnn_request *r, either_plan *m, size_t *bytes, cnn_error *err)
{
    const bool fc = r->problem->op == CNN_OP_FC;
    const cnn_status status = fc ? cucol_fc_plan_make(r, &m->fc, err) : cucol_plan_make(r, &m->conv, err);
    if (status != CNN_OK) return status;
    *bytes = fc ? m->fc.bytes : m->conv.bytes;
    return cnn_workspace_check(r->knobs[CUDA_KNOB_WORKSPACE_LIMIT], *bytes, err);
}

static cnn_status supports(cnn_context *context, const cnn_request *r, cnn_error *err)
{
    either_plan m;
    size_t bytes;
    (void)context;
    cnn_status status = cuda_check_served(r, err);
    if (status != CNN_OK) return status;
    if (!cuda_is_weighted(r->problem)) return cuda_pointwise_supports(r, err);
    status = cuda_check_type(r->problem, true, err);
    return status == CNN_OK ? settle(r, &m, &bytes, err) : status;
}

static cnn_status prepare(cnn_context *context, cnn_plan *plan, cnn_error *err)
{
    const cnn_request request = cuda_request_of(plan);
    either_plan m;
    (void)context;
    if (!cuda_is_weighted(&plan->problem)) return cuda_pointwise_prepare(plan, err);
    const cnn_status status = settle(&request, &m, &plan->workspace_bytes, err);
    return status == CNN_OK ? cuda_keep(plan, &m, sizeof m, err) : status;
}

static cnn_status run(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    cucol_context *c = (cucol_context *)context;
    return plan->problem.op == CNN_OP_FC ? cucol_fc_run(c, plan, args, err) : cucol_conv_run(c, plan, args, err);
}

const cnn_impl *cnn_impl_cuda_im2col(void);
const cnn_impl *cnn_impl_cuda_im2col(void)
{
    static const cnn_operations ops = {
        .struct_size = sizeof(cnn_operations),
        CNN_WEIGHTED_SLOTS(run),
        CUDA_POINTWISE_SLOTS,
    };
    static const cnn_impl impl = {
        .abi_version = CNN_ABI_VERSION,
        .struct_size = sizeof(cnn_impl),
        .name = "cuda_im2col",
        .doc = "convolution as a matrix product: im2col and col2im kernels with cuBLAS",
        .algorithms = algorithms,
        .n_algorithms = sizeof algorithms / sizeof *algorithms,
        .knobs = knobs,
        .n_knobs = CUCOL_KNOB_COUNT,
        .open = open_context,
        .close = close_context,
        .describe = describe,
        .supports = supports,
        .prepare = prepare,
        .release = cuda_release,
        .ops = &ops,
        CUDA_COMMON_SLOTS,
        .peaks = CUCOL_PEAKS,
    };
    return &impl;
}
