/* cuda.h: what the CUDA implementations share: the context, memory, time, graphs, pointwise operations.
 *
 * An implementation's context begins with a cuda_context, and its table of cnn.h is filled by CUDA_COMMON_SLOTS
 * (device, memory, timers, graphs) and CUDA_POINTWISE_SLOTS (every operation but conv and FC) plus its own. Its knobs
 * begin with those of harness/cuda/knobs.inc. All functions here are C-callable. */
#ifndef HARNESS_CUDA_CUDA_H
#define HARNESS_CUDA_CUDA_H

#include "harness/cnn.h"
#include "harness/cuda/platform.h"
#include "harness/device/workspace_limit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The knobs that every CUDA implementation has, first in its table (and so in cuda_context.knobs). */
typedef enum cuda_knob_id {
#define KNOB(id, name, doc, min, max, def) CUDA_KNOB_##id,
#define STEPS(id, name, doc, min, max, def, ...) CUDA_KNOB_##id,
#include "harness/cuda/knobs.inc"
#undef KNOB
#undef STEPS
    CUDA_KNOB_COUNT
} cuda_knob_id;
enum { CUDA_KNOBS_MAX = 64 };

/* What KNOB and STEPS are in an implementation's table, of cnn_knob (in C). */
#define CUDA_KNOB_ROW(id, name, doc, min, max, def) {name, doc, min, max, def, NULL, 0},
#define CUDA_STEPS_ROW(id, name, doc, min, max, def, ...)                                                              \
    {name,                                                                                                             \
     doc,                                                                                                              \
     min,                                                                                                              \
     max,                                                                                                              \
     def,                                                                                                              \
     (const int64_t[]){__VA_ARGS__},                                                                                   \
     sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)},

/* What a launch must fit into; read from the device once, at open. */
typedef struct cuda_limits {
    char name[CNN_NAME_MAX];
    int major, minor, multiprocessors, warp;
    int block_threads, block_dim[3], grid_dim[3];
    size_t shared_bytes;       /* a block, without asking */
    size_t shared_bytes_optin; /* a block, after cudaFuncSetAttribute; cuda_launch() asks by itself */
    size_t l2_bytes, memory_bytes;
} cuda_limits;

/* For sums that several blocks make in one launch: partial sums, and how many of a sum's blocks have arrived; the last
 * one adds them up and leaves `arrived` at 0 again. */
enum { CUDA_SUMS_MAX = 4096, CUDA_PARTIALS_MAX = 8192 };
typedef struct cuda_scratch {
    unsigned arrived[CUDA_SUMS_MAX];
    double partials[CUDA_PARTIALS_MAX];
} cuda_scratch;

typedef struct cuda_context {
    int device;
    cudaStream_t stream; /* everything runs on it, in order */
    cudaEvent_t start, stop;
    cuda_limits limits;
    int64_t knobs[CUDA_KNOBS_MAX];
    bool dead; /* after a sticky error: every call fails with `cause` */
    cnn_error cause;
    char last_kernel[CNN_NAME_MAX]; /* the latest launch, named when an error surfaces later */
    bool replayed;                  /* since the stream was last waited for: then it may be a graph's kernel instead */
    cuda_scratch *scratch;    /* on the device; operations run in order, so each finds it as the last one left it */
    struct cuda_lanes *lanes; /* upload.cu's own; NULL before the first host_alloc */
    cnn_laps *laps;           /* laps.cu's own; NULL while none are in use */
} cuda_context;

/* ---- context.cu, device.cu: device choice and properties.
 * `bytes` is the size of the implementation's own context, which begins with a cuda_context and is zeroed; n_knobs are
 * copied from params (defaults where it has none). The caller adds its own handles, and on failure calls
 * cuda_context_close(), which frees the memory. */
cnn_status cuda_probe(cnn_error *);
cnn_status cuda_context_open(const cnn_open_params *, const cnn_knob *knobs, int n_knobs, size_t bytes, cnn_context **,
                             cnn_error *);
void cuda_context_close(cnn_context *);
void cuda_describe(cnn_context *, cnn_put_fn *,
                   void *user); /* device, its PCI bus, compute capability, driver, runtime, "emulated" */

/* The most bytes of workspace that a convolution or FC may take; SIZE_MAX without a limit. */
static inline size_t cuda_workspace_limit(const cuda_context *c)
{
    return cnn_workspace_limit(c->knobs[CUDA_KNOB_WORKSPACE_LIMIT]);
}

/* Makes the context's device this thread's current one, which calls that name no stream go to (cudaMalloc, a
 * library's): several contexts may be open, on several devices. cuda_alloc() and cuda_launch() do it by themselves. */
cnn_status cuda_enter(cuda_context *, cnn_error *);

/* CNN_OK, or the CUDA error in words with the call that failed: CUDA_TRY(c, cudaMalloc(&p, n), err). A sticky error
 * marks the context dead. */
cnn_status cuda_check(cuda_context *, cudaError_t, const char *call, const char *file, int line, cnn_error *);
int cuda_call_length(const char *call); /* of the function's name: all that a sentence shows of "cudaMalloc(&p, n)" */
#define CUDA_CHECK(context, call, err) cuda_check((context), (call), #call, __FILE__, __LINE__, (err))
#define CUDA_TRY(context, call, err)                                                                                   \
    do {                                                                                                               \
        const cnn_status try_status = CUDA_CHECK(context, call, err);                                                  \
        if (try_status != CNN_OK) return try_status;                                                                   \
    } while (0)

/* ---- memory.cu, timer.cu, graph.cu, upload.cu: slots of cnn_impl. */
cnn_status cuda_alloc(cnn_context *, size_t bytes, void **, cnn_error *);
void cuda_free(cnn_context *, void *);
cnn_status cuda_upload(cnn_context *, void *dst, const void *src, size_t bytes, cnn_error *);
cnn_status cuda_download(cnn_context *, void *dst, const void *src, size_t bytes, cnn_error *);
cnn_status cuda_copy(cnn_context *, void *dst, const void *src, size_t bytes, cnn_error *);
cnn_status cuda_fill(cnn_context *, void *dst, int byte, size_t bytes, cnn_error *);
cnn_status cuda_memory_free(cnn_context *, size_t *bytes, cnn_error *);
cnn_status cuda_sync(cnn_context *, cnn_error *);
cnn_status cuda_timer_start(cnn_context *, cnn_error *);
cnn_status cuda_timer_stop(cnn_context *, double *seconds, cnn_error *);
cnn_status cuda_capture_begin(cnn_context *, cnn_error *);
cnn_status cuda_capture_end(cnn_context *, cnn_graph **, cnn_error *);
cnn_status cuda_graph_run(cnn_context *, cnn_graph *, cnn_error *);
void cuda_graph_free(cnn_context *, cnn_graph *);
/* CNN_BAD_ARGUMENT while the context's stream captures: for what would wait or allocate, and so break the capture. */
cnn_status cuda_check_not_capturing(cuda_context *, const char *what, cnn_error *);
/* upload.cu: uploads beside the stream, in two lanes. cuda_context_close() calls cuda_lanes_close(). */
cnn_status cuda_host_alloc(cnn_context *, size_t bytes, void **, cnn_error *);
void cuda_host_free(cnn_context *, void *);
cnn_status cuda_upload_async(cnn_context *, int lane, void *dst, const void *src, size_t bytes, cnn_error *);
cnn_status cuda_upload_use(cnn_context *, int lane, cnn_error *);
cnn_status cuda_upload_drain(cnn_context *, int lane, double *seconds, cnn_error *);
void cuda_lanes_close(cuda_context *);
/* laps.cu: marks are events; cuda_launch_done() makes one after each kernel, cuda_phase() one after what a library ran.
 * Ranges are NVTX's. */
cnn_status cuda_laps_open(cnn_context *, cnn_laps **, cnn_error *);
void cuda_laps_close(cnn_context *, cnn_laps *);
cnn_status cuda_laps_use(cnn_context *, cnn_laps *, cnn_error *);
cnn_status cuda_lap(cnn_context *, const char *phase, cnn_error *);
cnn_status cuda_laps_read(cnn_context *, cnn_laps *, const cnn_lap **list, int *count, cnn_error *);
static inline cnn_status cuda_phase(cuda_context *c, const char *phase, cnn_error *err)
{
    return c->laps == NULL ? CNN_OK : cuda_lap((cnn_context *)c, phase, err);
}
void cuda_range_push(cnn_context *, const char *name);
void cuda_range_pop(cnn_context *);
/* peaks.cu: the device's ceilings; one implementation that gives them is enough for all of its kind. */
enum { CUDA_PEAK_COUNT = 10 };
cnn_status cuda_peak_open(cnn_context *, int index, cnn_peak *, cnn_error *);
cnn_status cuda_peak_run(cnn_context *, const cnn_peak *, cnn_error *);
void cuda_peak_close(cnn_context *, cnn_peak *);
#define CUDA_PEAK_SLOTS                                                                                                \
    .n_peaks = CUDA_PEAK_COUNT, .peak_open = cuda_peak_open, .peak_run = cuda_peak_run, .peak_close = cuda_peak_close

#ifdef BENCHCNN_CUDA_EMULATED
#define CUDA_DEVICE_KIND CNN_DEVICE_EMULATED
#else
#define CUDA_DEVICE_KIND CNN_DEVICE_CUDA
#endif

/* For an implementation with a probe of its own, which calls cuda_probe(). */
#define CUDA_DEVICE_SLOTS                                                                                              \
    .device_kind = CUDA_DEVICE_KIND, .alloc = cuda_alloc, .free = cuda_free, .upload = cuda_upload,                    \
    .download = cuda_download, .copy = cuda_copy, .fill = cuda_fill, .memory_free = cuda_memory_free,                  \
    .sync = cuda_sync, .timer_start = cuda_timer_start, .timer_stop = cuda_timer_stop,                                 \
    .capture_begin = cuda_capture_begin, .capture_end = cuda_capture_end, .graph_run = cuda_graph_run,                 \
    .graph_free = cuda_graph_free, .host_alloc = cuda_host_alloc, .host_free = cuda_host_free,                         \
    .upload_async = cuda_upload_async, .upload_use = cuda_upload_use, .upload_drain = cuda_upload_drain,               \
    .laps_open = cuda_laps_open, .laps_close = cuda_laps_close, .laps_use = cuda_laps_use, .lap = cuda_lap,            \
    .laps_read = cuda_laps_read, .range_push = cuda_range_push, .range_pop = cuda_range_pop
#define CUDA_COMMON_SLOTS CUDA_DEVICE_SLOTS, .probe = cuda_probe

/* ---- gate.c: what every gate asks first: CNN_OK, or CNN_UNSUPPORTED and why. */
/* Whether the operation has this direction and the algorithm serves it. */
cnn_status cuda_check_served(const cnn_problem *, cnn_dir, const cnn_algorithm *, cnn_error *);
/* Whether dtype is f32 or f64, computed in itself or, where `tf32` says that this is offered, f32's products in TF32.
 */
cnn_status cuda_check_type(const cnn_problem *, bool tf32, cnn_error *);
/* Whether the limit allows so many bytes. */
cnn_status cuda_check_workspace(const cuda_context *, size_t bytes, cnn_error *);
static inline bool cuda_is_weighted(const cnn_problem *problem)
{
    return problem->op == CNN_OP_CONV || problem->op == CNN_OP_FC;
}

/* For cnn_algorithm.ops: an operation, and all but conv and FC, which CUDA_POINTWISE_SLOTS serve. */
#define CUDA_OP(op) (1u << CNN_OP_##op)
#define CUDA_POINTWISE_OPS                                                                                             \
    (CUDA_OP(POOL) | CUDA_OP(ACT) | CUDA_OP(LOSS) | CUDA_OP(DROPOUT) | CUDA_OP(ADD) | CUDA_OP(CONCAT) |                \
     CUDA_OP(BATCHNORM) | CUDA_OP(OPTIMIZER))

/* ---- Pointwise operations: slots of cnn_impl, one file each (pool.cu, act.cu, ...); f32 and f64, NCHW and NHWC, any
 * size (grid-stride, 64-bit indices). Deterministic: sums are trees of a shape that problem and knobs alone decide. */
/* The gate for these operations: CNN_OK or CNN_UNSUPPORTED; an implementation's `supports` calls it for every operation
 * that is neither conv nor FC. The workspace likewise. */
cnn_status cuda_pointwise_supports(cnn_context *, const cnn_problem *, cnn_dir, const cnn_algorithm *, cnn_error *);
cnn_status cuda_pointwise_workspace(cnn_context *, const cnn_problem *, cnn_dir, size_t *bytes, cnn_error *);
cnn_status cuda_pool_fwd(cnn_context *, const cnn_plan *, const cnn_map_fwd_args *, cnn_error *);
cnn_status cuda_pool_bwd(cnn_context *, const cnn_plan *, const cnn_map_bwd_args *, cnn_error *);
cnn_status cuda_act_fwd(cnn_context *, const cnn_plan *, const cnn_map_fwd_args *, cnn_error *);
cnn_status cuda_act_bwd(cnn_context *, const cnn_plan *, const cnn_map_bwd_args *, cnn_error *);
cnn_status cuda_dropout_fwd(cnn_context *, const cnn_plan *, const cnn_map_fwd_args *, cnn_error *);
cnn_status cuda_dropout_bwd(cnn_context *, const cnn_plan *, const cnn_map_bwd_args *, cnn_error *);
cnn_status cuda_loss_fwd(cnn_context *, const cnn_plan *, const cnn_loss_args *, cnn_error *);
cnn_status cuda_loss_bwd(cnn_context *, const cnn_plan *, const cnn_loss_args *, cnn_error *);
cnn_status cuda_add_fwd(cnn_context *, const cnn_plan *, const cnn_join_args *, cnn_error *);
cnn_status cuda_concat_fwd(cnn_context *, const cnn_plan *, const cnn_join_args *, cnn_error *);
cnn_status cuda_concat_bwd(cnn_context *, const cnn_plan *, const cnn_split_args *, cnn_error *);
cnn_status cuda_batchnorm_fwd(cnn_context *, const cnn_plan *, const cnn_batchnorm_args *, cnn_error *);
cnn_status cuda_batchnorm_bwd(cnn_context *, const cnn_plan *, const cnn_batchnorm_args *, cnn_error *);
cnn_status cuda_optimizer_step(cnn_context *, const cnn_plan *, const cnn_optimizer_args *, cnn_error *);
cnn_status cuda_gather(cnn_context *, const cnn_gather_args *, cnn_error *);

#define CUDA_POINTWISE_SLOTS                                                                                           \
    .pool_fwd = cuda_pool_fwd, .pool_bwd = cuda_pool_bwd, .act_fwd = cuda_act_fwd, .act_bwd = cuda_act_bwd,            \
    .dropout_fwd = cuda_dropout_fwd, .dropout_bwd = cuda_dropout_bwd, .loss_fwd = cuda_loss_fwd,                       \
    .loss_bwd = cuda_loss_bwd, .add_fwd = cuda_add_fwd, .concat_fwd = cuda_concat_fwd, .concat_bwd = cuda_concat_bwd,  \
    .batchnorm_fwd = cuda_batchnorm_fwd, .batchnorm_bwd = cuda_batchnorm_bwd, .optimizer_step = cuda_optimizer_step,   \
    .gather = cuda_gather

#ifdef __cplusplus
}
#endif
#endif
