/* runtime.cpp: the host's side of emulated.h: errors, the device, memory. What is submitted is done before its call
 * returns, but while a stream captures (stream.cpp), and copies on a stream of their own (queue.h). */
#include "harness/cuda/emulated/runtime.h"

#include <atomic>
#include <cstdlib>
#include <malloc.h>
#include <unistd.h>

namespace
{

enum { MEMORY_ALIGN = 256 };

std::atomic<size_t> allocated; /* of device memory */
thread_local cudaError_t last_error = cudaSuccess;
thread_local int current_device = 0;

bool is_device(int device) { return device >= 0 && device < emulated_fault("devices", 1); }
int capability() { return static_cast<int>(emulated_fault("capability", 90)); }

size_t pages(int which) { return static_cast<size_t>(sysconf(which)) * static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

size_t total_bytes()
{
    return static_cast<size_t>(emulated_fault("memory", static_cast<long long>(pages(_SC_PHYS_PAGES))));
}

size_t free_bytes()
{
    const size_t all = total_bytes(), mine = allocated, left = all > mine ? all - mine : 0,
                 host = pages(_SC_AVPHYS_PAGES);
    return left < host ? left : host;
}

cudaError_t allocate(void **memory, size_t bytes)
{
    *memory = nullptr;
    if (emulated_state() != cudaSuccess) return cudaErrorIllegalAddress;
    if (emulated_breaks_capture()) return emulated_done(cudaErrorStreamCaptureUnsupported);
    if (bytes == 0) return cudaSuccess;
    if (bytes > pages(_SC_PHYS_PAGES) || posix_memalign(memory, MEMORY_ALIGN, bytes) != 0)
        return emulated_done(cudaErrorMemoryAllocation);
    std::memset(*memory, 0xFF, bytes);
    return cudaSuccess;
}

} // namespace

cudaError_t emulated_done(cudaError_t error)
{
    if (error != cudaSuccess) last_error = error;
    return error;
}

int emulated_device() { return current_device; }

extern "C" {

/* ---- Errors */

const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
#define X(name, number, text)                                                                                          \
    case name:                                                                                                         \
        return #name;
        EMULATED_ERROR_LIST(X)
#undef X
    }
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
#define X(name, number, text)                                                                                          \
    case name:                                                                                                         \
        return text;
        EMULATED_ERROR_LIST(X)
#undef X
    }
    return "unrecognized error code";
}

cudaError_t cudaPeekAtLastError(void) { return last_error; }

cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

/* ---- Device */

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = static_cast<int>(emulated_fault("devices", 1));
    return emulated_done(static_cast<cudaError_t>(emulated_fault("probe", cudaSuccess)));
}

cudaError_t cudaSetDevice(int device)
{
    if (!is_device(device)) return emulated_done(cudaErrorInvalidDevice);
    current_device = device;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = current_device;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
    if (!is_device(device)) return emulated_done(cudaErrorInvalidDevice);
    *p = cudaDeviceProp();
    std::strcpy(p->name, "emulated on the host");
    p->totalGlobalMem = total_bytes();
    p->sharedMemPerBlock = SHARED_BYTES;
    p->sharedMemPerBlockOptin = SHARED_BYTES_OPTIN;
    p->major = capability() / 10;
    p->minor = capability() % 10;
    p->multiProcessorCount = emulated_multiprocessors();
    p->warpSize = warpSize;
    p->l2CacheSize = 1 << 20;
    p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = MAX_BLOCK_THREADS;
    p->maxThreadsDim[2] = MAX_BLOCK_Z;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = MAX_GRID_YZ;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    if (!is_device(device)) return emulated_done(cudaErrorInvalidDevice);
    switch (attribute) {
    case cudaDevAttrComputeMode:
        *value = static_cast<int>(emulated_fault("mode", cudaComputeModeDefault));
        break;
    case cudaDevAttrComputeCapabilityMajor:
        *value = capability() / 10;
        break;
    case cudaDevAttrComputeCapabilityMinor:
        *value = capability() % 10;
        break;
    }
    return cudaSuccess;
}

/* 0: none of CUDA's versions. */
cudaError_t cudaDriverGetVersion(int *version)
{
    *version = static_cast<int>(emulated_fault("driver", 0));
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = 0;
    return cudaSuccess;
}

/* ---- Memory */

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    *memory = nullptr;
    if (bytes > free_bytes()) return emulated_done(cudaErrorMemoryAllocation);
    const cudaError_t error = allocate(memory, bytes);
    if (*memory != nullptr) allocated += malloc_usable_size(*memory);
    return error;
}

cudaError_t cudaMallocHost(void **memory, size_t bytes) { return allocate(memory, bytes); }

cudaError_t cudaFreeHost(void *memory)
{
    if (memory != nullptr && emulated_breaks_capture()) return emulated_done(cudaErrorStreamCaptureUnsupported);
    std::free(memory);
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory)
{
    const size_t bytes = memory != nullptr ? malloc_usable_size(memory) : 0;
    const cudaError_t error = cudaFreeHost(memory);
    if (error == cudaSuccess) allocated -= bytes;
    return error;
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *total)
{
    *left = free_bytes();
    *total = total_bytes();
    return cudaSuccess;
}

cudaError_t cudaCtxResetPersistingL2Cache(void) { return cudaSuccess; }

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, cudaMemcpyKind, cudaStream_t stream)
{
    if (bytes != 0 && (dst == nullptr || src == nullptr)) return emulated_done(cudaErrorInvalidValue);
    return emulated_enqueue_copy(stream, [=] {
        if (bytes != 0) std::memmove(dst, src, bytes);
    });
}

cudaError_t cudaMemsetAsync(void *memory, int byte, size_t bytes, cudaStream_t stream)
{
    if (bytes != 0 && memory == nullptr) return emulated_done(cudaErrorInvalidValue);
    if (!emulated_is_current(stream)) return cudaErrorInvalidResourceHandle;
    return emulated_enqueue(stream, [=] {
        if (bytes != 0) std::memset(memory, byte, bytes);
    });
}

} /* extern "C" */
