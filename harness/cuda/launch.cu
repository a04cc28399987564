/* launch.cu: what is checked around every launch; see launch.h. */
#include "harness/cuda/launch.h"

static cnn_status bad_shape(const cuda_context *c, const cuda_shape &s, const char *why, cnn_error *err)
{
    const cudaDeviceProp *p = &c->properties;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                    "kernel %.96s: %s: grid %u x %u x %u, block %u x %u x %u, %zu bytes of shared memory; the device "
                    "allows grids of %d x %d x %d, blocks of %d x %d x %d and %d threads, %zu bytes",
                    s.kernel, why, s.grid.x, s.grid.y, s.grid.z, s.block.x, s.block.y, s.block.z, s.shared_bytes,
                    p->maxGridSize[0], p->maxGridSize[1], p->maxGridSize[2], p->maxThreadsDim[0], p->maxThreadsDim[1],
                    p->maxThreadsDim[2], p->maxThreadsPerBlock, p->sharedMemPerBlockOptin);
}

/* 0 < size <= limit in all three dimensions. */
static bool within(const dim3 &size, const int limit[3])
{
    return size.x > 0 && size.y > 0 && size.z > 0 && size.x <= (unsigned)limit[0] && size.y <= (unsigned)limit[1] &&
           size.z <= (unsigned)limit[2];
}

cnn_status cuda_launch_check(cuda_context *c, const cuda_shape &s, const void *kernel, cnn_error *err)
{
    const cudaDeviceProp *p = &c->properties;
    if (cuda_enter(c, err) != CNN_OK) return err->status;
    if (!within(s.grid, p->maxGridSize)) return bad_shape(c, s, "the grid cannot be launched", err);
    if (!within(s.block, p->maxThreadsDim) ||
        (uint64_t)s.block.x * s.block.y * s.block.z > (uint64_t)p->maxThreadsPerBlock)
        return bad_shape(c, s, "the block cannot be launched", err);
    if (s.shared_bytes > p->sharedMemPerBlockOptin) return bad_shape(c, s, "the block needs too much memory", err);
    snprintf(c->last_kernel, sizeof c->last_kernel, "%s", s.kernel);
    if (s.shared_bytes > p->sharedMemPerBlock)
        CUDA_TRY(c, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)s.shared_bytes),
                 err);
    return CNN_OK;
}

cnn_status cuda_launch_done(cuda_context *c, const cuda_shape &s, cudaError_t error, cnn_error *err)
{
    if (error == cudaErrorCooperativeLaunchTooLarge || error == cudaErrorInvalidConfiguration ||
        error == cudaErrorLaunchOutOfResources || error == cudaErrorInvalidValue) {
        (void)cudaGetLastError();
        return bad_shape(c, s, cudaGetErrorString(error), err);
    }
    if (error == cudaSuccess && c->knobs[CUDA_KNOB_SYNC_LAUNCHES] != 0) error = cudaStreamSynchronize(c->stream);
    const cnn_status status = cuda_check(c, error, s.kernel, __FILE__, __LINE__, err);
    return status == CNN_OK ? cuda_phase(c, s.kernel, err) : status;
}

#ifndef BENCHCNN_CUDA_EMULATED
cnn_status cuda_launch_kernel(cuda_context *c, const cuda_shape &shape, cnn_error *err, const void *kernel,
                              void **arguments)
{
    const cnn_status status = cuda_launch_check(c, shape, kernel, err);
    if (status != CNN_OK) return status;
    cudaLaunchAttribute together[2];
    const cudaLaunchConfig_t config = cuda_launch_config(c, shape, together);
    return cuda_launch_done(c, shape, cudaLaunchKernelExC(&config, kernel, arguments), err);
}
#endif

cuda_shape cuda_shape_1d(const cuda_context *c, const char *kernel, int64_t count, int64_t threads,
                         int64_t blocks_per_sm)
{
    const int64_t most = c->properties.multiProcessorCount * blocks_per_sm;
    int64_t blocks = count / threads + (count % threads != 0);
    if (blocks > most) blocks = most;
    if (blocks < 1) blocks = 1;
    return {kernel, dim3((unsigned)blocks), dim3((unsigned)threads), 0};
}
