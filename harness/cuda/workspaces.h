/* workspaces.h: the workspaces of the pointwise operations that have one. */
#ifndef HARNESS_CUDA_WORKSPACES_H
#define HARNESS_CUDA_WORKSPACES_H

#include "harness/cuda/cuda.h"

size_t cuda_loss_workspace(const cuda_context *, const cnn_loss_desc *, cnn_dir);
size_t cuda_batchnorm_workspace(const cuda_context *, const cnn_batchnorm_desc *, cnn_dir);

#endif
