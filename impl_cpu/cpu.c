/* cpu.c: impl_cpu's face: its tables, its context, and the one struct through which the harness knows it.
 *
 * The context is a pool of threads, the instruction set and the knobs. Memory is the host's, so there is nothing to
 * copy; operations are done when they return, so there is nothing to wait for. */
#include "impl_cpu/cpu.h"

#include <cblas.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#define BIT(op) (1u << CNN_OP_##op)
#define EVERY_OTHER                                                                                                    \
    (BIT(POOL) | BIT(POOL3D) | BIT(ACT) | BIT(LOSS) | BIT(DROPOUT) | BIT(ADD) | BIT(CONCAT) | BIT(BATCHNORM) |         \
     BIT(OPTIMIZER))

#define CONVS (BIT(CONV) | BIT(DECONV))
#define WITH_DEPTH (CONVS | BIT(CONV3D))
#define FUSES (CNN_ALGO_DETERMINISTIC | CNN_ALGO_EPILOGUES | CNN_ALGO_QUANTIZED_EPILOGUES | CNN_ALGO_FUSES)

static const cnn_algorithm algorithms[CPU_ALGORITHM_COUNT] = {
    {"direct", "blocked and vectorised loops that skip padded taps", CONVS, FUSES, 1, CPU_DIRECT},
    {"im2col", "cache-sized blocks of columns, multiplied by OpenBLAS", WITH_DEPTH, FUSES, 1, CPU_IM2COL},
    {"winograd", "F(4x4,3x3) with lanes of channels: 3x3 kernels of stride 1", CONVS, FUSES | CNN_ALGO_TRANSFORMS, 96,
     CPU_WINOGRAD},
    {"depthwise", "groups of one input channel: sums of few terms, lanes of pixels or of channels", CONVS, FUSES, 1,
     CPU_DEPTHWISE},
    {"matrix", "1x1 kernels as one product of matrices, without columns", CONVS, FUSES, 1, CPU_MATRIX},
    {"shallow", "few input channels: rows split once, products as deep as taps times channels", CONVS, FUSES, 1,
     CPU_SHALLOW},
    {"bf16", "bf16 as it is, two numbers at a time: AVX512_BF16's products, or f32's", CONVS | BIT(FC),
     CNN_ALGO_DETERMINISTIC | CNN_ALGO_EPILOGUES | CNN_ALGO_FUSES, 1, CPU_BF16},
    {"gemm", "matrix products by OpenBLAS", BIT(FC), FUSES, 1, CPU_GEMM},
    {"naive", "the defining loops as they stand", WITH_DEPTH | BIT(FC), FUSES, 1, CPU_NAIVE},
    {"default", "the one kernel of an operation without a choice", EVERY_OTHER, CNN_ALGO_DETERMINISTIC, 1, CPU_DEFAULT},
    {"fused", "a trainer: lanes are channels, a worker takes images through the whole net", CNN_TRAINS,
     CNN_ALGO_DETERMINISTIC | CNN_ALGO_RANKS | CNN_ALGO_PROFILES, 1, CPU_FUSED},
    {"exemplar", "a trainer: workers train online on copies of the weights, which are merged (--parallel exemplar)",
     CNN_TRAINS, CNN_ALGO_DETERMINISTIC | CNN_ALGO_EXEMPLARS, 1, CPU_EXEMPLAR},
};

static const cnn_knob knobs[] = {
#define KNOB(id, name, doc, min, max, def) {name, doc, min, max, def, NULL, 0, CPU_KNOB_##id == CPU_KNOB_ISA},
#include "knobs.inc"
#undef KNOB
};

static cnn_status open_context(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    cpu_context *cpu = calloc(1, sizeof *cpu);
    if (!cpu) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context of impl cpu");
    cnn_status status = thread_pool_open(params->threads, &cpu->pool, err);
    if (status != CNN_OK) {
        free(cpu);
        return status;
    }
    cpu->threads = params->threads;
    const cpu_isa best = cpu_isa_best();
    const cpu_isa asked = (cpu_isa)(params->knobs ? params->knobs[CPU_KNOB_ISA] : knobs[CPU_KNOB_ISA].def);
    cpu->isa = asked < best ? asked : best;
    /* OpenBLAS must not start threads of its own beside the pool's: each of our workers makes single-threaded calls.
     * Its setting belongs to the whole process; every context asks for the same one, so they stay independent. */
    openblas_set_num_threads(1);
    *context = (cnn_context *)cpu;
    return CNN_OK;
}

static void close_context(cnn_context *context)
{
    cpu_context *cpu = (cpu_context *)context;
    if (!cpu) return;
    thread_pool_close(cpu->pool);
    free(cpu);
}

/* What decides, in the processor's place, over the kernels that OpenBLAS takes and the blocks it cuts. How many threads
 * it starts the environment does not decide: see open_context(). */
static void put_variables(cnn_put_fn *put, void *user)
{
    static const char *const variables[] = {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_BLOCK_FACTOR"};
    char key[64], text[200];
    for (size_t i = cpu_blas_before() != NULL ? 1 : 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (!value || value[0] == '\0') continue;
        snprintf(key, sizeof key, CNN_WARNING "%s", variables[i]);
        snprintf(text, sizeof text, "%s=%.64s is set: it tunes OpenBLAS, in place of what the processor is",
                 variables[i], value);
        put(user, key, text);
    }
}

/* OpenBLAS's core where it did not know the processor: which it took by itself, and whether the restart helped. */
static void put_core(cnn_put_fn *put, void *user)
{
    char text[256];
    const char *core = openblas_get_corename(), *before = cpu_blas_before(), *set = getenv("OPENBLAS_CORETYPE");
    const char *wanted = cpu_blas_wanted(core, cpu_isa_own());
    put(user, "openblas_core", core);
    if (before != NULL) put(user, "openblas_core_before", before);
    if (wanted == NULL || (before == NULL && set != NULL && set[0] != '\0')) return;
    snprintf(text, sizeof text,
             "OpenBLAS runs its kernels for %.32s on a processor with %s, matrix products are slower than they can be: "
             "%s%s",
             core, cpu_isa_name(cpu_isa_own()),
             before != NULL ? "install a newer OpenBLAS" : "set OPENBLAS_CORETYPE=", before != NULL ? "" : wanted);
    put(user, CNN_WARNING "openblas_core", text);
}

/* An OpenMP library, which OpenBLAS or oneDNN may bring, binds the first thread to one core as it is loaded, and every
 * thread that is started later is bound like it. */
static void put_binding(cnn_put_fn *put, void *user)
{
    char text[256];
    const char *bind = getenv("OMP_PROC_BIND");
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (bind == NULL || bind[0] == '\0' || strcasecmp(bind, "false") == 0 || cpu_count() >= online) return;
    snprintf(text, sizeof text, "OMP_PROC_BIND=%.32s is set, and all threads share %d of %ld cores: unset it", bind,
             cpu_count(), online);
    put(user, CNN_WARNING "OMP_PROC_BIND", text);
}

static void describe(cnn_context *context, cnn_put_fn *put, void *user)
{
    const cpu_context *cpu = (const cpu_context *)context;
    char text[16];
    snprintf(text, sizeof text, "%d", cpu->threads);
    put(user, "threads", text);
    put(user, "isa", cpu_isa_name(cpu->isa));
    if (cpu->isa > cpu_isa_own())
        put(user, CNN_WARNING "isa",
            "AVX-512's kernels run as AVX2 code (BENCHCNN_AVX512_BY_AVX2): verify with this build, time with another");
    put(user, "openblas", openblas_get_config());
    put_core(put, user);
    put_variables(put, user);
    put_binding(put, user);
}

static const cnn_operations ops = {
    .struct_size = sizeof(cnn_operations),
    CNN_WEIGHTED_SLOTS(cpu_weighted_run),
    .pool_fwd = cpu_pool_fwd,
    .pool_bwd = cpu_pool_bwd,
    .act_fwd = cpu_act_fwd,
    .act_bwd = cpu_act_bwd,
    .dropout_fwd = cpu_dropout_fwd,
    .dropout_bwd = cpu_dropout_bwd,
    .loss_fwd = cpu_loss_fwd,
    .loss_bwd = cpu_loss_bwd,
    .add_fwd = cpu_add_fwd,
    .concat_fwd = cpu_concat_fwd,
    .concat_bwd = cpu_concat_bwd,
    .batchnorm_fwd = cpu_batchnorm,
    .batchnorm_bwd = cpu_batchnorm,
    .optimizer_step = cpu_optimizer_step,
    .gather = cpu_gather,
    .bias_add = cpu_bias_add,
    .bias_gradient = cpu_bias_gradient,
};

const cnn_impl *cnn_impl_cpu(void);
const cnn_impl *cnn_impl_cpu(void)
{
    static const cnn_impl impl = {
        .abi_version = CNN_ABI_VERSION,
        .struct_size = sizeof(cnn_impl),
        .name = "cpu",
        .doc = "multithreaded CPU kernels, vectorised for what the processor has",
        .device_kind = CNN_DEVICE_CPU,
        .algorithms = algorithms,
        .n_algorithms = CPU_ALGORITHM_COUNT,
        .knobs = knobs,
        .n_knobs = CPU_KNOB_COUNT,
        .open = open_context,
        .close = close_context,
        .describe = describe,
        .supports = cpu_supports,
        .prepare = cpu_prepare,
        .release = cpu_release,
        .ops = &ops,
        .profile = &cpu_profile,
        .peaks = &cpu_peaks,
        .trainers = &cpu_trainers,
        .dtypes = (1u << CNN_DTYPE_COUNT) - 1,
    };
    return &impl;
}
