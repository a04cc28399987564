/* v1.h: the launch that version 1 of FWD and of BWD_D share: one thread an element (n,k,p,q) of the output (C++).
 *
 * The block is three-dimensional: x runs along a row of outputs, y over rows, z over channels. The grid covers the
 * outputs exactly; images and column tiles share its x, which may be far larger than y and z. */
#ifndef IMPL_CUDA_NAIVE_V1_H
#define IMPL_CUDA_NAIVE_V1_H

#include "impl_cuda_naive/shape.h"

/* Threads of a block, at most: a thread of version 1 takes up to 114 of a multiprocessor's 65,536 registers, and
 * bounded to 64, as 1,024 threads would need, FWD is a tenth slower. */
enum { V1_MOST_THREADS = 512 };

struct v1_output {
    int64_t n, k, p, q;
    bool inside;
};

static __device__ inline v1_output v1_this_output(const conv_shape<int64_t> &s)
{
    const int64_t tiles = (s.ow + blockDim.x - 1) / blockDim.x;
    v1_output o;
    o.n = blockIdx.x / tiles;
    o.q = blockIdx.x % tiles * blockDim.x + threadIdx.x;
    o.p = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    o.k = (int64_t)blockIdx.z * blockDim.z + threadIdx.z;
    o.inside = o.q < s.ow && o.p < s.oh && o.k < s.oc;
    return o;
}

static inline cnn_status v1_fit(const cuda_context *, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    const cnn_conv_desc *d = &r->problem->u.conv;
    for (int i = 0; i < 3; i++) l->block[i] = r->knobs[NAIVE_KNOB_V1_BLOCK_X + i];
    l->grid[0] = d->mb * ceil_div(d->ow, l->block[0]);
    l->grid[1] = ceil_div(d->oh, l->block[1]);
    l->grid[2] = ceil_div(d->oc, l->block[2]);
    if (l->block[0] * l->block[1] * l->block[2] <= V1_MOST_THREADS) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED,
                    "v1: a block of %lld x %lld x %lld threads (v1.block_x, _y, _z), and %d are the most",
                    (long long)l->block[0], (long long)l->block[1], (long long)l->block[2], (int)V1_MOST_THREADS);
}

#endif
