/* cuda.h: an honest implementation in CUDA, on a GPU or emulated, and the boilerplate of a plug-in (see cheat.h). It
 * does convolution and FC, the loss and SGD, in f32; one thread an element. A cheat changes the table:
 *
 *   static void cheat(cnn_impl *t) { t->timer_stop = stop; }
 *   CHEAT(cuda_name_of_the_file)
 */
#ifndef CHEATS_CUDA_H
#define CHEATS_CUDA_H
#include "harness/cuda/platform.h"

#include "elements.h"

#include <cstdlib>

enum { MOST_CALLS = 4096 };

struct call { /* of a convolution or FC, kept for later */
    cnn_conv_desc d;
    cnn_dir dir;
    cnn_weighted_args a;
};

struct cnn_context {
    cudaStream_t stream, other; /* the other one is for cheats */
    cudaEvent_t start, stop;
    bool capturing;
    int calls, noted; /* for cheats: */
    call queue[MOST_CALLS];
    void *kept;
};

struct cnn_graph {
    cudaGraphExec_t exec;
    int replays;
};

#define TRY(call_)                                                                                                     \
    do {                                                                                                               \
        const cudaError_t error_ = (call_);                                                                            \
        if (error_ != cudaSuccess) return CNN_FAIL(err, CNN_DEVICE, #call_ ": %s", cudaGetErrorString(error_));        \
    } while (0)

/* ---- Kernels: a function of the index, for each of n. */
template <typename F> static __global__ void each(F f, int64_t n)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) f(i);
}

template <typename F> static cnn_status launch_on(cudaStream_t stream, F f, int64_t n, cnn_error *err)
{
    const unsigned blocks = (unsigned)((n + 63) / 64 < 1024 ? (n + 63) / 64 : 1024);
#ifdef BENCHCNN_CUDA_EMULATED
    TRY(emulated_launch(dim3(blocks), dim3(64), 0, stream, each<F>, f, n));
#else
    each<F><<<blocks, 64, 0, stream>>>(f, n);
#endif
    TRY(cudaGetLastError());
    return CNN_OK;
}

struct weighted_kernel {
    call c;
    __device__ void operator()(int64_t i) const
    {
        const int64_t n = out_count(&c.d, c.dir);
        if (i < n)
            conv_element(&c.d, c.dir, &c.a, i, 0);
        else
            bias_element(&c.d, &c.a, i - n);
    }
};

/* All elements, or the first `part` of `parts`. */
static inline cnn_status launch_call(cudaStream_t stream, const call *c, int64_t part, int64_t parts, cnn_error *err)
{
    const int64_t bias = c->dir == CNN_BWD_W && c->a.db != NULL ? c->d.oc : 0;
    const weighted_kernel kernel = {*c};
    return launch_on(stream, kernel, (out_count(&c->d, c->dir) + bias) * part / parts, err);
}

static inline call call_of(const cnn_plan *plan, const cnn_weighted_args *a)
{
    const call c = {as_conv(&plan->problem), plan->dir, *a};
    return c;
}

static inline cnn_status honest_weighted(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a,
                                         cnn_error *err)
{
    const call made = call_of(plan, a);
    return launch_call(c->stream, &made, 1, 1, err);
}

struct loss_kernel { /* one thread: it adds up */
    cnn_loss_desc d;
    cnn_loss_args a;
    __device__ void operator()(int64_t) const
    {
        for (int64_t n = 0; n < d.mb; n++) loss_element(&d, &a, n);
    }
};
struct loss_bwd_kernel {
    cnn_loss_desc d;
    cnn_loss_args a;
    __device__ void operator()(int64_t i) const { loss_bwd_element(&d, &a, i); }
};
struct sgd_kernel {
    cnn_optimizer_desc d;
    cnn_optimizer_args a;
    __device__ void operator()(int64_t i) const { sgd_element(&d, &a, i); }
};
struct step_kernel {
    int64_t *step;
    __device__ void operator()(int64_t) const { ++*step; }
};

static inline cnn_status honest_loss(cnn_context *c, const cnn_plan *plan, const cnn_loss_args *a, cnn_error *err)
{
    const cnn_loss_desc *d = &plan->problem.u.loss;
    const loss_kernel fwd = {*d, *a};
    const loss_bwd_kernel bwd = {*d, *a};
    return plan->dir == CNN_FWD ? launch_on(c->stream, fwd, 1, err) : launch_on(c->stream, bwd, d->mb * d->ic, err);
}

static inline cnn_status honest_sgd(cnn_context *c, const cnn_plan *plan, const cnn_optimizer_args *a, cnn_error *err)
{
    const sgd_kernel update = {plan->problem.u.optimizer, *a};
    const step_kernel count = {a->step};
    const cnn_status status = launch_on(c->stream, update, update.d.count, err);
    return status == CNN_OK ? launch_on(c->stream, count, 1, err) : status;
}

/* ---- The device. */
static inline cnn_status honest_probe(cnn_error *err)
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) return CNN_OK;
    return CNN_FAIL(err, CNN_UNAVAILABLE, "no CUDA device: a GPU and its driver are needed");
}

static inline cnn_status honest_open(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    cnn_context *c = static_cast<cnn_context *>(calloc(1, sizeof *c));
    if (c == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context");
    *context = c;
    TRY(cudaSetDevice(params->device));
    TRY(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking));
    TRY(cudaStreamCreateWithFlags(&c->other, cudaStreamNonBlocking));
    TRY(cudaEventCreate(&c->start));
    TRY(cudaEventCreate(&c->stop));
    return CNN_OK;
}

static inline void honest_close(cnn_context *c)
{
    if (c->kept != NULL) cudaFree(c->kept);
    cudaEventDestroy(c->start);
    cudaEventDestroy(c->stop);
    cudaStreamDestroy(c->stream);
    cudaStreamDestroy(c->other);
    free(c);
}

static inline cnn_status honest_alloc(cnn_context *, size_t bytes, void **memory, cnn_error *err)
{
    TRY(cudaMalloc(memory, bytes));
    return CNN_OK;
}
static inline void honest_free(cnn_context *, void *memory) { cudaFree(memory); }
static inline cnn_status honest_copy(cnn_context *c, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    TRY(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, c->stream));
    return CNN_OK;
}
static inline cnn_status honest_sync(cnn_context *c, cnn_error *err)
{
    TRY(cudaStreamSynchronize(c->stream));
    return CNN_OK;
}
static inline cnn_status honest_move(cnn_context *c, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    const cnn_status status = honest_copy(c, dst, src, bytes, err);
    return status == CNN_OK ? honest_sync(c, err) : status;
}
static inline cnn_status honest_fill(cnn_context *c, void *dst, int byte, size_t bytes, cnn_error *err)
{
    TRY(cudaMemsetAsync(dst, byte, bytes, c->stream));
    return CNN_OK;
}
static inline cnn_status honest_memory_free(cnn_context *, size_t *bytes, cnn_error *err)
{
    size_t total;
    TRY(cudaMemGetInfo(bytes, &total));
    return CNN_OK;
}
static inline cnn_status honest_start(cnn_context *c, cnn_error *err)
{
    TRY(cudaEventRecord(c->start, c->stream));
    return CNN_OK;
}
/* The seconds between two events that were recorded. */
static inline cnn_status between(cudaEvent_t start, cudaEvent_t stop, double *seconds, cnn_error *err)
{
    float ms = 0;
    TRY(cudaEventSynchronize(stop));
    TRY(cudaEventElapsedTime(&ms, start, stop));
    *seconds = (double)ms / 1e3;
    return CNN_OK;
}
static inline cnn_status honest_stop(cnn_context *c, double *seconds, cnn_error *err)
{
    TRY(cudaEventRecord(c->stop, c->stream));
    return between(c->start, c->stop, seconds, err);
}

/* ---- Graphs. */
static inline cnn_status honest_capture_begin(cnn_context *c, cnn_error *err)
{
    TRY(cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal));
    c->capturing = true;
    return CNN_OK;
}
static inline cnn_status honest_capture_end(cnn_context *c, cnn_graph **graph, cnn_error *err)
{
    cudaGraph_t captured;
    *graph = static_cast<cnn_graph *>(calloc(1, sizeof **graph));
    c->capturing = false;
    TRY(cudaStreamEndCapture(c->stream, &captured));
    TRY(cudaGraphInstantiate(&(*graph)->exec, captured, 0));
    TRY(cudaGraphDestroy(captured));
    return CNN_OK;
}
static inline cnn_status honest_graph_run(cnn_context *c, cnn_graph *graph, cnn_error *err)
{
    TRY(cudaGraphLaunch(graph->exec, c->stream));
    return CNN_OK;
}
static inline void honest_graph_free(cnn_context *, cnn_graph *graph)
{
    cudaGraphExecDestroy(graph->exec);
    free(graph);
}

/* ---- The table. */
enum { HONEST_OPS = 1 << CNN_OP_CONV | 1 << CNN_OP_FC | 1 << CNN_OP_LOSS | 1 << CNN_OP_OPTIMIZER };

static inline cnn_status honest_supports(cnn_context *, const cnn_problem *p, cnn_dir, const cnn_algorithm *,
                                         cnn_error *err)
{
    if ((HONEST_OPS >> p->op & 1) == 0) return CNN_FAIL(err, CNN_UNSUPPORTED, "there is no such operation here");
    if (p->u.type.dtype != CNN_F32) return CNN_FAIL(err, CNN_UNSUPPORTED, "it computes in f32 only");
    if (p->op == CNN_OP_OPTIMIZER && p->u.optimizer.kind != CNN_SGD) return CNN_FAIL(err, CNN_UNSUPPORTED, "SGD only");
    return CNN_OK;
}

typedef cnn_status weighted_fn(cnn_context *, const cnn_plan *, const cnn_weighted_args *, cnn_error *);
static inline void weighted(cnn_impl *t, weighted_fn *f)
{
    t->conv_fwd = t->conv_bwd_data = t->conv_bwd_weights = f;
    t->fc_fwd = t->fc_bwd_data = t->fc_bwd_weights = f;
}

static inline void honest_table(cnn_impl *t, const char *name)
{
    static const cnn_algorithm loops = {"loops", "one thread an element", HONEST_OPS, CNN_ALGO_DETERMINISTIC, 1, 0};
    t->abi_version = CNN_ABI_VERSION, t->struct_size = sizeof *t;
    t->name = name, t->doc = "a plug-in of the museum of cheats", t->device_kind = CNN_DEVICE_CUDA;
    t->algorithms = &loops, t->n_algorithms = 1;
    t->probe = honest_probe, t->open = honest_open, t->close = honest_close;
    t->alloc = honest_alloc, t->free = honest_free, t->upload = honest_move, t->download = honest_move;
    t->copy = honest_copy, t->fill = honest_fill, t->memory_free = honest_memory_free, t->sync = honest_sync;
    t->timer_start = honest_start, t->timer_stop = honest_stop;
    t->capture_begin = honest_capture_begin, t->capture_end = honest_capture_end;
    t->graph_run = honest_graph_run, t->graph_free = honest_graph_free;
    t->supports = honest_supports, t->optimizer_step = honest_sgd;
    t->loss_fwd = t->loss_bwd = honest_loss;
    weighted(t, honest_weighted);
}

/* ---- For cheats: a device that captures nothing. */
static inline void no_graphs(cnn_impl *t)
{
    t->capture_begin = NULL, t->capture_end = NULL, t->graph_run = NULL, t->graph_free = NULL;
}

/* Calls that are noted, to be launched later; the same call again is noted once. */
static inline cnn_status note(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const call made = call_of(plan, a);
    if (c->noted == MOST_CALLS) return CNN_FAIL(err, CNN_INTERNAL, "too many calls to note");
    if (c->noted == 0 || a->beta != 0 || memcmp(&c->queue[c->noted - 1], &made, sizeof made) != 0)
        c->queue[c->noted++] = made;
    return CNN_OK;
}
static inline cnn_status launch_noted(cnn_context *c, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < c->noted; i++) status = launch_call(c->stream, &c->queue[i], 1, 1, err);
    c->noted = 0;
    return status;
}

#define CHEAT(name_)                                                                                                   \
    extern "C" CNN_PLUGIN const cnn_impl *cnn_plugin(void)                                                             \
    {                                                                                                                  \
        static cnn_impl impl;                                                                                          \
        if (impl.name == NULL) {                                                                                       \
            honest_table(&impl, #name_);                                                                               \
            cheat(&impl);                                                                                              \
        }                                                                                                              \
        return &impl;                                                                                                  \
    }

#endif
