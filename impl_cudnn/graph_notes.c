/* graph_notes.c: what cuDNN notes about an engine's numbers, in the harness's terms.
 *
 * The notes are promises that matter for what the suite checks: tensor cores compute f32 products from TF32 inputs, so
 * they are not strict f32; some engines round further; Winograd and FFT transform, so that integers are not exact and
 * the rounding bound grows; some add in an order that varies. */
#include "impl_cudnn/graph.h"

#include "harness/cnn/half.h"
#include "harness/cnn/shape.h"
#include "impl_cudnn/amplification.h"

#include <math.h>

/* What the largest of the transforms amplifies; 1: none. */
static double amplification(const bool has[CUDNN_NUMERICAL_NOTE_TYPE_COUNT])
{
    if (has[CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13]) return AMPLIFICATION_13X13;
    if (has[CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4]) return AMPLIFICATION_4X4;
    if (has[CUDNN_NUMERICAL_NOTE_WINOGRAD]) return AMPLIFICATION_6X6; /* its tile noted, or none */
    return has[CUDNN_NUMERICAL_NOTE_FFT] ? AMPLIFICATION_FFT : 1;
}

static const char *description(const bool has[CUDNN_NUMERICAL_NOTE_TYPE_COUNT], bool compiled)
{
    const bool tensor = has[CUDNN_NUMERICAL_NOTE_TENSOR_CORE];
    if (has[CUDNN_NUMERICAL_NOTE_FFT]) return tensor ? "graph API: FFT, tensor cores" : "graph API: FFT";
    if (has[CUDNN_NUMERICAL_NOTE_WINOGRAD]) return tensor ? "graph API: Winograd, tensor cores" : "graph API: Winograd";
    if (compiled) return tensor ? "graph API: compiled at run time, tensor cores" : "graph API: compiled at run time";
    if (has[CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS]) return "graph API: tensor cores, inputs converted to f16";
    return tensor ? "graph API: tensor cores" : "graph API: fused multiply-adds";
}

static bool compiled_at_run_time(cudnnBackendDescriptor_t engine)
{
    cudnnBackendBehaviorNote_t notes[CUDNN_BEHAVIOR_NOTE_TYPE_COUNT];
    int64_t count = 0;
    if (cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE,
                                 CUDNN_BEHAVIOR_NOTE_TYPE_COUNT, &count, notes) != CUDNN_STATUS_SUCCESS)
        return false; /* it only words the description */
    for (int64_t i = 0; i < count && i < CUDNN_BEHAVIOR_NOTE_TYPE_COUNT; i++)
        if (notes[i] == CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) return true;
    return false;
}

static cnn_status read_traits(cudnnBackendDescriptor_t engine, graph_traits *traits, cnn_error *err)
{
    cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    bool has[CUDNN_NUMERICAL_NOTE_TYPE_COUNT] = {false};
    int64_t count = 0;
    const cnn_status status = graph_read(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                         CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, notes, err);
    if (status != CNN_OK) return status;
    for (int64_t i = 0; i < count && i < CUDNN_NUMERICAL_NOTE_TYPE_COUNT; i++)
        if ((int)notes[i] >= 0 && notes[i] < CUDNN_NUMERICAL_NOTE_TYPE_COUNT) has[notes[i]] = true;
    /* The tile's size implies the transform, whether or not it is noted apart. */
    if (has[CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4] || has[CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6] ||
        has[CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13])
        has[CUDNN_NUMERICAL_NOTE_WINOGRAD] = true;
    const bool transforms = has[CUDNN_NUMERICAL_NOTE_WINOGRAD] || has[CUDNN_NUMERICAL_NOTE_FFT];
    *traits = (graph_traits){
        .flags = (has[CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC] ? 0u : CNN_ALGO_DETERMINISTIC) |
                 (transforms ? CNN_ALGO_TRANSFORMS : 0u),
        .amplification = amplification(has),
        .tensor_cores = has[CUDNN_NUMERICAL_NOTE_TENSOR_CORE],
        .converts = has[CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS],
        .reduced = has[CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION],
        .doc = description(has, compiled_at_run_time(engine)),
    };
    return CNN_OK;
}

/* What cuDNN does not note; found by `verify` with cuDNN 9.14 on an H200. */
typedef struct known_engine {
    cnn_dir dir;
    graph_tail tail;
    int64_t engine;
} known_engine;

static bool listed(const known_engine *list, size_t count, const graph_request *r, const graph_config *config)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].dir == r->dir && list[i].tail == config->tail && list[i].engine == config->engine) return true;
    return false;
}

/* Integers come out inexact, but the note that it transforms is there for some problems only, or for none. */
static bool known_transform(const graph_request *r, const graph_config *config)
{
    static const known_engine list[] = {
        {CNN_FWD, GRAPH_BARE, 4},   {CNN_FWD, GRAPH_BIAS, 13},  {CNN_FWD, GRAPH_BIAS, 26},  {CNN_FWD, GRAPH_BIAS, 29},
        {CNN_FWD, GRAPH_FUSED, 26}, {CNN_FWD, GRAPH_FUSED, 29}, {CNN_FWD, GRAPH_FUSED, 33}, {CNN_BWD_D, GRAPH_BARE, 4},
        {CNN_BWD_D, GRAPH_BARE, 5}, {CNN_BWD_W, GRAPH_BARE, 4}, {CNN_BWD_W, GRAPH_BARE, 17}};
    return listed(list, sizeof list / sizeof list[0], r, config);
}

/* Whether some weights see nothing but padding: their gradients are zero. */
static bool has_idle_taps(const cnn_conv_desc *d)
{
    return cnn_use_of_axis(d->ih, d->oh, d->kh, d->sh, d->ph, d->dh).taps < d->kh ||
           cnn_use_of_axis(d->iw, d->ow, d->kw, d->sw, d->pw, d->dw).taps < d->kw;
}

/* 16 bits, and an activation behind them that is more than a bound. */
static bool is_curved(const graph_request *r, const graph_config *config)
{
    const cnn_act_kind act = r->conv->epilogue.act;
    const bool plain = act == CNN_ACT_IDENTITY || act == CNN_ACT_RELU || act == CNN_ACT_CLIPPED_RELU;
    return config->tail == GRAPH_FUSED && !plain && cnn_is_half(r->conv->t.dtype);
}

/* With 5 and 6 channels all results were wrong, of what the heuristics proposed; with 64 and 32 they were right. */
static bool loses_channels(const graph_request *r, const graph_config *config)
{
    const cnn_conv_desc *d = r->conv;
    return is_curved(r, config) && (d->ic % 8 != 0 || d->oc % 8 != 0);
}

/* All 45 results of such kernels were wrong: 3 x 3, 8 to 64 channels, f16 and bf16; all 68 of 1 x 1 were right. */
static bool loses_taps(const graph_request *r, const graph_config *config)
{
    static const known_engine list[] = {{CNN_FWD, GRAPH_FUSED, 7}, {CNN_FWD, GRAPH_FUSED, 52}};
    return is_curved(r, config) && (r->conv->kh > 1 || r->conv->kw > 1) && listed(list, 2, r, config);
}

/* What is wrong with an engine although cuDNN lets it run; NULL: nothing that is known. */
static const char *known_flaw(const graph_request *r, const graph_config *config)
{
    static const known_engine padding[] = {{CNN_BWD_D, GRAPH_BARE, 50},
                                           {CNN_BWD_W, GRAPH_BARE, 1},
                                           {CNN_BWD_W, GRAPH_BARE, 18},
                                           {CNN_BWD_W, GRAPH_BARE, 20}};
    /* With 2 x 2 taps five rows apart, on three channels; the error is sticky, and the process has lost the GPU. */
    static const known_engine crashing[] = {{CNN_FWD, GRAPH_BARE, 71}};
    static const known_engine adding[] = {{CNN_BWD_D, GRAPH_BARE, 77}}, cutting[] = {{CNN_BWD_W, GRAPH_BARE, 68}},
                              idle[] = {{CNN_BWD_W, GRAPH_BARE, 4}};
    const cnn_conv_desc *d = r->conv;
    if ((d->ph != d->ph_r || d->pw != d->pw_r) && listed(padding, sizeof padding / sizeof padding[0], r, config))
        return "gives wrong results where the padding on the right is not that on the left";
    if (loses_channels(r, config))
        return "gives wrong results with this activation, 16 bits and channels that are not in eights";
    if (loses_taps(r, config)) return "gives wrong results with this activation, 16 bits and kernels above 1 x 1";
    if (listed(crashing, 1, r, config)) return "ends with a misaligned address on some problems";
    if (listed(adding, 1, r, config)) return "gives wrong results where it adds to what is there";
    if (!cnn_is_half(d->t.dtype) && listed(cutting, 1, r, config))
        return "cuts its factors to TF32 instead of rounding them: twice TF32's error";
    if (listed(idle, 1, r, config) && has_idle_taps(d)) return "leaves the gradients of weights that see only padding";
    return NULL;
}

cnn_status graph_config_traits(cudnnBackendDescriptor_t graph, const graph_request *request, const graph_config *config,
                               graph_traits *traits, cnn_error *err)
{
    cudnnBackendDescriptor_t engine = NULL;
    cnn_status status = graph_engine_open(graph, config->engine, &engine, err);
    if (status == CNN_OK) status = read_traits(engine, traits, err);
    if (status == CNN_OK && known_transform(request, config)) {
        traits->flags |= CNN_ALGO_TRANSFORMS;
        traits->amplification = fmax(traits->amplification, AMPLIFICATION_6X6);
    }
    /* Winograd's largest tile is for kernels above 3 x 3, whether or not its size is noted. */
    const bool large = request->conv->kh > 3 || request->conv->kw > 3;
    if (status == CNN_OK && large && traits->flags & CNN_ALGO_TRANSFORMS)
        traits->amplification = fmax(traits->amplification, AMPLIFICATION_13X13);
    graph_drop(&engine);
    return status;
}

cnn_status graph_config_admit(cudnnBackendDescriptor_t graph, const graph_request *request, const graph_config *config,
                              graph_traits *traits, cnn_error *err)
{
    char name[CNN_NAME_MAX];
    const cnn_type *type = &request->conv->t;
    const cnn_status status = graph_config_traits(graph, request, config, traits, err);
    if (status != CNN_OK) return status;
    graph_config_name(config, name, sizeof name);
    const char *flaw = known_flaw(request, config);
    if (flaw != NULL) return CNN_FAIL(err, CNN_UNSUPPORTED, "engine %s of cuDNN %s", name, flaw);
    if (traits->reduced && !(cnn_is_half(type->dtype) && type->math != CNN_MATH_F32))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "engine %s sums in less than the precision that is asked for", name);
    /* Those were measured, too: small integers come out wrong, so they also sum in less than f32. */
    if (traits->converts)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "engine %s converts its inputs to f16 and sums in less than f32", name);
    /* In double precision tensor cores are as precise as the rest. */
    if (traits->tensor_cores && type->dtype == CNN_F32 && type->math == CNN_MATH_F32)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "engine %s uses tensor cores (TF32), and math f32 is strict", name);
    const cnn_status half = cudnn_check_half(type->dtype, (traits->flags & CNN_ALGO_TRANSFORMS) != 0,
                                             (traits->flags & CNN_ALGO_DETERMINISTIC) != 0, name, err);
    if (half != CNN_OK) return half;
    if (cudnn_deterministic_only(request->knobs) && !(traits->flags & CNN_ALGO_DETERMINISTIC))
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "engine %s is not deterministic, and only deterministic ones are asked for", name);
    return CNN_OK;
}
