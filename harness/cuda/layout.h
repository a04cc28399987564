/* layout.h: from an element's place in memory to (n, c, h, w) and back, for either layout. The index type is 32 bits
 * wide where the tensor allows it: a 64-bit division costs a GPU some 40 instructions more. */
#ifndef HARNESS_CUDA_LAYOUT_H
#define HARNESS_CUDA_LAYOUT_H

#include "harness/cnn.h"
#include "harness/cuda/platform.h"

template <typename I> struct cuda_extent {
    bool nhwc;
    I c, h, w;
};

template <typename I> struct cuda_point {
    I n, c, h, w;
};

template <typename I> __host__ __device__ inline cuda_point<I> cuda_point_of(const cuda_extent<I> &e, I i)
{
    cuda_point<I> p;
    if (e.nhwc) {
        p.c = i % e.c;
        i /= e.c;
        p.w = i % e.w;
        i /= e.w;
        p.h = i % e.h;
        p.n = i / e.h;
    } else {
        p.w = i % e.w;
        i /= e.w;
        p.h = i % e.h;
        i /= e.h;
        p.c = i % e.c;
        p.n = i / e.c;
    }
    return p;
}

template <typename I> __host__ __device__ inline I cuda_index_of(const cuda_extent<I> &e, I n, I c, I h, I w)
{
    return e.nhwc ? ((n * e.h + h) * e.w + w) * e.c + c : ((n * e.c + c) * e.h + h) * e.w + w;
}

/* Whether 32 bits will do for indices into `count` elements, a grid's stride beyond them included. */
inline bool cuda_fits_32(int64_t count) { return count < ((int64_t)1 << 30); }

#endif
