/* runtime.cpp: the host's side of emulated.h: device, memory, streams, events, graphs. Everything is done before its
 * call returns, but while a stream captures: then it is kept, as a function to be called at every replay. */
#include "harness/cuda/emulated/block.h"
#include "harness/cuda/emulated/emulated.h"

#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <unistd.h>
#include <vector>

struct emulated_graph {
    std::vector<std::function<void()>> calls;
};

struct emulated_stream {
    cudaStreamCaptureStatus capture;
    emulated_graph *recording;
};

struct emulated_event {
    std::chrono::steady_clock::time_point time;
    bool recorded, timed;
};

namespace
{

enum { MAX_BLOCK_THREADS = 1024, MAX_BLOCK_Z = 64, MAX_GRID_YZ = 65535 };
enum { SHARED_BYTES = 48 * 1024, SHARED_BYTES_OPTIN = 227 * 1024, MEMORY_ALIGN = 256 };

thread_local cudaError_t last_error = cudaSuccess;
thread_local emulated_stream *capturing = nullptr; /* this thread's capture, which waiting and allocating break */

std::mutex limits_lock;
std::map<const void *, int> shared_limits; /* kernel -> bytes asked for by cudaFuncSetAttribute */

cudaError_t done(cudaError_t error)
{
    if (error != cudaSuccess) last_error = error;
    return error;
}

/* Of a call that is not allowed during capture: it fails, and the capture with it. */
bool breaks_capture()
{
    if (capturing == nullptr) return false;
    capturing->capture = cudaStreamCaptureStatusInvalidated;
    return true;
}

size_t pages(int which) { return static_cast<size_t>(sysconf(which)) * static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

cudaError_t allocate(void **memory, size_t bytes)
{
    *memory = nullptr;
    if (breaks_capture()) return done(cudaErrorStreamCaptureUnsupported);
    if (bytes == 0) return cudaSuccess;
    if (bytes > pages(_SC_PHYS_PAGES) || posix_memalign(memory, MEMORY_ALIGN, bytes) != 0)
        return done(cudaErrorMemoryAllocation);
    std::memset(*memory, 0xFF, bytes);
    return cudaSuccess;
}

bool launch_fits(dim3 grid, dim3 block, size_t shared_bytes, const void *kernel)
{
    const unsigned long long threads = 1ull * block.x * block.y * block.z;
    if (threads == 0 || threads > MAX_BLOCK_THREADS || block.x > MAX_BLOCK_THREADS || block.y > MAX_BLOCK_THREADS ||
        block.z > MAX_BLOCK_Z)
        return false;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffffu || grid.y > MAX_GRID_YZ ||
        grid.z > MAX_GRID_YZ)
        return false;
    const std::lock_guard<std::mutex> lock(limits_lock);
    const auto asked = shared_limits.find(kernel);
    const int limit = asked == shared_limits.end() || asked->second < SHARED_BYTES ? SHARED_BYTES : asked->second;
    return shared_bytes <= static_cast<size_t>(limit);
}

} // namespace

/* ---- Launching and recording */

cudaError_t emulated_enqueue(cudaStream_t stream, std::function<void()> call)
{
    if (stream == nullptr || stream->capture == cudaStreamCaptureStatusNone) {
        call();
        return cudaSuccess;
    }
    if (stream->capture == cudaStreamCaptureStatusInvalidated) return done(cudaErrorStreamCaptureInvalidated);
    stream->recording->calls.push_back(std::move(call));
    return cudaSuccess;
}

cudaError_t emulated_launch_body(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream, const void *kernel,
                                 std::function<void()> body)
{
    if (!launch_fits(grid, block, shared_bytes, kernel)) return done(cudaErrorInvalidConfiguration);
    return emulated_enqueue(stream, [=] { emulated_run_grid(grid, block, shared_bytes, body); });
}

cudaError_t emulated_set_attribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 || value > SHARED_BYTES_OPTIN)
        return done(cudaErrorInvalidValue);
    const std::lock_guard<std::mutex> lock(limits_lock);
    shared_limits[kernel] = value;
    return cudaSuccess;
}

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
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) { return done(device == 0 ? cudaSuccess : cudaErrorInvalidDevice); }

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
    if (device != 0) return done(cudaErrorInvalidDevice);
    *p = cudaDeviceProp();
    std::strcpy(p->name, "emulated on the host");
    p->totalGlobalMem = pages(_SC_PHYS_PAGES);
    p->sharedMemPerBlock = SHARED_BYTES;
    p->sharedMemPerBlockOptin = SHARED_BYTES_OPTIN;
    p->major = 9;
    p->multiProcessorCount = 2;
    p->warpSize = warpSize;
    p->l2CacheSize = 1 << 20;
    p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = MAX_BLOCK_THREADS;
    p->maxThreadsDim[2] = MAX_BLOCK_Z;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = MAX_GRID_YZ;
    p->maxThreadsPerMultiProcessor = 2048;
    p->regsPerBlock = 65536;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    if (device != 0) return done(cudaErrorInvalidDevice);
    *value = attribute == cudaDevAttrMultiProcessorCount ? 2 : cudaComputeModeDefault;
    return cudaSuccess;
}

/* 0: none of CUDA's versions. */
cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 0;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) { return cudaDriverGetVersion(version); }

cudaError_t cudaDeviceSynchronize(void)
{
    return done(breaks_capture() ? cudaErrorStreamCaptureUnsupported : cudaSuccess);
}

/* ---- Memory */

cudaError_t cudaMalloc(void **memory, size_t bytes) { return allocate(memory, bytes); }
cudaError_t cudaMallocHost(void **memory, size_t bytes) { return allocate(memory, bytes); }

cudaError_t cudaFree(void *memory)
{
    if (memory != nullptr && breaks_capture()) return done(cudaErrorStreamCaptureUnsupported);
    std::free(memory);
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *memory) { return cudaFree(memory); }

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = pages(_SC_AVPHYS_PAGES);
    *total_bytes = pages(_SC_PHYS_PAGES);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, cudaMemcpyKind, cudaStream_t stream)
{
    if (bytes != 0 && (dst == nullptr || src == nullptr)) return done(cudaErrorInvalidValue);
    return emulated_enqueue(stream, [=] {
        if (bytes != 0) std::memmove(dst, src, bytes);
    });
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                              size_t height, cudaMemcpyKind, cudaStream_t stream)
{
    if (width > dst_pitch || width > src_pitch) return done(cudaErrorInvalidValue);
    return emulated_enqueue(stream, [=] {
        for (size_t row = 0; row < height; row++)
            std::memmove(static_cast<char *>(dst) + row * dst_pitch, static_cast<const char *>(src) + row * src_pitch,
                         width);
    });
}

cudaError_t cudaMemsetAsync(void *memory, int byte, size_t bytes, cudaStream_t stream)
{
    if (bytes != 0 && memory == nullptr) return done(cudaErrorInvalidValue);
    return emulated_enqueue(stream, [=] {
        if (bytes != 0) std::memset(memory, byte, bytes);
    });
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, cudaMemcpyKind kind)
{
    if (breaks_capture()) return done(cudaErrorStreamCaptureUnsupported);
    return cudaMemcpyAsync(dst, src, bytes, kind, nullptr);
}

cudaError_t cudaMemset(void *memory, int byte, size_t bytes)
{
    if (breaks_capture()) return done(cudaErrorStreamCaptureUnsupported);
    return cudaMemsetAsync(memory, byte, bytes, nullptr);
}

/* ---- Streams and graphs */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int)
{
    *stream = new emulated_stream();
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    if (stream == nullptr) return done(cudaErrorInvalidResourceHandle);
    if (capturing == stream) capturing = nullptr;
    delete stream->recording;
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return done(breaks_capture() ? cudaErrorStreamCaptureUnsupported : cudaSuccess);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
    if (stream == nullptr) return done(cudaErrorStreamCaptureUnsupported);
    if (stream->capture != cudaStreamCaptureStatusNone || capturing != nullptr) return done(cudaErrorIllegalState);
    stream->capture = cudaStreamCaptureStatusActive;
    stream->recording = new emulated_graph();
    capturing = stream;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    *graph = nullptr;
    if (stream == nullptr || stream->capture == cudaStreamCaptureStatusNone) return done(cudaErrorIllegalState);
    const bool valid = stream->capture == cudaStreamCaptureStatusActive;
    if (valid)
        *graph = stream->recording;
    else
        delete stream->recording;
    stream->recording = nullptr;
    stream->capture = cudaStreamCaptureStatusNone;
    capturing = nullptr;
    return done(valid ? cudaSuccess : cudaErrorStreamCaptureInvalidated);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status)
{
    *status = stream == nullptr ? cudaStreamCaptureStatusNone : stream->capture;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    *exec = new emulated_graph(*graph);
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    delete exec;
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    const emulated_graph graph = *exec; /* a copy: a launch that is itself captured may outlive exec */
    return emulated_enqueue(stream, [graph] {
        for (const std::function<void()> &call : graph.calls) call();
    });
}

/* ---- Events */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    *event = new emulated_event();
    (*event)->timed = (flags & cudaEventDisableTiming) == 0;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    event->recorded = true;
    return emulated_enqueue(stream, [event] { event->time = std::chrono::steady_clock::now(); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    return done(breaks_capture() ? cudaErrorStreamCaptureUnsupported : cudaSuccess);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop)
{
    *milliseconds = 0;
    if (!start->recorded || !stop->recorded || !start->timed || !stop->timed)
        return done(cudaErrorInvalidResourceHandle);
    *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned int) { return cudaSuccess; }

} /* extern "C" */
