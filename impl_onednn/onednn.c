/* onednn.c: impl_onednn's face: its algorithms, and the one struct through which the harness knows it.
 *
 * How oneDNN cuts its work depends on the number of threads, and with it the order of its sums: so no algorithm
 * promises the same bits. Memory is the host's; operations are done when they return. */
#include "loops.h"

#define BIT(op) (1u << CNN_OP_##op)
#define CONVS (BIT(CONV) | BIT(DECONV))
#define WEIGHTED (CONVS | BIT(CONV3D) | BIT(FC))
#define BY_ONEDNN (BIT(POOL) | BIT(POOL3D) | BIT(ACT) | BIT(ADD) | BIT(BATCHNORM))
#define FLAGS (CNN_ALGO_REPLACES | CNN_ALGO_EPILOGUES | CNN_ALGO_QUANTIZED_EPILOGUES)
#define LOOPS (BIT(LOSS) | BIT(DROPOUT) | BIT(CONCAT) | BIT(OPTIMIZER))

static const cnn_algorithm algorithms[ONEDNN_ALGORITHM_COUNT] = {
    {"any",
     "conv and FC in the layouts that oneDNN chooses, reordered from and to the tensors' own in every call; all else "
     "in the tensors' own",
     WEIGHTED | BY_ONEDNN, FLAGS, 1, ONEDNN_ANY},
    {"nchw", "activations in NCHW, as they are or reordered; weights as oneDNN chooses", WEIGHTED, FLAGS, 1,
     ONEDNN_NCHW},
    {"nhwc", "activations in NHWC, as they are or reordered; weights as oneDNN chooses", WEIGHTED, FLAGS, 1,
     ONEDNN_NHWC},
    {"winograd", "oneDNN's Winograd, F(4x4,3x3)", CONVS, CNN_ALGO_TRANSFORMS, 96, ONEDNN_WINOGRAD},
    {"loops", "what oneDNN has no primitive for: loops of ours on its threads", LOOPS, CNN_ALGO_DETERMINISTIC, 1,
     ONEDNN_LOOPS},
};

static const cnn_knob knobs[] = {
#define KNOB(id, name, doc, min, max, def) {name, doc, min, max, def, NULL, 0, false},
#include "knobs.inc"
#undef KNOB
};

static const cnn_operations ops = {
    .struct_size = sizeof(cnn_operations),
    CNN_WEIGHTED_SLOTS(onednn_weighted),
    .pool_fwd = onednn_map_fwd,
    .pool_bwd = onednn_map_bwd,
    .act_fwd = onednn_map_fwd,
    .act_bwd = onednn_map_bwd,
    .dropout_fwd = onednn_dropout_fwd,
    .dropout_bwd = onednn_dropout_bwd,
    .loss_fwd = onednn_loss_fwd,
    .loss_bwd = onednn_loss_bwd,
    .add_fwd = onednn_add_fwd,
    .concat_fwd = onednn_concat_fwd,
    .concat_bwd = onednn_concat_bwd,
    .batchnorm_fwd = onednn_batchnorm,
    .batchnorm_bwd = onednn_batchnorm,
    .optimizer_step = onednn_optimizer_step,
    .gather = onednn_gather,
    .bias_add = onednn_bias_add,
    .bias_gradient = onednn_bias_gradient,
};

const cnn_impl *cnn_impl_onednn(void);
const cnn_impl *cnn_impl_onednn(void)
{
    static const cnn_impl impl = {
        .abi_version = CNN_ABI_VERSION,
        .struct_size = sizeof(cnn_impl),
        .name = "onednn",
        .doc = "oneDNN on the CPU, in its own layouts or in yours",
        .device_kind = CNN_DEVICE_CPU,
        .algorithms = algorithms,
        .n_algorithms = ONEDNN_ALGORITHM_COUNT,
        .knobs = knobs,
        .n_knobs = ONEDNN_KNOB_COUNT,
        .probe = onednn_probe,
        .open = onednn_open,
        .close = onednn_close,
        .describe = onednn_describe,
        .supports = onednn_supports,
        .prepare = onednn_prepare,
        .release = onednn_release,
        .ops = &ops,
        .profile = &onednn_profile,
        .dtypes = (1u << CNN_DTYPE_COUNT) - 1, /* what is not taken, `supports` refuses with the reason */
    };
    return &impl;
}
