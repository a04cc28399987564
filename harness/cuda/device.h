/* device.h: whether a device can be used: for context.cu. */
#ifndef HARNESS_CUDA_DEVICE_H
#define HARNESS_CUDA_DEVICE_H

#include "harness/cuda/cuda.h"

/* The error of a call that asks for a device or opens it, as CNN_UNAVAILABLE or CNN_OUT_OF_MEMORY, in words. */
cnn_status cuda_unavailable(cudaError_t, int device, cnn_error *);
/* CNN_UNAVAILABLE where the device is closed or older than all code in this program; makes no context on it. */
cnn_status cuda_check_device(int device, cnn_error *);
/* CNN_UNAVAILABLE where this program's kernels cannot be loaded on the current device, which is `device`. */
cnn_status cuda_check_code(int device, cnn_error *);

#endif
