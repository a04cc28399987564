/* runtime.h: what the emulator's own files share. */
#ifndef HARNESS_CUDA_EMULATED_RUNTIME_H
#define HARNESS_CUDA_EMULATED_RUNTIME_H

#include "harness/cuda/emulated/emulated.h"

#include <functional>

enum { MAX_BLOCK_THREADS = 1024, MAX_BLOCK_Z = 64, MAX_GRID_YZ = 65535 };
enum { SHARED_BYTES = 48 * 1024, SHARED_BYTES_OPTIN = 227 * 1024 };

/* Remembers an error for cudaGetLastError(), and returns it. */
cudaError_t emulated_done(cudaError_t);
/* fault.cpp: the number behind NAME= in EMULATED_CUDA_FAULT; whether the kernel that would now run does not, for it, or
 * one before it, killed the device; cudaErrorIllegalAddress from then on. */
long long emulated_fault(const char *name, long long without);
bool emulated_kernel_dies();
cudaError_t emulated_state();
/* This thread's current device, and whether the stream is of it: else the error that CUDA gives is remembered. */
int emulated_multiprocessors();
int emulated_device();
bool emulated_is_current(cudaStream_t);
/* For a call that is not allowed during capture: true while this thread captures, and the capture is then lost. */
bool emulated_breaks_capture();
/* Does the call now, or, while the stream captures, keeps it for the graph. cuBLAS's stand-in uses it, too. */
cudaError_t emulated_enqueue(cudaStream_t, std::function<void()> call);
/* A copy, which is put off on a stream that has had nothing but copies: queue.h says until when. */
cudaError_t emulated_enqueue_copy(cudaStream_t, std::function<void()> call);
/* block.cpp: calls `body` once for every thread of the grid, with the built-in indices set. The blocks of a cooperative
 * grid are all there at once, and may wait for one another, those of a cluster for the cluster, too. */
struct emulated_grid {
    dim3 grid, block;
    size_t shared_bytes;
    bool cooperative;
    unsigned cluster; /* blocks, one after another */
    emulated_body body;
};
void emulated_run_grid(const emulated_grid &);

#endif
