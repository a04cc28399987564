/* direct.h: sizes that direct.cu and its plan share. */
#ifndef IMPL_CUDA_TENSOR_DIRECT_H
#define IMPL_CUDA_TENSOR_DIRECT_H

/* A tile has so many rows and columns, and a step so many numbers of k. */
enum { DIRECT_SIDE = 32, DIRECT_STEP = 16, DIRECT_WARPS = 8, DIRECT_SPLITS = 8 };

#endif
