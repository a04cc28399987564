/* graph.cu: a step captured once and replayed: one launch by the host instead of one a kernel.
 *
 * Capture is thread-local: another thread's allocations do not break it. While it lasts, nothing may wait or allocate;
 * the call that tries to fails, `end` then fails as well, and the context is as good as before. With the knob
 * sync_launches nothing is captured: a user who asks which kernel fails must not get replays, which cannot tell. */
#include "harness/cuda/cuda.h"

static cnn_status begin(cnn_context *context, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    if (cuda_enter(c, err) != CNN_OK) return err->status;
    if (c->knobs[CUDA_KNOB_SYNC_LAUNCHES] != 0)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "sync_launches=1 waits for every kernel, and those of a graph are launched all at once");
    return CUDA_CHECK(c, cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal), err);
}

/* The capture is ended even where the context died meanwhile: its stream must be free to be destroyed. */
static cnn_status end(cnn_context *context, cnn_graph **graph, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    cudaGraph_t captured = NULL;
    cudaGraphExec_t exec = NULL;
    *graph = NULL;
    CUDA_TRY(c, cudaStreamEndCapture(c->stream, &captured), err);
    const cnn_status status = CUDA_CHECK(c, cudaGraphInstantiate(&exec, captured, 0), err);
    (void)cudaGraphDestroy(captured); /* the executable graph is independent of it */
    if (status != CNN_OK) return status;
    *graph = reinterpret_cast<cnn_graph *>(exec);
    return CNN_OK;
}

static cnn_status run(cnn_context *context, cnn_graph *graph, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    if (cuda_enter(c, err) != CNN_OK) return err->status;
    c->replayed = true;
    return CUDA_CHECK(c, cudaGraphLaunch(reinterpret_cast<cudaGraphExec_t>(graph), c->stream), err);
}

static void release(cnn_context *, cnn_graph *graph)
{
    if (graph != NULL) (void)cudaGraphExecDestroy(reinterpret_cast<cudaGraphExec_t>(graph));
}

const cnn_capture cuda_capture = {begin, end, run, release};

cnn_status cuda_check_not_capturing(cuda_context *c, const char *what, cnn_error *err)
{
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    CUDA_TRY(c, cudaStreamIsCapturing(c->stream, &capture), err);
    if (capture == cudaStreamCaptureStatusNone) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s cannot be had while a step is recorded: prepare its plan before", what);
}
