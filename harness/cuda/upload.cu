/* upload.cu: uploads beside the stream, for data that stay in host memory.
 *
 * Idea: copies run on a stream of their own, from page-locked host memory, while kernels run on the context's. Three
 * events a lane tie the two together without the host waiting for either:
 *
 *   start(l)   copies: wait `free` of the other lane; record start[l]; copy; record stop[l]
 *   use(l)     kernels: record `free` of lane l (all that reads the other lane's memory is before it);
 *              wait stop[l]
 *   drain(l)   the host waits for stop[l]; start[l] to stop[l] is the time the copy took
 *
 * Bottleneck: the bus (PCIe 5 x16: some 50 GB/s), or, at small batches, the ten or so microseconds that a copy takes
 * however short it is. */
#include "harness/cuda/cuda.h"

#include <stdlib.h>

enum { LANES = 2 };

struct cuda_lanes {
    cudaStream_t copies;
    cudaEvent_t start[LANES], stop[LANES], free[LANES];
    bool uploading[LANES]; /* an upload that was not drained yet */
};

static cnn_status lanes_make(cuda_context *c, cuda_lanes *lanes, cnn_error *err)
{
    CUDA_TRY(c, cudaStreamCreateWithFlags(&lanes->copies, cudaStreamNonBlocking), err);
    for (int i = 0; i < LANES; i++) {
        CUDA_TRY(c, cudaEventCreate(&lanes->start[i]), err);
        CUDA_TRY(c, cudaEventCreate(&lanes->stop[i]), err);
        CUDA_TRY(c, cudaEventCreateWithFlags(&lanes->free[i], cudaEventDisableTiming), err);
    }
    return CNN_OK;
}

/* What cannot be destroyed after a sticky error is lost with the process; there is nobody to tell. */
void cuda_lanes_close(cuda_context *c)
{
    cuda_lanes *lanes = c->lanes;
    if (lanes == NULL) return;
    for (int i = 0; i < LANES; i++) {
        if (lanes->start[i] != NULL) (void)cudaEventDestroy(lanes->start[i]);
        if (lanes->stop[i] != NULL) (void)cudaEventDestroy(lanes->stop[i]);
        if (lanes->free[i] != NULL) (void)cudaEventDestroy(lanes->free[i]);
    }
    if (lanes->copies != NULL) (void)cudaStreamDestroy(lanes->copies);
    free(lanes);
    c->lanes = NULL;
}

/* The lanes are made here, not at open: most runs never need them. */
static cnn_status host_alloc(cnn_context *context, size_t bytes, void **memory, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    *memory = NULL;
    cnn_status status = cuda_enter(c, err);
    if (status != CNN_OK) return status;
    if (c->lanes == NULL) {
        c->lanes = static_cast<cuda_lanes *>(calloc(1, sizeof *c->lanes));
        if (c->lanes == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the upload lanes");
        status = lanes_make(c, c->lanes, err);
        if (status != CNN_OK) {
            cuda_lanes_close(c);
            return status;
        }
    }
    const cudaError_t error = cudaMallocHost(memory, bytes);
    if (error != cudaErrorMemoryAllocation) return cuda_check(c, error, "cudaMallocHost", __FILE__, __LINE__, err);
    *memory = NULL;
    (void)cudaGetLastError();
    return CNN_FAIL(
        err, CNN_OUT_OF_MEMORY,
        "%zu bytes of page-locked host memory cannot be had for device %d: the host has not so much to lock", bytes,
        c->device);
}

static void host_free(cnn_context *, void *memory) { (void)cudaFreeHost(memory); }

static cnn_status start(cnn_context *context, int lane, void *dst, const void *src, size_t bytes, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    cuda_lanes *lanes = c->lanes;
    if (lanes == NULL) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "an upload from memory that is not of host_alloc");
    /* An event that was never recorded holds nobody up: the first upload starts at once. */
    CUDA_TRY(c, cudaStreamWaitEvent(lanes->copies, lanes->free[1 - lane], 0), err);
    CUDA_TRY(c, cudaEventRecord(lanes->start[lane], lanes->copies), err);
    CUDA_TRY(c, cudaMemcpyAsync(dst, src, bytes, cudaMemcpyHostToDevice, lanes->copies), err);
    CUDA_TRY(c, cudaEventRecord(lanes->stop[lane], lanes->copies), err);
    lanes->uploading[lane] = true;
    return CNN_OK;
}

static cnn_status use(cnn_context *context, int lane, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    CUDA_TRY(c, cudaEventRecord(c->lanes->free[lane], c->stream), err);
    return CUDA_CHECK(c, cudaStreamWaitEvent(c->stream, c->lanes->stop[lane], 0), err);
}

static cnn_status drain(cnn_context *context, int lane, double *seconds, cnn_error *err)
{
    cuda_context *c = cuda_context_of(context);
    float milliseconds = 0.0f;
    *seconds = 0.0;
    if (c->lanes == NULL || !c->lanes->uploading[lane]) return CNN_OK;
    CUDA_TRY(c, cudaEventSynchronize(c->lanes->stop[lane]), err);
    CUDA_TRY(c, cudaEventElapsedTime(&milliseconds, c->lanes->start[lane], c->lanes->stop[lane]), err);
    c->lanes->uploading[lane] = false;
    *seconds = milliseconds * 1e-3;
    return CNN_OK;
}

const cnn_uploads cuda_uploads = {host_alloc, host_free, start, use, drain};
