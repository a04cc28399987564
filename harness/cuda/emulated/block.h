/* block.h: between the emulated runtime and its blocks. */
#ifndef HARNESS_CUDA_EMULATED_BLOCK_H
#define HARNESS_CUDA_EMULATED_BLOCK_H

#include "harness/cuda/emulated/emulated.h"

/* Calls `body` once for every thread of the grid, with the built-in indices set. */
void emulated_run_grid(dim3 grid, dim3 block, size_t shared_bytes, const std::function<void()> &body);

#endif
