/* memory.cu: device memory. Everything is in the stream's order; what the host reads or gives is complete at return. */
#include "harness/cuda/cuda.h"

static cnn_status alloc(cnn_context *context, size_t bytes, void **memory, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    size_t free_bytes = 0, total = 0;
    *memory = NULL;
    if (cuda_enter(c, err) != CNN_OK) return err->status;
    const cudaError_t error = cudaMalloc(memory, bytes);
    if (error != cudaErrorMemoryAllocation) return cuda_check(c, error, "cudaMalloc", __FILE__, __LINE__, err);
    *memory = NULL;
    (void)cudaGetLastError();
    if (cudaMemGetInfo(&free_bytes, &total) != cudaSuccess) (void)cudaGetLastError();
    return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%zu bytes needed on device %d, but only %zu of its %zu are free", bytes,
                    c->device, free_bytes, total);
}

static void release(cnn_context *, void *memory) { (void)cudaFree(memory); }

/* Until here all went well, so what goes wrong from now on is not what was replayed before. */
static cnn_status wait_for_stream(cuda_context *c, cnn_error *err)
{
    CUDA_TRY(c, cudaStreamSynchronize(c->stream), err);
    c->replayed = false;
    return CNN_OK;
}

/* The source may be pageable and may change at once: the copy is done when this returns. */
static cnn_status upload(cnn_context *context, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    CUDA_TRY(c, cudaMemcpyAsync(dst, src, bytes, cudaMemcpyHostToDevice, c->stream), err);
    return wait_for_stream(c, err);
}

static cnn_status download(cnn_context *context, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    CUDA_TRY(c, cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToHost, c->stream), err);
    return wait_for_stream(c, err);
}

static cnn_status copy(cnn_context *context, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    return CUDA_CHECK(c, cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, c->stream), err);
}

/* What is larger than any cache is filled to empty them: of what somebody has set aside in the L2, too. */
static void give_up_persisting(const cuda_context *c, size_t bytes)
{
    const size_t larger_than_caches = (size_t)192 << 20;
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    if (bytes < larger_than_caches || cudaStreamIsCapturing(c->stream, &capture) != cudaSuccess) return;
    if (capture == cudaStreamCaptureStatusNone && cudaCtxResetPersistingL2Cache() != cudaSuccess)
        (void)cudaGetLastError(); /* devices before the Ampere generation have no such thing */
}

static cnn_status fill(cnn_context *context, void *dst, int byte, size_t bytes, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    if (cuda_enter(c, err) != CNN_OK) return err->status;
    give_up_persisting(c, bytes);
    return CUDA_CHECK(c, cudaMemsetAsync(dst, byte, bytes, c->stream), err);
}

static cnn_status available(cnn_context *context, size_t *bytes, cnn_error *err)
{
    size_t total = 0;
    *bytes = 0;
    const cnn_status status = cuda_enter(cuda_context_of(context), err);
    return status == CNN_OK ? CUDA_CHECK(cuda_context_of(context), cudaMemGetInfo(bytes, &total), err) : status;
}

cnn_status cuda_sync(cnn_context *context, cnn_error *err) { return wait_for_stream(cuda_context_of(context), err); }

const cnn_memory cuda_memory = {alloc, release, upload, download, copy, fill, available};
