/* im2col.c: impl_cuda_im2col's face: its tables, its context, and the one struct through which the harness knows it.
 *
 * The context is what every CUDA implementation has, and a cuBLAS handle with its workspace. */
#include "impl_cuda_im2col/im2col.h"

#define BIT(op) (1u << CNN_OP_##op)
#define EVERY_OTHER                                                                                                    \
    (BIT(POOL) | BIT(ACT) | BIT(LOSS) | BIT(DROPOUT) | BIT(ADD) | BIT(CONCAT) | BIT(BATCHNORM) | BIT(OPTIMIZER))

static const cnn_algorithm algorithms[] = {
    {"implicit_pad", "columns straight from x; dx collected without atomics", BIT(CONV), CNN_ALGO_DETERMINISTIC, 1,
     CUCOL_IMPLICIT_PAD},
    {"gather", "columns from a padded copy of x; dx collected without atomics", BIT(CONV), CNN_ALGO_DETERMINISTIC, 1,
     CUCOL_GATHER},
    {"thread_per_element", "version 2: a thread an element of the columns; dx by atomic additions", BIT(CONV), 0, 1,
     CUCOL_PER_ELEMENT},
    {"thread_per_filter", "version 1: a thread a window; dx by atomic additions", BIT(CONV), 0, 1, CUCOL_PER_FILTER},
    {"gemm", "one matrix product by cuBLAS", BIT(FC), CNN_ALGO_DETERMINISTIC, 1, CUCOL_GEMM},
    {"default", "the one kernel of an operation without a choice", EVERY_OTHER, CNN_ALGO_DETERMINISTIC, 1,
     CUCOL_DEFAULT},
};

static const cnn_knob knobs[] = {
#define KNOB(id, name, doc, min, max, def) {name, doc, min, max, def, NULL, 0},
#include "harness/cuda/knobs.inc"
#include "knobs.inc"
#undef KNOB
};

static void close_context(cnn_context *context)
{
    if (!context) return;
    cucol_gemm_close((cucol_context *)context);
    cuda_context_close(context);
}

static cnn_status open_context(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    cnn_status status = cuda_context_open(params, knobs, CUCOL_KNOB_COUNT, sizeof(cucol_context), context, err);
    if (status != CNN_OK) return status;
    status = cucol_gemm_open((cucol_context *)*context, err);
    if (status == CNN_OK) return CNN_OK;
    close_context(*context);
    *context = NULL;
    return status;
}

static void describe(cnn_context *context, cnn_put_fn *put, void *user)
{
    char text[32];
    int version = 0;
    cuda_describe(context, put, user);
    if (cublasGetVersion(((cucol_context *)context)->blas, &version) != CUBLAS_STATUS_SUCCESS) return;
    /* 130100 is 13.1.0; before 11 it was 1000, 100, 1 */
    snprintf(text, sizeof text, "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
    put(user, "cublas", text);
}

const cnn_impl *cnn_impl_cuda_im2col(void);
const cnn_impl *cnn_impl_cuda_im2col(void)
{
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
        .supports = cucol_supports,
        .workspace = cucol_workspace,
        .conv_fwd = cucol_conv_fwd,
        .conv_bwd_data = cucol_conv_bwd_data,
        .conv_bwd_weights = cucol_conv_bwd_weights,
        .fc_fwd = cucol_fc_fwd,
        .fc_bwd_data = cucol_fc_bwd_data,
        .fc_bwd_weights = cucol_fc_bwd_weights,
        CUDA_COMMON_SLOTS,
        CUDA_POINTWISE_SLOTS,
        .n_peaks = CUCOL_PEAK_COUNT,
        .peak_open = cucol_peak_open,
        .peak_run = cucol_peak_run,
        .peak_close = cucol_peak_close,
    };
    return &impl;
}
