/* fused.c: the implementation cuda_fused: trainers alone, no single operation. */
#include "impl_cuda_fused/fused.h"

enum {
#define VERSION(name, ...) ID_##name,
#include "kernels.inc"
#undef VERSION
};

static const cnn_algorithm algorithms[] = {
#define VERSION(name, doc, flags) {#name, doc, CNN_TRAINS, CNN_ALGO_DETERMINISTIC | (flags), 1, ID_##name},
#include "kernels.inc"
#undef VERSION
};

const fused_version *const fused_versions[] = {
#define VERSION(name, ...) &fused_##name,
#include "kernels.inc"
#undef VERSION
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

static cnn_status supports(cnn_context *context, const cnn_request *r, cnn_error *err)
{
    (void)context, (void)r;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "cuda_fused trains whole networks, and does no single operation");
}

const cnn_impl *cnn_impl_cuda_fused(void);
const cnn_impl *cnn_impl_cuda_fused(void)
{
    static const cnn_operations ops = {.struct_size = sizeof(cnn_operations)};
    static const cnn_impl impl = {
        .abi_version = CNN_ABI_VERSION,
        .struct_size = sizeof(cnn_impl),
        .name = "cuda_fused",
        .doc = "training on the GPU, a pass over all images in one launch: a ladder of versions",
        CUDA_COMMON_SLOTS,
        .algorithms = algorithms,
        .n_algorithms = sizeof algorithms / sizeof *algorithms,
        .knobs = knobs,
        .n_knobs = FUSED_KNOB_COUNT,
        .open = open_context,
        .close = cuda_context_close,
        .describe = cuda_describe,
        .supports = supports,
        .ops = &ops,
        .trainers = &fused_cuda_trainers,
    };
    return &impl;
}
