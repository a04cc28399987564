/* emulated.h: what a .cu file needs of CUDA, on the host: so that CTest proves the kernels' arithmetic and indexing on
 * any machine, under the sanitizers too. For correctness only: never timed.
 *
 * A kernel is a plain C++ function. A launch calls it once for each thread of each block, block after block, on one
 * host thread (block.cpp). Threads of a block take turns: one runs until it meets __syncthreads() or a warp operation,
 * then the next runs; so a thread is a fiber (a stack of its own) only while it waits. What this shows that a GPU may
 * hide:
 *   - odd blocks run their threads in reverse order: what relies on a missing barrier comes out wrong;
 *   - a barrier that not every thread reaches, or that two halves of a block reach at different lines, ends the program
 *     with file and line; so does a warp operation whose mask names a lane that does not come;
 *   - memory from cudaMalloc, and shared memory before each block, hold 0xFF bytes: NaN, or -1 (static arrays where
 *     CUDA_SHARED of platform.h declares them);
 *   - allocations end exactly where they end, so the address sanitizer sees what the kernels overrun;
 *   - the blocks of a cooperative grid take turns at its barriers, and those of a cluster at the cluster's, in both
 *     orders; one that ends while others wait ends the program, too;
 *   - a block's and grid's limits are a real device's (1024 threads, 48 KiB shared, 227 KiB on request);
 *   - while a stream captures, waiting and allocating are refused, as on a device, and so is a branch of another
 *     stream that nothing waits for;
 *   - copies on a stream of their own come as late as they may: when something waits for them.
 *
 * What goes wrong with devices goes wrong on request, named in the environment: EMULATED_CUDA_FAULT=NAME=NUMBER,...
 *   probe=E     asking for devices ends in error E (100: none; 35: the driver is too old, and serves driver=12020)
 *   devices=N   there are N devices, all alike (1). As with CUDA, a stream and an event belong to the device that was
 *               current when they were made, and kernels, fills and graphs go only to a stream of the current device
 *   capability=75  is what they have (90), and mode=2 is their compute mode (0; 2: prohibited)
 *   code=E      asking for a kernel's attributes ends in error E (209: the program holds no code for the device)
 *   open=E      a stream, the first thing that a context makes, ends in error E (46: the device is busy)
 *   memory=B    the device has B bytes
 *   multiprocessors=N  it has N of them (2)
 *   kernel=N    the N-th kernel that runs reads where it must not: every later call fails
 *
 * Provided here, for C and C++: device properties, cudaMalloc, cudaMallocHost, copies, fills, streams (everything is
 * done when the call returns, but copies on a stream that has nothing else: queue.h), events (the calling thread's
 * processor time), stream capture and graphs (the recorded calls, played back), errors. Provided by device.h, for
 * kernels: see there. Not provided: anything else; textures, cooperative groups (but for barriers of the grid and of
 * clusters, and a cluster's shared memory), cp.async, tensor cores, arithmetic in half and bfloat16 (half.h has the
 * types, and conversions), device printf, separate compilation, managed memory. Not shown: data races other than those
 * above, bank conflicts, any notion of speed. */
#ifndef HARNESS_CUDA_EMULATED_H
#define HARNESS_CUDA_EMULATED_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors: the numbers are CUDA's own. */
#define EMULATED_ERROR_LIST(X)                                                                                         \
    X(cudaSuccess, 0, "no error")                                                                                      \
    X(cudaErrorInvalidValue, 1, "invalid argument")                                                                    \
    X(cudaErrorMemoryAllocation, 2, "out of memory")                                                                   \
    X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                              \
    X(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")                 \
    X(cudaErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable")                            \
    X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                                   \
    X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                                    \
    X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                                           \
    X(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")                \
    X(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                                           \
    X(cudaErrorInvalidPtx, 218, "a PTX JIT compilation failed")                                                        \
    X(cudaErrorNvlinkUncorrectable, 220, "uncorrectable NVLink error detected during the execution")                   \
    X(cudaErrorJitCompilerNotFound, 221, "PTX JIT compiler library not found")                                         \
    X(cudaErrorUnsupportedPtxVersion, 222, "the provided PTX was compiled with an unsupported toolchain.")             \
    X(cudaErrorJitCompilationDisabled, 223, "PTX JIT compilation was disabled")                                        \
    X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                                  \
    X(cudaErrorNotReady, 600, "device not ready")                                                                      \
    X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                                        \
    X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                                   \
    X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                                          \
    X(cudaErrorAssert, 710, "device-side assert triggered")                                                            \
    X(cudaErrorHardwareStackError, 714, "hardware stack error")                                                        \
    X(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")                                      \
    X(cudaErrorMisalignedAddress, 716, "misaligned address")                                                           \
    X(cudaErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space")                     \
    X(cudaErrorInvalidPc, 718, "invalid program counter")                                                              \
    X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                                       \
    X(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                                \
    X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")                      \
    X(cudaErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture")               \
    X(cudaErrorStreamCaptureUnmatched, 903, "the capture was not initiated in this stream")                            \
    X(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                                       \
    X(cudaErrorStreamCaptureIsolation, 905, "dependency created on uncaptured work in another stream")                 \
    X(cudaErrorCapturedEvent, 907, "operation not permitted on an event last recorded in a capturing stream")          \
    X(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state")                            \
    X(cudaErrorUnknown, 999, "unknown error")

typedef enum cudaError {
#define X(name, number, text) name = number,
    EMULATED_ERROR_LIST(X)
#undef X
} cudaError_t;

const char *cudaGetErrorName(cudaError_t);
const char *cudaGetErrorString(cudaError_t);
cudaError_t cudaGetLastError(void); /* and forgets it */
cudaError_t cudaPeekAtLastError(void);

/* ---- Types */
typedef struct uint3 {
    unsigned int x, y, z;
} uint3;

#ifdef __cplusplus
struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
};
#else
typedef struct dim3 {
    unsigned int x, y, z;
} dim3;
#endif

typedef struct emulated_stream *cudaStream_t;
typedef struct emulated_event *cudaEvent_t;
typedef struct emulated_graph *cudaGraph_t;
typedef struct emulated_graph *cudaGraphExec_t;

/* ---- The device: made up. Two multiprocessors, so that small problems already go round a grid-stride loop. */
typedef struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin;
    int major, minor, multiProcessorCount, warpSize, l2CacheSize;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
} cudaDeviceProp;

typedef enum cudaDeviceAttr {
    cudaDevAttrComputeMode = 20,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76
} cudaDeviceAttr;
enum { cudaComputeModeDefault = 0, cudaComputeModeExclusive = 1, cudaComputeModeProhibited = 2 };

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);

/* What nvcc says of the code in a program: the architectures that it was compiled for. */
#define __CUDA_ARCH_LIST__ 800, 900

typedef struct cudaFuncAttributes {
    int maxThreadsPerBlock;
} cudaFuncAttributes;
typedef enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 } cudaFuncAttribute;

/* ---- Memory: the host's own. */
typedef enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
} cudaMemcpyKind;

cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaMallocHost(void **, size_t);
cudaError_t cudaFree(void *);
cudaError_t cudaFreeHost(void *);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
cudaError_t cudaCtxResetPersistingL2Cache(void); /* there is no such cache */
cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t, cudaMemcpyKind, cudaStream_t);
/* No cudaMemset(): on a GPU it runs on the legacy stream, which our streams do not wait for. */
cudaError_t cudaMemsetAsync(void *, int byte, size_t, cudaStream_t);

/* ---- Streams, events, graphs */
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };
typedef enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal,
    cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed
} cudaStreamCaptureMode;
typedef enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone,
    cudaStreamCaptureStatusActive,
    cudaStreamCaptureStatusInvalidated
} cudaStreamCaptureStatus;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned int flags);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *);
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned int flags);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *, cudaGraph_t, unsigned long long flags);
cudaError_t cudaGraphDestroy(cudaGraph_t);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t);
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaEventCreate(cudaEvent_t *);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t);
enum { cudaEventRecordDefault = 0, cudaEventRecordExternal = 1 };
cudaError_t cudaEventRecordWithFlags(cudaEvent_t, cudaStream_t, unsigned int flags);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop);

#ifdef __cplusplus
} /* extern "C" */
#include "harness/cuda/emulated/device.h"
#endif

#endif
