/* context.h: the ground floor of impl_cudnn: the context, its knobs, tensors, and how a call to cuDNN fails.
 *
 * Every call to cuDNN takes a handle, which is bound to a device and a stream; here that stream is the CUDA context's,
 * so that cuDNN's work, cuBLAS's and our own kernels come one after the other without waiting for the host. */
#ifndef IMPL_CUDNN_CONTEXT_H
#define IMPL_CUDNN_CONTEXT_H

#include "harness/cuda/bias.h"
#include "harness/cuda/cuda.h"
#include "harness/cuda/gemm.h"
#include "harness/cuda/rank.h"

#include <cudnn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Behind the knobs that all CUDA implementations have. */
typedef enum cudnn_knob_id {
    CUDNN_KNOB_BEFORE_FIRST = CUDA_KNOB_COUNT - 1,
#define KNOB(id, ...) CUDNN_KNOB_##id,
#define STEPS KNOB
#include "impl_cudnn/knobs.inc"
#undef KNOB
#undef STEPS
    CUDNN_KNOB_COUNT
} cudnn_knob_id;

typedef struct cudnn_context {
    cuda_context cuda;    /* first: the shared slots take the context for one of these */
    cudnnHandle_t handle; /* on the context's stream */
    cuda_blas blas;       /* fc.c's */
} cudnn_context;

/* ---- Slots of cnn_impl. */
cnn_status cudnn_probe(cnn_error *);
cnn_status cudnn_context_open(const cnn_open_params *, cnn_context **, cnn_error *);
void cudnn_context_close(cnn_context *);
void cudnn_describe(cnn_context *, cnn_put_fn *, void *user);

static inline bool cudnn_deterministic_only(const int64_t *knobs) { return knobs[CUDNN_KNOB_DETERMINISTIC_ONLY] != 0; }

/* What stands behind a call that has none of it: FWD's bias and epilogue, BWD_W's gradient of the bias. Not cuDNN's:
 * its cudnnConvolutionBackwardBias() took 220 to 250 us for 1000 images of 20 channels on an H200. */
cnn_status cudnn_tail_run(cudnn_context *, const int64_t *knobs, const cnn_conv_desc *, cnn_dir,
                          const cnn_weighted_args *, cnn_error *);

/* CNN_UNSUPPORTED for a forward pass with a bias or an epilogue in f16 or bf16, where it is not in cuDNN's own call: it
 * would change what is rounded already, and round again. */
cnn_status cudnn_check_tail(const cnn_request *, cnn_error *);
/* CNN_UNSUPPORTED for a data gradient in f16 whose sums must be f32: cuDNN 9.14 keeps some in f16, without a word. */
cnn_status cudnn_check_sums(const cnn_request *, cnn_error *);
/* What may not be had in f16 and bf16, since sums are to be f32 until they are stored: a way that transforms, for what
 * it keeps in between may be of 16 bits; one that is not deterministic, for it adds with atomics to what is stored.
 * CNN_UNSUPPORTED, and why `name` is refused. */
cnn_status cudnn_check_half(cnn_dtype, bool transforms, bool deterministic, const char *name, cnn_error *);

/* How the searches measure. */
static inline cuda_rank_rules cudnn_find_rules(const int64_t *knobs)
{
    const cuda_rank_rules rules = {(int)knobs[CUDNN_KNOB_FIND_RUNS], 1e-3 * (double)knobs[CUDNN_KNOB_FIND_MS]};
    return rules;
}
/* What the record tells of a search: the name of its choice, and whether that had to be timed as the host launches it.
 */
static inline void cudnn_put_choice(cnn_plan *plan, const char *name, bool as_launched)
{
    static const char note[] = " (as launched)";
    const int room = (int)(sizeof plan->choice - sizeof note);
    snprintf(plan->choice, sizeof plan->choice, "%.*s%s", room, name, as_launched ? note : "");
}

/* ---- tensor.c: the descriptors that nearly every call takes, and the factors alpha and beta that come with them:
 * output = alpha * result + beta * what the output holds. */

/* The cuDNN type of the numbers in memory; that of products and sums; and the factors that its calls take, which are of
 * the latter: float for f32, f16 and bf16, double for f64. */
static inline cudnnDataType_t cudnn_data_type(cnn_dtype dtype)
{
    if (dtype == CNN_F16) return CUDNN_DATA_HALF;
    if (dtype == CNN_BF16) return CUDNN_DATA_BFLOAT16;
    return dtype == CNN_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}
static inline cudnnDataType_t cudnn_sum_type(cnn_dtype dtype)
{
    return dtype == CNN_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}
typedef union cudnn_factor {
    float f32;
    double f64;
} cudnn_factor;
static inline cudnn_factor cudnn_factor_of(cnn_dtype dtype, double value)
{
    cudnn_factor factor;
    if (dtype == CNN_F64)
        factor.f64 = value;
    else
        factor.f32 = (float)value;
    return factor;
}

/* A tensor (n, c, h, w) in the type's layout; NULL on failure. CNN_UNSUPPORTED when a size or the whole is more than
 * cuDNN's 32-bit integers count. */
cnn_status cudnn_tensor_open(cudnn_context *, const cnn_type *, int64_t n, int64_t c, int64_t h, int64_t w,
                             cudnnTensorDescriptor_t *, cnn_error *);
/* Likewise (n, c, depth, h, w). */
cnn_status cudnn_tensor_open_deep(cudnn_context *, const cnn_type *, const int64_t sizes[5], cudnnTensorDescriptor_t *,
                                  cnn_error *);
void cudnn_tensor_close(cudnnTensorDescriptor_t *); /* NULL is fine, and becomes so */

/* ---- arena.c: operands for what `prepare` runs: the measurements of both searches, and the one trial run of any plan.
 * They are the device's for that long only. */

typedef struct cudnn_arena {
    void *memory[6]; /* x, w, y, b or their gradients, z, and a workspace */
    int count;
    cnn_weighted_args args;
    size_t workspace_bytes;
} cudnn_arena;

/* All that the request reads and writes, with a small number everywhere: the clocks of a GPU that
 * multiplies zeros are not those of one that works. Closed by itself when opening fails. */
cnn_status cudnn_arena_open(cudnn_context *, const cnn_request *, cudnn_arena *, cnn_error *);
/* Once; 0 bytes are none. */
cnn_status cudnn_arena_workspace(cudnn_context *, cudnn_arena *, size_t bytes, cnn_error *);
/* One workspace for all that will run in turn: the largest of the sizes that three quarters of what is free allow. */
cnn_status cudnn_arena_lend(cudnn_context *, cudnn_arena *, const size_t *sizes, int count, cnn_error *);
void cudnn_arena_close(cudnn_context *, cudnn_arena *);

/* ---- Errors. */

/* What a cuDNN status is to the harness: CNN_UNSUPPORTED where cuDNN refuses the problem, CNN_OUT_OF_MEMORY,
 * CNN_DEVICE, and CNN_INTERNAL for what should not happen. */
cnn_status cudnn_status_of(cudnnStatus_t);
/* cuDNN's own reason for its latest refusal, on one line; "" when it gives none. */
enum { CUDNN_REASON_MAX = 256 };
void cudnn_reason(char reason[CUDNN_REASON_MAX]);

/* CNN_OK, or cuDNN's status and its own reason, with the call that failed; a dead context stays dead:
 * CUDNN_TRY(c, cudnnSetStream(h, s), err). */
cnn_status cudnn_check(cudnn_context *, cudnnStatus_t, const char *call, const char *file, int line, cnn_error *);
#define CUDNN_CHECK(context, call, err) cudnn_check((context), (call), #call, __FILE__, __LINE__, (err))
#define CUDNN_TRY(context, call, err)                                                                                  \
    do {                                                                                                               \
        const cnn_status try_status = CUDNN_CHECK(context, call, err);                                                 \
        if (try_status != CNN_OK) return try_status;                                                                   \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
