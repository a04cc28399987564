/* cnn.h: the one public header of benchcnn.
 *
 * An implementation is one `cnn_impl` (at the end of this file): a struct of typed function pointers, the nullable
 * ones marked "(optional)". Everything above it is plain data that crosses that struct. The header needs only the C
 * standard library and compiles as C11 and as C++17, so an implementation outside the tree needs nothing else.
 *
 * Conventions, said once:
 *   - Sizes, strides and counts are int64_t elements; memory is size_t bytes.
 *   - Activations are 4-D, (n, c, h, w), stored NCHW or NHWC without gaps. Weights are always
 *     [oc][ic/g][kh][kw] (conv) or [oc][ic][ih][iw] (FC), biases [oc], whatever the layout.
 *   - Every buffer is in the implementation's own device memory, aligned to CNN_ALIGN bytes (but for `index` of
 *     cnn_gather_args), and given by the harness; operations allocate nothing and run in order on the context's stream.
 * Outputs never alias inputs but where an operation below says so.
 *   - `workspace` is NULL when 0 bytes were asked for; its contents do not survive from one call to the next.
 *   - Calls to one context come from one thread at a time; several contexts may be open.
 *   - Functions return a cnn_status; on failure they fill `err` (never NULL) with a sentence that holds the values.
 */
#ifndef CNN_H
#define CNN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CNN_ABI_VERSION 1
enum { CNN_ALIGN = 64, CNN_NAME_MAX = 96, CNN_MESSAGE_MAX = 512, CNN_MAX_INPUTS = 8 };

/* ---- Errors ---------------------------------------------------------------------------------------------------- */

#define CNN_STATUS_LIST(X)                                                                                             \
    X(OK, "ok")                                                                                                        \
    X(BAD_ARGUMENT, "bad argument")                                                                                    \
    X(BAD_FORMAT, "bad format")                                                                                        \
    X(OVERFLOW, "size overflow")                                                                                       \
    X(OUT_OF_MEMORY, "out of memory")                                                                                  \
    X(IO, "input/output error")                                                                                        \
    X(UNSUPPORTED, "unsupported")                                                                                      \
    X(UNAVAILABLE, "unavailable")                                                                                      \
    X(DEVICE, "device error")                                                                                          \
    X(INTERRUPTED, "interrupted")                                                                                      \
    X(INTERNAL, "internal error")

typedef enum cnn_status {
#define X(name, text) CNN_##name,
    CNN_STATUS_LIST(X)
#undef X
        CNN_STATUS_COUNT
} cnn_status;

/* Owned by the caller; valid when a call returned anything but CNN_OK. */
typedef struct cnn_error {
    cnn_status status;
    const char *file;
    int line;
    char message[CNN_MESSAGE_MAX];
} cnn_error;

#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
static inline cnn_status
cnn_error_set(cnn_error *err, cnn_status status, const char *file, int line, const char *format, ...)
{
    va_list args;
    err->status = status;
    err->file = file;
    err->line = line;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return status;
}

/* return CNN_FAIL(err, CNN_UNSUPPORTED, "kernel %d x %d is larger than 7 x 7", kh, kw); */
#define CNN_FAIL(err, status, ...) cnn_error_set((err), (status), __FILE__, __LINE__, __VA_ARGS__)

/* ---- Types of number, layout, arithmetic ----------------------------------------------------------------------- */

typedef enum cnn_dtype { CNN_F32, CNN_F64, CNN_DTYPE_COUNT } cnn_dtype;
typedef enum cnn_layout { CNN_NCHW, CNN_NHWC, CNN_LAYOUT_COUNT } cnn_layout;

/* What the arithmetic may use. CNN_MATH_F32 is strict: products and sums are no less precise than the dtype.
 * With CNN_F64 `supports` refuses the others. */
typedef enum cnn_math { CNN_MATH_F32, CNN_MATH_TF32, CNN_MATH_F16, CNN_MATH_BF16, CNN_MATH_COUNT } cnn_math;

typedef enum cnn_op {
    CNN_OP_CONV,
    CNN_OP_FC,
    CNN_OP_POOL,
    CNN_OP_ACT,
    CNN_OP_LOSS,
    CNN_OP_DROPOUT,
    CNN_OP_ADD,
    CNN_OP_CONCAT,
    CNN_OP_BATCHNORM,
    CNN_OP_OPTIMIZER,
    CNN_OP_COUNT
} cnn_op;

/* Operations without weights know FWD and BWD_D; batch norm's BWD_D gives dx, dgamma and dbeta at once; the optimizer
 * knows FWD only (the update). */
typedef enum cnn_dir { CNN_FWD, CNN_BWD_D, CNN_BWD_W, CNN_DIR_COUNT } cnn_dir;

typedef struct cnn_type {
    cnn_dtype dtype;
    cnn_layout layout;
    cnn_math math;
} cnn_type;

/* ---- Descriptors: one operation on one set of shapes; every field filled in, none left to be deduced ------------- */

/* y[n,k,p,q] = b[k] + sum_{c,i,j} w[k,c,i,j] * x[n, c, p*sh + i*(dh+1) - ph, q*sw + j*(dw+1) - pw], zero outside x,
 * c over the input channels of k's group (thesis eq. 3.5 to 3.7; d = dh + 1 there). Groups are contiguous blocks of
 * oc/g output and ic/g input channels; w counts c within its group. With h = p*sh + i*(dh+1) - ph, v likewise
 * (eq. 3.8 to 3.10):
 *   BWD_D  dx[n,c,h,v] = sum_{k,i,j,p,q} w[k,c,i,j] * dy[n,k,p,q], over all that read this pixel
 *   BWD_W  dw[k,c,i,j] = sum_{n,p,q} dy[n,k,p,q] * x[n,c,h,v],  db[k] = sum_{n,p,q} dy[n,k,p,q]
 * With `flip`, w[k,c,kh-1-i,kw-1-j] stands for w[k,c,i,j] in all three, and dw likewise.
 * ph and pw are the padding above and on the left; ph_r and pw_r, below and on the right, may be negative: then the
 * last input rows or columns are not read. */
typedef struct cnn_conv_desc {
    cnn_type t;
    int64_t g, mb, ic, ih, iw, oc, oh, ow, kh, kw, sh, sw, ph, pw, ph_r, pw_r, dh, dw;
    bool bias, flip;
} cnn_conv_desc;

/* y[n,k] = b[k] + sum_{c,h,w} w[k,c,h,w] * x[n,c,h,w]. x is a 4-D tensor in t.layout; y is [mb][oc]. */
typedef struct cnn_fc_desc {
    cnn_type t;
    int64_t mb, ic, ih, iw, oc;
    bool bias;
} cnn_fc_desc;

/* MAX takes padding for minus infinity; on a tie the gradient goes to the first maximum in row-major order of the
 * window. AVG divides by the taps inside x, AVG_PAD by kh*kw. GLOBAL_AVG has kh = ih, kw = iw, oh = ow = 1. Every
 * window touches at least one pixel. dh, dw as in cnn_conv_desc. */
typedef enum cnn_pool_kind {
    CNN_POOL_MAX,
    CNN_POOL_AVG,
    CNN_POOL_AVG_PAD,
    CNN_POOL_GLOBAL_AVG,
    CNN_POOL_COUNT
} cnn_pool_kind;

typedef struct cnn_pool_desc {
    cnn_type t;
    cnn_pool_kind kind;
    int64_t mb, ic, ih, iw, oh, ow, kh, kw, sh, sw, ph, pw, ph_r, pw_r, dh, dw;
} cnn_pool_desc;

/* alpha is the slope of leaky ReLU, the ceiling of clipped ReLU, the scale of ELU (alpha*(e^x - 1) for x < 0); >= 0, so
 * that f' can be had from y = f(x) alone. At a kink the derivative is the one of the side x <= 0 (x >= alpha: 0). */
typedef enum cnn_act_kind {
    CNN_ACT_IDENTITY,
    CNN_ACT_RELU,
    CNN_ACT_LEAKY_RELU,
    CNN_ACT_CLIPPED_RELU,
    CNN_ACT_ELU,
    CNN_ACT_SIGMOID,
    CNN_ACT_TANH,
    CNN_ACT_COUNT
} cnn_act_kind;

typedef struct cnn_act_desc {
    cnn_type t;
    cnn_act_kind kind;
    double alpha;
    int64_t mb, ic, ih, iw;
} cnn_act_desc;

/* Softmax over the ic classes of each image, then cross-entropy with the integer labels. */
typedef struct cnn_loss_desc {
    cnn_type t;
    int64_t mb, ic;
} cnn_loss_desc;

/* y = x / (1 - rate) where cnn_dropout_keep() says so, else 0; in inference y = x. */
typedef struct cnn_dropout_desc {
    cnn_type t;
    double rate;
    uint64_t seed;
    bool inference;
    int64_t mb, ic, ih, iw;
} cnn_dropout_desc;

/* y = x[0] + x[1]. Its backward is the identity, so it has no BWD_D. */
typedef struct cnn_add_desc {
    cnn_type t;
    int64_t mb, ic, ih, iw;
} cnn_add_desc;

/* Along the channels: y has sum(ic[i]) of them. */
typedef struct cnn_concat_desc {
    cnn_type t;
    int64_t mb, ih, iw;
    int n_inputs;
    int64_t ic[CNN_MAX_INPUTS];
} cnn_concat_desc;

/* Per channel over (n,h,w): y = gamma * (x - mean) / sqrt(var + eps) + beta, var biased. In training the running
 * statistics become (1 - momentum)*running + momentum*batch, with the unbiased variance (n/(n-1), as in PyTorch); in
 * inference they are what is used. */
typedef struct cnn_batchnorm_desc {
    cnn_type t;
    double eps, momentum;
    bool inference;
    int64_t mb, ic, ih, iw;
} cnn_batchnorm_desc;

/* One update of `count` parameters, thesis eq. 3.11 to 3.21. First g = grad + l1*sign(w) + l2*w; then
 *   SGD       w -= lr*g
 *   MOMENTUM  m = beta1*m - lr*g;              w += m
 *   ADAGRAD   s += g*g;                        w -= lr*g / (sqrt(s) + eps)
 *   RMSPROP   s = beta2*s + (1-beta2)*g*g;     w -= lr*g / (sqrt(s) + eps)
 *   ADAM      m = beta1*m + (1-beta1)*g; s = beta2*s + (1-beta2)*g*g;
 *             w -= lr * (m/(1-beta1^(t+1))) / (sqrt(s/(1-beta2^(t+1))) + eps),  t = *step, from 0.
 * With decay_steps > 0 the rate falls linearly to zero: lr * max(0, 1 - t/decay_steps) stands for lr. */
typedef enum cnn_optimizer_kind {
    CNN_SGD,
    CNN_MOMENTUM,
    CNN_ADAGRAD,
    CNN_RMSPROP,
    CNN_ADAM,
    CNN_OPTIMIZER_COUNT
} cnn_optimizer_kind;

typedef struct cnn_optimizer_desc {
    cnn_type t;
    cnn_optimizer_kind kind;
    int64_t count;
    double lr, beta1, beta2, eps, l1, l2, decay_steps;
} cnn_optimizer_desc;

/* Any operation. `type` is the descriptor's own first member. */
typedef struct cnn_problem {
    cnn_op op;
    char name[CNN_NAME_MAX]; /* the n"..." of the descriptor; "" without one */
    union {
        cnn_type type;
        cnn_conv_desc conv;
        cnn_fc_desc fc;
        cnn_pool_desc pool;
        cnn_act_desc act;
        cnn_loss_desc loss;
        cnn_dropout_desc dropout;
        cnn_add_desc add;
        cnn_concat_desc concat;
        cnn_batchnorm_desc batchnorm;
        cnn_optimizer_desc optimizer;
    } u;
} cnn_problem;

/* Whether element `index` (position in memory) is kept in update `step`: a counter-based draw (splitmix64's finalizer),
 * the same in every implementation, so forward and backward need not store a mask and results can be compared. */
#ifdef __CUDACC__
__host__ __device__
#endif
    static inline bool
    cnn_dropout_keep(uint64_t seed, int64_t step, int64_t index, double rate)
{
    uint64_t z = seed + 0x9E3779B97F4A7C15u * ((uint64_t)step * 0xD1342543DE82EF95u + (uint64_t)index + 1);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (double)(z >> 11) * (1.0 / 9007199254740992.0) >= rate;
}

/* ---- Arguments: device pointers of one call -----------------------------------------------------------------------
 */

/* Conv and FC. FWD reads x, w, b and writes y; BWD_D reads dy, w and writes dx; BWD_W reads x, dy and writes dw, db.
 * b and db are NULL where the descriptor has no bias. beta is 0 (the result replaces the output, which may hold
 * anything, NaN too) or 1 (the result, bias included, is added to it): for y, dx, dw, and db alike. */
typedef struct cnn_weighted_args {
    const void *x, *w, *b, *dy;
    void *y, *dx, *dw, *db;
    double beta;
    void *workspace;
} cnn_weighted_args;

/* Pooling, activation, dropout. y may be x in an activation's forward (in place), dx may be dy in its backward; after
 * an in-place forward, `x` is NULL in the backward and f' must come from y. `step` (dropout) counts updates. */
typedef struct cnn_map_fwd_args {
    const void *x;
    void *y;
    const int64_t *step;
    void *workspace;
} cnn_map_fwd_args;

typedef struct cnn_map_bwd_args {
    const void *x, *y, *dy;
    void *dx;
    const int64_t *step;
    void *workspace;
} cnn_map_bwd_args;

/* FWD: y = softmax(x); if not NULL, *loss_sum += sum_n -log(y[n,label]) and *correct += the images whose largest x is
 * at the label (the first one on a tie). BWD_D: dx = (y - onehot(labels)) * scale. Labels are in [0, ic). */
typedef struct cnn_loss_args {
    const void *x;
    const int32_t *labels;
    void *y, *dx;
    double *loss_sum;
    int64_t *correct;
    double scale;
    void *workspace;
} cnn_loss_args;

/* ADD and CONCAT forward. y may be x[0] in ADD. */
typedef struct cnn_join_args {
    const void *x[CNN_MAX_INPUTS];
    void *y;
} cnn_join_args;

/* CONCAT backward: dy is cut into dx[0], dx[1], ...; a NULL dx[i] is left out. */
typedef struct cnn_split_args {
    const void *dy;
    void *dx[CNN_MAX_INPUTS];
} cnn_split_args;

/* Statistics and parameters are [ic] in the problem's dtype. Training forward writes save_mean and save_invstd
 * (1/sqrt(var + eps)) for the backward, and updates running_*; inference only reads running_*. */
typedef struct cnn_batchnorm_args {
    const void *x, *gamma, *beta, *dy;
    void *y, *dx, *dgamma, *dbeta;
    void *running_mean, *running_var, *save_mean, *save_invstd;
    void *workspace;
} cnn_batchnorm_args;

/* state[0], state[1]: `count` elements each, zero at first, as many as the kind needs (m then s). *step is read, then
 * the call adds 1 to it: it lives on the device so that a captured step can be replayed. */
typedef struct cnn_optimizer_args {
    void *w;
    const void *grad;
    void *state[2];
    int64_t *step;
} cnn_optimizer_args;

/* y[i] = rows[index[i]], y_labels[i] = labels[index[i]], i < count; row_elems elements a row. With a cursor (one number
 * in device memory), index[*cursor + i] stands for index[i], and the call then adds count to *cursor: so the captured
 * step takes the next batch at each replay; without one, `index` points into an order and is aligned to an int32_t
 * only. y_labels may be NULL. */
typedef struct cnn_gather_args {
    cnn_dtype dtype;
    int64_t count, row_elems;
    const void *rows;
    const int32_t *labels, *index;
    void *y;
    int32_t *y_labels;
    int64_t *cursor; /* (optional) */
} cnn_gather_args;

/* ---- A network as plain data ---------------------------------------------------------------------------------------
 */

typedef struct cnn_value {
    int64_t c, h, w; /* per image */
} cnn_value;

typedef enum cnn_param_role {
    CNN_WEIGHT,
    CNN_BIAS,
    CNN_GAMMA,
    CNN_BETA,
    CNN_RUNNING_MEAN, /* the running statistics are kept, not trained: they stand behind the trained ones */
    CNN_RUNNING_VAR
} cnn_param_role;

typedef struct cnn_param {
    cnn_param_role role;
    int layer;
    int64_t count, offset; /* elements; offset into the flat parameter vector, a multiple of CNN_ALIGN bytes */
    int64_t fan_in, fan_out;
} cnn_param;

/* inputs and output index cnn_net.values; value 0 is the images. params[i] indexes cnn_net.params in the order of
 * cnn_param_role; -1 marks none. In-place activations have output == inputs[0]. */
typedef struct cnn_layer {
    char name[CNN_NAME_MAX];
    cnn_problem problem; /* at the network's batch size */
    int n_inputs, inputs[CNN_MAX_INPUTS], output;
    int n_params, params[4];
} cnn_layer;

/* Layers stand in the order of execution; the last one is the loss. */
typedef struct cnn_net {
    char name[CNN_NAME_MAX];
    cnn_type type;
    int64_t batch, classes;
    int n_layers, n_values, n_params;
    const cnn_layer *layers;
    const cnn_value *values;
    const cnn_param *params;
    int64_t param_elems;   /* the flat vector: trained parameters first, gaps for alignment included (always zero) */
    int64_t trained_elems; /* what the optimizer updates */
} cnn_net;

typedef struct cnn_step_args {
    int64_t mb; /* images in this batch, <= net->batch */
    const void *x;
    const int32_t *labels;
    void *params, *grads, *state[2];
    int64_t *step, *correct;
    double *loss_sum;
    void *workspace;
} cnn_step_args;

/* ---- The implementation
 * ---------------------------------------------------------------------------------------------- */

typedef struct cnn_context cnn_context; /* opaque: a device, a stream, threads; contexts are independent */
typedef struct cnn_graph cnn_graph;     /* opaque: a captured sequence of operations */
typedef struct cnn_stepper cnn_stepper; /* opaque: a whole training step in the implementation's own hands */
typedef struct cnn_laps cnn_laps;       /* opaque: marks on the stream, and when it passed them */

/* What ran on the stream between one mark and the next. */
typedef struct cnn_lap {
    char phase[32]; /* "gemm", a kernel's name ...; "": what was left of an operation when the harness ended it */
    double seconds;
} cnn_lap;

/* A launch parameter, tile size, version ... Valid: min <= v <= max and, where `values` is given, one of them. */
typedef struct cnn_knob {
    const char *name, *doc;
    int64_t min, max, def;
    const int64_t *values; /* (optional) */
    int n_values;
} cnn_knob;

enum {
    CNN_ALGO_DETERMINISTIC = 1, /* the same bits in every run and for every thread count */
    CNN_ALGO_TRANSFORMS = 2     /* FFT, Winograd: integers are not computed exactly; held to `amplification` */
};

typedef struct cnn_algorithm {
    char name[CNN_NAME_MAX];
    const char *doc;
    uint32_t ops;         /* bit 1 << cnn_op for each operation it serves */
    uint32_t flags;       /* CNN_ALGO_* */
    double amplification; /* of the rounding bound; 1 for plain sums of products */
    int64_t id;           /* the implementation's own */
} cnn_algorithm;

/* One problem, one direction, one algorithm, ready to run. The harness fills the first three from what `supports` let
 * through, then calls `workspace` and `prepare`, which may change workspace_bytes and narrow what `algorithm` promises
 * (TRANSFORMS, amplification) to what it chose: that is what the plan is held to. A partial batch is a plan of its own,
 * made before the first step. */
typedef struct cnn_plan {
    cnn_problem problem;
    cnn_dir dir;
    cnn_algorithm algorithm;
    size_t workspace_bytes;
    char choice[CNN_NAME_MAX]; /* what `prepare` settled on, where the algorithm is a search; for the record */
    void *state;               /* the implementation's own, from `prepare` to `release` */
} cnn_plan;

/* Valid during `open` only, the knobs too. */
typedef struct cnn_open_params {
    int threads;          /* >= 1 */
    int device;           /* >= 0 */
    const int64_t *knobs; /* one value a row of cnn_impl.knobs, checked by the harness */
} cnn_open_params;

/* EMULATED: a GPU's kernels run on the host, to be tested; such an implementation is never timed. */
typedef enum cnn_device_kind { CNN_DEVICE_CPU, CNN_DEVICE_CUDA, CNN_DEVICE_EMULATED } cnn_device_kind;

typedef void cnn_put_fn(void *user, const char *key, const char *value);

/* A ceiling: what the device can do at best, found by running a kernel that does nothing else. */
typedef enum cnn_peak_unit {
    CNN_PEAK_FLOPS,  /* floating-point operations a second, in dtype and math */
    CNN_PEAK_BYTES,  /* bytes a second, read and written ones added up */
    CNN_PEAK_SECONDS /* seconds each: a latency, by the host's clock */
} cnn_peak_unit;

typedef struct cnn_peak {
    char what[CNN_NAME_MAX];    /* "fma", "gemm", "read", "copy", "triad", "launch", ... */
    char variant[CNN_NAME_MAX]; /* an instruction set, a library, a cache ("L2"); or "" */
    cnn_peak_unit unit;
    cnn_dtype dtype;
    cnn_math math;
    double amount; /* what one run does: operations, bytes, launches */
    size_t holds;  /* of bytes: what the cache holds whose bandwidth this is; 0: memory */
    void *state;   /* the implementation's own, from peak_open to peak_close */
} cnn_peak;

#define CNN_OPERATION(slot, args) cnn_status (*slot)(cnn_context *, const cnn_plan *, const args *, cnn_error *)

typedef struct cnn_impl {
    /* Identity. The tables are static; the first algorithm that serves an operation is its default. */
    uint32_t abi_version; /* CNN_ABI_VERSION */
    uint32_t struct_size; /* sizeof(cnn_impl) */
    const char *name, *doc;
    cnn_device_kind device_kind;
    const cnn_algorithm *algorithms;
    int n_algorithms;
    const cnn_knob *knobs; /* (optional) */
    int n_knobs;

    /* Can it run here? If not: CNN_UNAVAILABLE, and why, in words a user can act on. */
    cnn_status (*probe)(cnn_error *);
    cnn_status (*open)(const cnn_open_params *, cnn_context **, cnn_error *);
    void (*close)(cnn_context *);
    void (*describe)(cnn_context *, cnn_put_fn *, void *user); /* (optional) versions, ISA, device: for the record */

    /* Memory and time on its device. NULL alloc stands for host memory: the harness then does all of these itself. */
    cnn_status (*alloc)(cnn_context *, size_t bytes, void **, cnn_error *);                       /* (optional) */
    void (*free)(cnn_context *, void *);                                                          /* with alloc */
    cnn_status (*upload)(cnn_context *, void *dst, const void *src, size_t bytes, cnn_error *);   /* with alloc */
    cnn_status (*download)(cnn_context *, void *dst, const void *src, size_t bytes, cnn_error *); /* with alloc */
    cnn_status (*copy)(cnn_context *, void *dst, const void *src, size_t bytes, cnn_error *);     /* with alloc */
    cnn_status (*fill)(cnn_context *, void *dst, int byte, size_t bytes, cnn_error *);            /* with alloc */
    cnn_status (*memory_free)(cnn_context *, size_t *bytes, cnn_error *);                         /* with alloc */
    cnn_status (*sync)(cnn_context *, cnn_error *);        /* (optional) where operations are asynchronous */
    cnn_status (*timer_start)(cnn_context *, cnn_error *); /* (optional) device events; else the wall clock */
    cnn_status (*timer_stop)(cnn_context *, double *seconds, cnn_error *); /* with timer_start; waits for the device */
    cnn_status (*capture_begin)(cnn_context *, cnn_error *);               /* (optional) */
    cnn_status (*capture_end)(cnn_context *, cnn_graph **, cnn_error *);   /* with capture_begin */
    cnn_status (*graph_run)(cnn_context *, cnn_graph *, cnn_error *);      /* with capture_begin */
    void (*graph_free)(cnn_context *, cnn_graph *);                        /* with capture_begin */

    /* Where the time goes: all five (optional), together. While laps are in use, operations mark the end of each of
     * their phases, and the harness the end of each operation (`lap` with ""). In a capture marks are captured too:
     * then the laps are those of the latest replay. Without laps in use, `lap` does nothing. */
    cnn_status (*laps_open)(cnn_context *, cnn_laps **, cnn_error *);
    void (*laps_close)(cnn_context *, cnn_laps *);
    cnn_status (*laps_use)(cnn_context *, cnn_laps *, cnn_error *); /* begins anew, here; NULL: none are in use */
    cnn_status (*lap)(cnn_context *, const char *phase, cnn_error *);
    /* After a sync. The list is good until the laps are used or read again. */
    cnn_status (*laps_read)(cnn_context *, cnn_laps *, const cnn_lap **list, int *count, cnn_error *);
    /* (optional) together: what is called between them stands under this name in the vendor's profiler. */
    void (*range_push)(cnn_context *, const char *name);
    void (*range_pop)(cnn_context *);

    /* Uploads beside the stream: all five (optional), together. There are two lanes, 0 and 1, taken in turn (after a
     * sync, either); a lane holds one upload at a time, and each goes  upload_async -> upload_use -> (operations that
     * read dst) -> upload_drain. `src` is memory from host_alloc. */
    cnn_status (*host_alloc)(cnn_context *, size_t bytes, void **, cnn_error *); /* host memory the device can read */
    void (*host_free)(cnn_context *, void *);
    /* Starts the copy and returns. It waits for what was on the stream before the other lane's latest upload_use, which
     * is all that read `dst` before; what came after overlaps with it. */
    cnn_status (*upload_async)(cnn_context *, int lane, void *dst, const void *src, size_t bytes, cnn_error *);
    /* What comes on the stream from now on waits for the lane's upload. */
    cnn_status (*upload_use)(cnn_context *, int lane, cnn_error *);
    /* Returns when the lane's upload is done and `src` may be written again; the seconds it took, 0 if there was none
     * since the last drain. */
    cnn_status (*upload_drain)(cnn_context *, int lane, double *seconds, cnn_error *);

    /* Plans. `supports` is the only gate: CNN_OK, or CNN_UNSUPPORTED and the reason, nothing else; what it lets through
     * must run. `enumerate` gives only algorithms beyond the table, never more than capacity. */
    cnn_status (*supports)(cnn_context *, const cnn_problem *, cnn_dir, const cnn_algorithm *, cnn_error *);
    cnn_status (*workspace)(cnn_context *, const cnn_problem *, cnn_dir, const cnn_algorithm *, size_t *bytes,
                            cnn_error *); /* (optional) none needed */
    cnn_status (*enumerate)(cnn_context *, const cnn_problem *, cnn_dir, cnn_algorithm *list, int capacity, int *count,
                            cnn_error *);                          /* (optional) algorithms known only for a problem */
    cnn_status (*prepare)(cnn_context *, cnn_plan *, cnn_error *); /* (optional) may allocate, search, compile */
    void (*release)(cnn_context *, cnn_plan *); /* with prepare: for every plan whose state is not NULL */

    /* Operations: all (optional), asynchronous on the context's stream. NULL: unsupported, and `supports` says so. */
    CNN_OPERATION(conv_fwd, cnn_weighted_args);
    CNN_OPERATION(conv_bwd_data, cnn_weighted_args);
    CNN_OPERATION(conv_bwd_weights, cnn_weighted_args);
    CNN_OPERATION(fc_fwd, cnn_weighted_args);
    CNN_OPERATION(fc_bwd_data, cnn_weighted_args);
    CNN_OPERATION(fc_bwd_weights, cnn_weighted_args);
    CNN_OPERATION(pool_fwd, cnn_map_fwd_args);
    CNN_OPERATION(pool_bwd, cnn_map_bwd_args);
    CNN_OPERATION(act_fwd, cnn_map_fwd_args);
    CNN_OPERATION(act_bwd, cnn_map_bwd_args);
    CNN_OPERATION(dropout_fwd, cnn_map_fwd_args);
    CNN_OPERATION(dropout_bwd, cnn_map_bwd_args);
    CNN_OPERATION(loss_fwd, cnn_loss_args);
    CNN_OPERATION(loss_bwd, cnn_loss_args);
    CNN_OPERATION(add_fwd, cnn_join_args);
    CNN_OPERATION(concat_fwd, cnn_join_args);
    CNN_OPERATION(concat_bwd, cnn_split_args);
    CNN_OPERATION(batchnorm_fwd, cnn_batchnorm_args);
    CNN_OPERATION(batchnorm_bwd, cnn_batchnorm_args);
    CNN_OPERATION(optimizer_step, cnn_optimizer_args);
    cnn_status (*gather)(cnn_context *, const cnn_gather_args *, cnn_error *); /* (optional) */

    /* A whole training step (forward, loss, backward, update) in its own hands: all three (optional), together. Results
     * must agree with the composition of single operations, to which it is compared. */
    cnn_status (*step_open)(cnn_context *, const cnn_net *, const cnn_optimizer_desc *, cnn_stepper **,
                            size_t *workspace_bytes, cnn_error *);
    cnn_status (*step_run)(cnn_context *, cnn_stepper *, const cnn_step_args *, cnn_error *);
    void (*step_close)(cnn_context *, cnn_stepper *);

    /* Ceilings of its device, numbered 0 to n_peaks - 1: all (optional), together. peak_open allocates and fills in the
     * peak; CNN_UNSUPPORTED for one that this device has not. peak_run is asynchronous on the context's stream. */
    int n_peaks;
    cnn_status (*peak_open)(cnn_context *, int index, cnn_peak *, cnn_error *);
    cnn_status (*peak_run)(cnn_context *, const cnn_peak *, cnn_error *);
    void (*peak_close)(cnn_context *, cnn_peak *);
} cnn_impl;

/* What a plug-in exports, and all that it must: its table, static. See impl_template/ and `benchcnn list --plugin`. */
#define CNN_PLUGIN __attribute__((visibility("default")))
CNN_PLUGIN const cnn_impl *cnn_plugin(void);

#ifdef __cplusplus
}
#endif
#endif
