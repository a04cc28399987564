/* naive.c: impl_cuda_naive's face: its tables, and the one struct through which the harness knows it. */
#include "impl_cuda_naive/naive.h"

/* v1 scatters with atomics in BWD_D: its sums are taken in any order. */
static const cnn_algorithm algorithms[] = {
    {"v4", "register tiles, weights in shared memory (v3's kernels in BWD_D and BWD_W)", CUDA_OP(CONV),
     CNN_ALGO_DETERMINISTIC, 1, NAIVE_V4},
    {"v3", "shared-memory tiles; BWD_D and BWD_W in register tiles", CUDA_OP(CONV), CNN_ALGO_DETERMINISTIC, 1,
     NAIVE_V3},
    {"v2", "grid-stride, padded taps skipped; BWD_D gathers without atomics; BWD_W a block a weight", CUDA_OP(CONV),
     CNN_ALGO_DETERMINISTIC, 1, NAIVE_V2},
    {"v1", "one thread a result, the defining loops; BWD_D scatters with atomics", CUDA_OP(CONV), 0, 1, NAIVE_V1},
    {"tiled", "several outputs a warp, several images a thread", CUDA_OP(FC), CNN_ALGO_DETERMINISTIC, 1,
     NAIVE_FC_TILED},
    {"naive", "one thread a result", CUDA_OP(FC), CNN_ALGO_DETERMINISTIC, 1, NAIVE_FC_NAIVE},
    {"default", "the one kernel of an operation without a choice", CUDA_POINTWISE_OPS, CNN_ALGO_DETERMINISTIC, 1,
     NAIVE_DEFAULT},
};

static const cnn_knob knobs[] = {
#define KNOB CUDA_KNOB_ROW
#define STEPS CUDA_STEPS_ROW
#include "harness/cuda/knobs.inc"
#include "knobs.inc"
#undef KNOB
#undef STEPS
};

static cnn_status open_context(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    return cuda_context_open(params, knobs, NAIVE_KNOB_COUNT, sizeof(cuda_context), context, err);
}

const cnn_impl *cnn_impl_cuda_naive(void);
const cnn_impl *cnn_impl_cuda_naive(void)
{
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
        .supports = naive_supports,
        .workspace = naive_workspace,
        .conv_fwd = naive_conv_run,
        .conv_bwd_data = naive_conv_run,
        .conv_bwd_weights = naive_conv_run,
        .fc_fwd = naive_fc_run,
        .fc_bwd_data = naive_fc_run,
        .fc_bwd_weights = naive_fc_run,
        CUDA_POINTWISE_SLOTS,
        CUDA_PEAK_SLOTS,
    };
    return &impl;
}
