/* splits.h: dw from the sums that blocks leave which share a tile's pixels (C++). */
#ifndef IMPL_CUDA_TENSOR_SPLITS_H
#define IMPL_CUDA_TENSOR_SPLITS_H

#include "impl_cuda_tensor/asm.h"
#include "impl_cuda_tensor/tensor.h"

namespace
{

/* A part of the threads adds every 8th split's, then the parts are added up: the same bits in every run. */
enum { SPLIT_FOURS = 32, SPLIT_PARTS = 8 };
template <typename R>
__global__ void add_splits(int32_t fours, int32_t splits, const float *partials, R *dw, int32_t add)
{
    CUDA_DYNAMIC_SHARED(float4, kept);
    const int32_t lane = static_cast<int32_t>(threadIdx.x) % SPLIT_FOURS;
    const int32_t part = static_cast<int32_t>(threadIdx.x) / SPLIT_FOURS;
    const int32_t four = static_cast<int32_t>(blockIdx.x) * SPLIT_FOURS + lane;
    float4 sum = {0, 0, 0, 0};
    wait_for_previous();
    if (four < fours) {
        const float4 *from = reinterpret_cast<const float4 *>(partials) + four;
#pragma unroll 8
        for (int32_t s = part; s < splits; s += SPLIT_PARTS) {
            const float4 v = __ldcg(from + static_cast<size_t>(s) * static_cast<size_t>(fours));
            sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
        }
    }
    kept[part * SPLIT_FOURS + lane] = sum;
    __syncthreads();
    if (part != 0 || four >= fours) return;
    for (int32_t i = 1; i < SPLIT_PARTS; i++) {
        const float4 v = kept[i * SPLIT_FOURS + lane];
        sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
    R *to = dw + 4 * static_cast<size_t>(four);
    cuda_put(to, sum.x, add != 0);
    cuda_put(to + 1, sum.y, add != 0);
    cuda_put(to + 2, sum.z, add != 0);
    cuda_put(to + 3, sum.w, add != 0);
}

/* Of `count` sums each, a multiple of 4, behind the kernel that leaves them (next_may_start()). */
template <typename R>
cnn_status run_splits(cuda_context *c, int64_t count, int32_t splits, const float *partials, R *dw, bool add,
                      cnn_error *err)
{
    const int32_t fours = static_cast<int32_t>(count / 4);
    cuda_shape shape = {"add_splits", dim3(static_cast<unsigned>((fours + SPLIT_FOURS - 1) / SPLIT_FOURS)),
                        dim3(SPLIT_FOURS * SPLIT_PARTS), sizeof(float4) * SPLIT_FOURS * SPLIT_PARTS};
    shape.overlaps = true;
    return cuda_launch(c, shape, err, add_splits<R>, fours, splits, partials, dw, add ? 1 : 0);
}

} // namespace

#endif
