/* naive.c: impl_cuda_naive's face: its tables, its gate, from a plan to a kernel, and the one struct through which the
 * harness knows it. */
#include "impl_cuda_naive/naive.h"

#include "harness/cnn/half.h"

/* cnn_algorithm.id. */
enum {
#define KERNELS(name, ...) ID_##name,
#include "kernels.inc"
#undef KERNELS
    ID_default
};

#define SERVES_CONV CUDA_CONVS
#define SERVES_FC CUDA_OP(FC)
#define SERVES_CONV3D CUDA_OP(CONV3D)
static const cnn_algorithm algorithms[] = {
#define KERNELS(name, doc, op, flags, ...)                                                                             \
    {#name, doc, SERVES_##op, (flags) | CNN_ALGO_EPILOGUES | CNN_ALGO_FUSES, 1, ID_##name},
#include "kernels.inc"
#undef KERNELS
    {"default", "the one kernel of an operation without a choice", CUDA_POINTWISE_OPS, CNN_ALGO_DETERMINISTIC, 1,
     ID_default},
};

static const naive_kernel *const kernels[][CNN_DIR_COUNT] = {
#define KERNELS(name, doc, op, flags, half, fwd, bwd_d, bwd_w) {&naive_##fwd, &naive_##bwd_d, &naive_##bwd_w},
#include "kernels.inc"
#undef KERNELS
};

/* By cnn_algorithm.id: which takes f16 and bf16 in its place; "": it does. */
static const char *const halves[] = {
#define KERNELS(name, doc, op, flags, half, ...) half,
#include "kernels.inc"
#undef KERNELS
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

static cnn_status open_context(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    return cuda_context_open(params, sizeof(cuda_context), context, err);
}

/* ---- Plans. */

static cnn_status check_device(const struct cudaDeviceProp *device, const naive_launch *l, cnn_error *err)
{
    const long long threads = l->block[0] * l->block[1] * l->block[2];
    for (int i = 0; i < 3; i++) {
        if (l->grid[i] > device->maxGridSize[i])
            return CNN_FAIL(err, CNN_UNSUPPORTED, "%s: the grid needs %lld blocks in %c, the device has %d", l->kernel,
                            (long long)l->grid[i], "xyz"[i], device -> maxGridSize[i]);
        if (l->block[i] > device->maxThreadsDim[i])
            return CNN_FAIL(err, CNN_UNSUPPORTED, "%s: %lld threads of a block in %c, the device has %d", l->kernel,
                            (long long)l->block[i], "xyz"[i], device -> maxThreadsDim[i]);
    }
    if (threads > device->maxThreadsPerBlock)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s: a block of %lld threads, the device's most is %d", l->kernel,
                        threads, device->maxThreadsPerBlock);
    if (l->shared_bytes > (int64_t)device->sharedMemPerBlockOptin)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s: %lld bytes of shared memory, the device has %zu", l->kernel,
                        (long long)l->shared_bytes, device->sharedMemPerBlockOptin);
    return CNN_OK;
}

static cnn_status fit(const cuda_context *c, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    const naive_kernel *kernel = kernels[r->algorithm->id][r->dir];
    *l = (naive_launch){.kernel = kernel->name, .grid = {1, 1, 1}, .block = {1, 1, 1}, .cluster = 1};
    cnn_status status = kernel->fit(c, r, l, err);
    if (status == CNN_OK && l->lines) status = cuda_check_epilogue(r->problem, cuda_epilogue_rest(r->problem), err);
    if (status == CNN_OK) status = check_device(&c->properties, l, err);
    return status == CNN_OK ? cnn_workspace_check(r->knobs[CUDA_KNOB_WORKSPACE_LIMIT], l->workspace_bytes, err)
                            : status;
}

static cnn_status check_type(const cnn_request *r, cnn_error *err)
{
    const cnn_dtype dtype = r->problem->u.type.dtype;
    const char *half = halves[r->algorithm->id];
    if (half[0] == '\0') return cuda_check_number(r->problem, r->algorithm->id == ID_v6, err);
    if (!cnn_is_half(cnn_part_dtype(dtype, CNN_PART_FACTOR))) return cuda_check_type(r->problem, false, err);
    return CNN_FAIL(err, CNN_UNSUPPORTED, "%s: %s computes f32 and f64 only; use algorithm %s", cnn_dtype_name(dtype),
                    r->algorithm->name, half);
}

static cnn_status supports(cnn_context *context, const cnn_request *r, cnn_error *err)
{
    naive_launch launch;
    cnn_status status = cuda_check_served(r, err);
    if (status != CNN_OK) return status;
    if (!cuda_is_weighted(r->problem)) return cuda_pointwise_supports(r, err);
    status = check_type(r, err);
    return status == CNN_OK ? fit((const cuda_context *)context, r, &launch, err) : status;
}

static cnn_status prepare(cnn_context *context, cnn_plan *plan, cnn_error *err)
{
    const cnn_request request = cuda_request_of(plan);
    naive_launch launch;
    if (!cuda_is_weighted(&plan->problem)) return cuda_pointwise_prepare(plan, err);
    const cnn_status status = fit((const cuda_context *)context, &request, &launch, err);
    if (status != CNN_OK) return status;
    plan->workspace_bytes = launch.workspace_bytes;
    return cuda_keep(plan, &launch, sizeof launch, err);
}

static cnn_status run(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    const cnn_status status = kernels[plan->algorithm.id][plan->dir]->run(cuda_context_of(context), plan, args, err);
    if (status != CNN_OK || !((const naive_launch *)plan->state)->lines) return status;
    cuda_pass pass = cuda_pass_of(&plan->problem, plan->knobs, args);
    pass.left = cuda_epilogue_rest(&plan->problem);
    return cuda_epilogue_pass(cuda_context_of(context), &pass, err);
}

const cnn_impl *cnn_impl_cuda_naive(void);
const cnn_impl *cnn_impl_cuda_naive(void)
{
    static const cnn_operations ops = {
        .struct_size = sizeof(cnn_operations),
        CNN_WEIGHTED_SLOTS(run),
        CUDA_POINTWISE_SLOTS,
    };
    static const cnn_impl impl = {
        .abi_version = CNN_ABI_VERSION,
        .struct_size = sizeof(cnn_impl),
        .name = "cuda_naive",
        .doc = "direct convolution on the GPU, a ladder of kernel versions",
        CUDA_COMMON_SLOTS,
        .algorithms = algorithms,
        .n_algorithms = sizeof algorithms / sizeof *algorithms,
        .knobs = knobs,
        .n_knobs = NAIVE_KNOB_COUNT,
        .open = open_context,
        .close = cuda_context_close,
        .describe = cuda_describe,
        .supports = supports,
        .prepare = prepare,
        .release = cuda_release,
        .ops = &ops,
        .peaks = &cuda_peaks,
        .dtypes = 1u << CNN_F32 | 1u << CNN_F64 | 1u << CNN_F16 | 1u << CNN_BF16 | 1u << CNN_F16_F16_F32 |
                  1u << CNN_BF16_BF16_F32,
    };
    return &impl;
}
