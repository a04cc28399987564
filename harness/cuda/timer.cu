/* timer.cu: seconds on the device itself, between two events on the stream: the host's part is not in them, but for
 * the gaps it leaves when launches come more slowly than kernels end. */
#include "harness/cuda/cuda.h"

static cnn_status start(cnn_context *context, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    return CUDA_CHECK(c, cudaEventRecord(c->start, c->stream), err);
}

static cnn_status stop(cnn_context *context, double *seconds, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    float milliseconds = 0.0f;
    *seconds = 0.0;
    CUDA_TRY(c, cudaEventRecord(c->stop, c->stream), err);
    CUDA_TRY(c, cudaEventSynchronize(c->stop), err);
    c->replayed = false; /* what was replayed ended well */
    CUDA_TRY(c, cudaEventElapsedTime(&milliseconds, c->start, c->stop), err);
    *seconds = milliseconds * 1e-3;
    return CNN_OK;
}

const cnn_timing cuda_timing = {start, stop};
