/* cuda.h: an honest implementation in CUDA, on a GPU or emulated, and the boilerplate of a plug-in (see cheat.h). It
 * does convolution and FC, the loss and SGD, in f32; one thread an element. A cheat changes the tables:
 *
 *   static void cheat(tables *t) { t->timing.stop = stop; }
 *   CHEAT(cuda_name_of_the_file)
 */
#ifndef CHEATS_CUDA_H
#define CHEATS_CUDA_H
#include "cuda_kernels.h"
#include "tables.h"

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
static inline cnn_status honest_available(cnn_context *, size_t *bytes, cnn_error *err)
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

static inline cnn_status honest_supports(cnn_context *, const cnn_request *request, cnn_error *err)
{
    const cnn_problem *p = request->problem;
    if ((HONEST_OPS >> p->op & 1) == 0) return CNN_FAIL(err, CNN_UNSUPPORTED, "there is no such operation here");
    if (p->u.type.dtype != CNN_F32) return CNN_FAIL(err, CNN_UNSUPPORTED, "it computes in f32 only");
    if (p->op == CNN_OP_LOSS && p->u.loss.kind != CNN_LOSS_CROSS_ENTROPY)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "cross-entropy only");
    if (p->op == CNN_OP_OPTIMIZER && p->u.optimizer.kind != CNN_SGD) return CNN_FAIL(err, CNN_UNSUPPORTED, "SGD only");
    return CNN_OK;
}

static inline void honest_tables(tables *t, const char *name)
{
    static const cnn_algorithm loops = {"loops", "one thread an element", HONEST_OPS, CNN_ALGO_DETERMINISTIC, 1, 0};
    t->impl.abi_version = CNN_ABI_VERSION, t->impl.struct_size = sizeof t->impl;
    t->impl.name = name, t->impl.doc = "a plug-in of the museum of cheats", t->impl.device_kind = CNN_DEVICE_CUDA;
    t->impl.algorithms = &loops, t->impl.n_algorithms = 1;
    t->impl.probe = honest_probe, t->impl.open = honest_open, t->impl.close = honest_close, t->impl.sync = honest_sync;
    t->impl.supports = honest_supports;
    t->memory = {honest_alloc, honest_free, honest_move, honest_move, honest_copy, honest_fill, honest_available};
    t->timing = {honest_start, honest_stop};
    t->capture = {honest_capture_begin, honest_capture_end, honest_graph_run, honest_graph_free};
    t->ops.struct_size = sizeof t->ops;
    t->ops.loss_fwd = t->ops.loss_bwd = honest_loss;
    t->ops.optimizer_step = honest_sgd;
    weighted(t, honest_weighted);
}

/* ---- For cheats: a device that captures nothing. */
static inline void no_graphs(tables *t) { t->capture = {}; }

/* The number of a call among those noted, and whether it is noted already; if not, it is now. When all places are
 * taken, all are given up. */
static inline int number_of(cnn_context *c, const call *made, bool *again)
{
    int i = 0;
    while (i < c->noted && memcmp(&c->queue[i], made, sizeof *made) != 0) i++;
    *again = i < c->noted;
    if (*again) return i;
    if (c->noted == MOST_CALLS) i = c->noted = 0;
    c->queue[i] = *made;
    c->noted++;
    return i;
}

static inline cnn_status launch_noted(cnn_context *c, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; status == CNN_OK && i < c->noted; i++) status = launch_call(c->stream, &c->queue[i], 1, 1, err);
    c->noted = 0;
    return status;
}
/* Calls that are noted, to be launched later; the same call again is noted once; too many are launched at once. */
static inline cnn_status note(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    const call made = call_of(plan, a);
    if (c->noted == MOST_CALLS && launch_noted(c, err) != CNN_OK) return err->status;
    if (c->noted == 0 || a->beta != 0 || memcmp(&c->queue[c->noted - 1], &made, sizeof made) != 0)
        c->queue[c->noted++] = made;
    return CNN_OK;
}

#define CHEAT(name_)                                                                                                   \
    extern "C" CNN_PLUGIN const cnn_impl *cnn_plugin(void)                                                             \
    {                                                                                                                  \
        static tables all;                                                                                             \
        if (all.impl.name == NULL) {                                                                                   \
            honest_tables(&all, #name_);                                                                               \
            cheat(&all);                                                                                               \
            join(&all);                                                                                                \
        }                                                                                                              \
        return &all.impl;                                                                                              \
    }

#endif
