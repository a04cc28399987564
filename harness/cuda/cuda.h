/* cuda.h: what the CUDA implementations share: the context, memory, time, graphs, pointwise operations.
 *
 * An implementation's context begins with a cuda_context. Its cnn_impl holds CUDA_COMMON_SLOTS (device, memory, time,
 * graphs), its cnn_operations CUDA_POINTWISE_SLOTS (all but conv and FC). Its knobs begin with those of
 * harness/cuda/knobs.inc. All functions here are C-callable. */
#ifndef HARNESS_CUDA_CUDA_H
#define HARNESS_CUDA_CUDA_H

#include "harness/cnn.h"
#include "harness/cnn/shape.h"
#include "harness/cuda/platform.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The knobs that every CUDA implementation has, first in its table. */
typedef enum cuda_knob_id {
#define KNOB(id, ...) CUDA_KNOB_##id,
#define STEPS KNOB
#define CONTEXT_KNOB KNOB
#include "harness/cuda/knobs.inc"
#undef KNOB
#undef STEPS
#undef CONTEXT_KNOB
    CUDA_KNOB_COUNT
} cuda_knob_id;

/* What KNOB, CONTEXT_KNOB and STEPS are in an implementation's table, of cnn_knob (in C). */
#define CUDA_KNOB_ROW(id, name, doc, min, max, def) {name, doc, min, max, def, NULL, 0, false},
#define CUDA_CONTEXT_KNOB_ROW(id, name, doc, min, max, def) {name, doc, min, max, def, NULL, 0, true},
#define CUDA_STEPS_ROW(id, name, doc, min, max, def, ...) {name, doc, min, max, def, CUDA_STEPS(__VA_ARGS__), false},
#define CUDA_STEPS(...) (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)

/* For sums that several blocks make in one launch: partial sums, and how many of a sum's blocks have arrived; the last
 * one adds them up and leaves `arrived` at 0 again. */
enum { CUDA_SUMS_MAX = 4096, CUDA_PARTIALS_MAX = 8192 };
typedef struct cuda_scratch {
    unsigned arrived[CUDA_SUMS_MAX];
    double partials[CUDA_PARTIALS_MAX];
} cuda_scratch;

enum { CUDA_CLUSTER_MOST = 16 };

typedef struct cuda_context cuda_context;

struct cuda_context {
    int device;
    cudaStream_t stream; /* everything runs on it, in order; see streams.cu for a second one in its place */
    cudaEvent_t start, stop;
    struct cudaDeviceProp properties;    /* what a launch must fit into; read once, at open */
    int clusters[CUDA_CLUSTER_MOST + 1]; /* of so many blocks, that the device holds at once */
    bool cluster_code;                   /* this program's kernels were compiled for devices with clusters */
    int64_t knobs[CUDA_KNOB_COUNT];      /* as `open` had them; a plan has its own */
    bool dead;                           /* after a sticky error: every call fails with `cause` */
    cnn_error cause;
    char last_kernel[CNN_NAME_MAX]; /* the latest launch, named when an error surfaces later */
    bool replayed;                  /* since the stream was last waited for: then it may be a graph's kernel instead */
    cuda_scratch
        *scratch; /* on the device; a stream's operations run in order: each finds it as the last one left it */
    struct cuda_lanes *lanes; /* upload.cu's own; NULL before the first host_alloc */
    cnn_laps *laps;           /* laps.cu's own; NULL while none are in use */
    /* (optional) the implementation's: the handles of its libraries go to `stream`, which is the second one or not. The
     * first time it may allocate, which is in no capture. */
    cnn_status (*follow)(cuda_context *, bool second, cnn_error *);
};

static inline cuda_context *cuda_context_of(cnn_context *context) { return (cuda_context *)context; }

/* ---- context.cu, device.cu: device choice and properties.
 * `bytes` is the size of the implementation's own context, which begins with a cuda_context and is zeroed. The caller
 * adds its own handles, and on failure calls cuda_context_close(), which frees the memory. */
cnn_status cuda_probe(cnn_error *);
cnn_status cuda_context_open(const cnn_open_params *, size_t bytes, cnn_context **, cnn_error *);
void cuda_context_close(cnn_context *);
void cuda_describe(cnn_context *, cnn_put_fn *,
                   void *user); /* device, its PCI bus, compute capability, driver, runtime, "emulated" */

/* device.cu, for cuda_context_open(): whether a device can be used. */
/* The error of a call that asks for a device or opens it, as CNN_UNAVAILABLE or CNN_OUT_OF_MEMORY, in words. */
cnn_status cuda_unavailable(cudaError_t, int device, cnn_error *);
/* CNN_UNAVAILABLE where the device is closed or older than all code in this program; makes no context on it. */
cnn_status cuda_check_device(int device, cnn_error *);
/* CNN_UNAVAILABLE where this program's kernels cannot be loaded on the current device, which is `device`. */
cnn_status cuda_check_code(int device, cnn_error *);

/* clusters.cu: how many clusters of so many blocks, one a multiprocessor, the device holds at once; 0: none. */
cudaError_t cuda_clusters_count(cuda_context *);
static inline int cuda_clusters(const cuda_context *c, int blocks)
{
    if (blocks == 1) return c->properties.multiProcessorCount;
    return blocks > 1 && blocks <= CUDA_CLUSTER_MOST ? c->clusters[blocks] : 0;
}
/* The same for kernels that use cluster.h: 0, too, where the driver compiled older PTX for the device, which has none
 * of its instructions. */
static inline int cuda_clusters_of_code(const cuda_context *c, int blocks)
{
    return blocks == 1 || c->cluster_code ? cuda_clusters(c, blocks) : 0;
}

/* Makes the context's device this thread's current one, which calls that name no stream go to (cudaMalloc, a
 * library's): several contexts may be open, on several devices. cuda_memory and cuda_launch() do it by themselves. */
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

/* ---- Tables of cnn_impl, each at the end of its file: memory.cu, timer.cu, graph.cu, laps.cu, upload.cu, offload.cu,
 * streams.cu, peaks.cu, nccl.c. */
extern const cnn_memory cuda_memory;
extern const cnn_timing cuda_timing;
extern const cnn_capture cuda_capture;
extern const cnn_profile cuda_profile; /* marks are events */
extern const cnn_ranges cuda_ranges;   /* NVTX's */
extern const cnn_uploads cuda_uploads;
extern const cnn_offloads cuda_offloads;
extern const cnn_streams cuda_streams;
extern const cnn_peaks cuda_peaks; /* one implementation that gives them is enough for all of its kind */
#ifdef BENCHCNN_HAS_NCCL
extern const cnn_comms cuda_comms;
#define CUDA_COMMS &cuda_comms
#else
#define CUDA_COMMS NULL
#endif
cnn_status cuda_sync(cnn_context *, cnn_error *);
/* CNN_BAD_ARGUMENT while the context's stream captures: for what would wait or allocate, and so break the capture. */
cnn_status cuda_check_not_capturing(cuda_context *, const char *what, cnn_error *);
void cuda_lanes_close(cuda_context *); /* upload.cu, for cuda_context_close() */
/* Marks the end of what a library ran; after a kernel, cuda_launch() does. */
static inline cnn_status cuda_phase(cuda_context *c, const char *phase, cnn_error *err)
{
    return c->laps == NULL ? CNN_OK : cuda_profile.lap((cnn_context *)c, phase, err);
}

#ifdef BENCHCNN_CUDA_EMULATED
#define CUDA_DEVICE_KIND CNN_DEVICE_EMULATED
#else
#define CUDA_DEVICE_KIND CNN_DEVICE_CUDA
#endif

/* For an implementation with a probe of its own, which calls cuda_probe(). */
#define CUDA_DEVICE_SLOTS                                                                                              \
    .device_kind = CUDA_DEVICE_KIND, .sync = cuda_sync, .memory = &cuda_memory, .timing = &cuda_timing,                \
    .capture = &cuda_capture, .profile = &cuda_profile, .ranges = &cuda_ranges, .uploads = &cuda_uploads,              \
    .offloads = &cuda_offloads, .streams = &cuda_streams, .comms = CUDA_COMMS
#define CUDA_COMMON_SLOTS CUDA_DEVICE_SLOTS, .probe = cuda_probe

/* ---- gate.c: what every gate asks first: CNN_OK, or CNN_UNSUPPORTED and why. */
/* Whether the operation has this direction and the algorithm serves it. */
cnn_status cuda_check_served(const cnn_request *, cnn_error *);
/* Whether dtype is f32 or f64, computed in itself or, where `tf32` says that this is offered, f32's products in TF32.
 */
cnn_status cuda_check_type(const cnn_problem *, bool tf32, cnn_error *);
double cuda_act_alpha(const cnn_act_desc *); /* of a clipped ReLU its ceiling in the type of x and y */
/* The same for kernels that take f16 and bf16, too, computed in f32, with results of f32 as well (real.h). */
cnn_status cuda_check_number(const cnn_problem *, bool tf32, cnn_error *);
/* The most bytes of workspace that a convolution or FC may take; SIZE_MAX without a limit. */
static inline size_t cuda_workspace_limit(const int64_t *knobs)
{
    return cnn_workspace_limit(knobs[CUDA_KNOB_WORKSPACE_LIMIT]);
}
static inline bool cuda_is_weighted(const cnn_problem *problem)
{
    return problem->op == CNN_OP_CONV || problem->op == CNN_OP_CONV3D || problem->op == CNN_OP_FC;
}
/* ---- gate.c too: `prepare`. What `supports` was asked, to settle it as there; plan->state as a copy of so many bytes,
 * which the slot cuda_release() frees. */
static inline cnn_request cuda_request_of(const cnn_plan *plan)
{
    const cnn_request request = {&plan->problem, plan->dir, &plan->algorithm, plan->knobs};
    return request;
}
cnn_status cuda_keep(cnn_plan *, const void *state, size_t bytes, cnn_error *);
void cuda_release(cnn_context *, cnn_plan *);

/* bias.cu: slots for a transposed convolution's bias. */
cnn_status cuda_bias_add_slot(cnn_context *, const cnn_plan *, const cnn_bias_args *, cnn_error *);
cnn_status cuda_bias_gradient_slot(cnn_context *, const cnn_plan *, const cnn_bias_args *, cnn_error *);
#define CUDA_BIAS_SLOTS .bias_add = cuda_bias_add_slot, .bias_gradient = cuda_bias_gradient_slot

/* ---- Epilogues (epilogue.h) that a kernel leaves to a pass behind it: y = f(y + z), in place, of results in f32 and
 * f64.
 */
/* What is added to sums: z, or with beta 1 what is in y, or dx, already; NULL: nothing. */
const void *cuda_epilogue_from(const cnn_plan *, const cnn_weighted_args *);
/* f where its pieces are lines: x <= 0 ? down*x : up*x, and no more than `top`. Else, with kind CNN_ACT_IDENTITY, x. */
typedef struct cuda_line {
    cnn_act_kind kind;
    double down, up, top;
} cuda_line;
cuda_line cuda_epilogue_line(const cnn_problem *);
/* What is left where the kernel adds z, and does that. */
cnn_epilogue cuda_epilogue_rest(const cnn_problem *);
typedef struct cuda_pass {
    cnn_epilogue left; /* may be nothing */
    cnn_dtype dtype;   /* of y and z */
    int64_t count;     /* of their elements */
    const void *z;
    void *y;
    const int64_t *knobs;
} cuda_pass;
/* The whole epilogue of all of y. */
cuda_pass cuda_pass_of(const cnn_problem *, const int64_t *knobs, const cnn_weighted_args *);
/* epilogue.cu */
cnn_status cuda_epilogue_pass(cuda_context *, const cuda_pass *, cnn_error *);
/* gate.c: whether the results are of a type that allows it. */
cnn_status cuda_check_epilogue(const cnn_problem *, cnn_epilogue left, cnn_error *);

/* For cnn_algorithm.ops: an operation, a convolution either way round, and all but conv and FC, which
 * CUDA_POINTWISE_SLOTS serve. */
#define CUDA_OP(op) (1u << CNN_OP_##op)
#define CUDA_CONVS (CUDA_OP(CONV) | CUDA_OP(DECONV))
#define CUDA_POINTWISE_OPS                                                                                             \
    (CUDA_OP(POOL) | CUDA_OP(POOL3D) | CUDA_OP(ACT) | CUDA_OP(LOSS) | CUDA_OP(DROPOUT) | CUDA_OP(ADD) |                \
     CUDA_OP(CONCAT) | CUDA_OP(BATCHNORM) | CUDA_OP(OPTIMIZER))

/* ---- Pointwise operations: slots of cnn_operations, one file each (pool.cu, act.cu, ...); f32 and f64, and f16 and
 * bf16 with weights, statistics and state in f32; NCHW and NHWC, any size (grid-stride, 64-bit indices). Deterministic:
 * sums are trees of a shape that problem and knobs alone decide. */
/* An implementation's `supports` and `prepare` call these for every operation that is neither conv nor FC. What they
 * keep cuda_release() frees. */
cnn_status cuda_pointwise_supports(const cnn_request *, cnn_error *);
cnn_status cuda_pointwise_prepare(cnn_plan *, cnn_error *);
cnn_status cuda_loss_prepare(cnn_plan *, cnn_error *);
cnn_status cuda_batchnorm_prepare(cnn_plan *, cnn_error *);
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
cnn_status cuda_batchnorm(cnn_context *, const cnn_plan *, const cnn_batchnorm_args *, cnn_error *);
cnn_status cuda_optimizer_step(cnn_context *, const cnn_plan *, const cnn_optimizer_args *, cnn_error *);
cnn_status cuda_gather(cnn_context *, const cnn_gather_args *, cnn_error *);

#define CUDA_POINTWISE_SLOTS                                                                                           \
    .pool_fwd = cuda_pool_fwd, .pool_bwd = cuda_pool_bwd, .act_fwd = cuda_act_fwd, .act_bwd = cuda_act_bwd,            \
    .dropout_fwd = cuda_dropout_fwd, .dropout_bwd = cuda_dropout_bwd, .loss_fwd = cuda_loss_fwd,                       \
    .loss_bwd = cuda_loss_bwd, .add_fwd = cuda_add_fwd, .concat_fwd = cuda_concat_fwd, .concat_bwd = cuda_concat_bwd,  \
    .batchnorm_fwd = cuda_batchnorm, .batchnorm_bwd = cuda_batchnorm, .optimizer_step = cuda_optimizer_step,           \
    .gather = cuda_gather, CUDA_BIAS_SLOTS

#ifdef __cplusplus
}
#endif
#endif
