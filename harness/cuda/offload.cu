/* offload.cu: copies to host memory and back, beside the stream.
 *
 * Idea: they run on a stream of their own, to and from page-locked host memory. Events tie it to the context's stream,
 * and the host waits for neither:
 *
 *   begin(i)   copies: wait for all that is on the context's stream; copy; record done[i]
 *   wait(i)    context's stream: wait for done[i]
 *
 * In a capture the first wait forks the copies' stream off, and the wait for the last copy joins it: copies become
 * nodes on a branch of their own. What `ready` was recorded for is settled when the wait for it is called, so one event
 * serves all copies.
 *
 * Expected bottleneck, not measured yet: the bus. One stream uses one way at a time: a step copies to the host in its
 * forward pass, and back in its backward pass. */
#include "harness/cuda/cuda.h"

#include <stdlib.h>

struct cnn_offload {
    cudaStream_t copies;
    cudaEvent_t ready, *done; /* one a copy */
    int count;
    void *host;
};

/* What cannot be destroyed after a sticky error is lost with the process. */
static void offload_close(cnn_context *context, cnn_offload *o)
{
    cnn_error ignored;
    if (o == NULL) return;
    (void)cuda_enter(cuda_context_of(context), &ignored);
    if (o->copies != NULL) (void)cudaStreamSynchronize(o->copies);
    if (o->ready != NULL) (void)cudaEventDestroy(o->ready);
    for (int i = 0; o->done != NULL && i < o->count; i++)
        if (o->done[i] != NULL) (void)cudaEventDestroy(o->done[i]);
    if (o->copies != NULL) (void)cudaStreamDestroy(o->copies);
    if (o->host != NULL) (void)cudaFreeHost(o->host);
    free(o->done);
    free(o);
}

static cnn_status lock_memory(cuda_context *c, cnn_offload *o, size_t bytes, cnn_error *err)
{
    const cudaError_t error = cudaMallocHost(&o->host, bytes);
    if (error != cudaErrorMemoryAllocation) return cuda_check(c, error, "cudaMallocHost", __FILE__, __LINE__, err);
    o->host = NULL;
    (void)cudaGetLastError();
    return CNN_FAIL(
        err, CNN_OUT_OF_MEMORY,
        "%zu bytes of page-locked host memory cannot be had for device %d: the host has not so much to lock", bytes,
        c->device);
}

static cnn_status offload_make(cuda_context *c, cnn_offload *o, size_t bytes, cnn_error *err)
{
    CUDA_TRY(c, cudaStreamCreateWithFlags(&o->copies, cudaStreamNonBlocking), err);
    CUDA_TRY(c, cudaEventCreateWithFlags(&o->ready, cudaEventDisableTiming), err);
    for (int i = 0; i < o->count; i++) CUDA_TRY(c, cudaEventCreateWithFlags(&o->done[i], cudaEventDisableTiming), err);
    return lock_memory(c, o, bytes, err);
}

static cnn_status offload_open(cnn_context *context, int count, size_t bytes, cnn_offload **offload, void **host,
                               cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    *offload = NULL;
    *host = NULL;
    if (cuda_enter(c, err) != CNN_OK) return err->status;
    cnn_offload *o = static_cast<cnn_offload *>(calloc(1, sizeof *o));
    if (o == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for copies to the host");
    o->count = count;
    o->done = static_cast<cudaEvent_t *>(calloc((size_t)count + 1, sizeof *o->done));
    cnn_status status = o->done != NULL ? offload_make(c, o, bytes, err)
                                        : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for copies to the host");
    if (status == CNN_OK)
        *offload = o, *host = o->host;
    else
        offload_close(context, o);
    return status;
}

static cnn_status offload_begin(cnn_context *context, cnn_offload *o, int index, const cnn_offload_copy *copy,
                                cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    const cudaMemcpyKind kind = copy->to_host ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    if (cuda_enter(c, err) != CNN_OK) return err->status;
    CUDA_TRY(c, cudaEventRecord(o->ready, c->stream), err);
    CUDA_TRY(c, cudaStreamWaitEvent(o->copies, o->ready, 0), err);
    CUDA_TRY(c, cudaMemcpyAsync(copy->dst, copy->src, copy->bytes, kind, o->copies), err);
    return CUDA_CHECK(c, cudaEventRecord(o->done[index], o->copies), err);
}

static cnn_status offload_wait(cnn_context *context, cnn_offload *o, int index, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    return CUDA_CHECK(c, cudaStreamWaitEvent(c->stream, o->done[index], 0), err);
}

const cnn_offloads cuda_offloads = {offload_open, offload_close, offload_begin, offload_wait};
