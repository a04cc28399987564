/* splits.h: dw from the sums that blocks leave which share a tile's pixels (C++). */
#ifndef IMPL_CUDA_TENSOR_SPLITS_H
#define IMPL_CUDA_TENSOR_SPLITS_H

#include "impl_cuda_tensor/asm.h"
#include "impl_cuda_tensor/tensor.h"

namespace
{

/* `count` sums, of which each split left its own in a row of `row`, a multiple of 4. */
template <typename R> struct split_sums {
    const float *partials;
    R *to;
    int32_t count, row;
};

/* Each of `parts` adds every so many-th split's, then the parts are added up: the same bits in every run. Blocks behind
 * those that the first sums take have the second ones. */
enum { SPLIT_THREADS = 256, SPLIT_PARTS = 8 };
template <typename R>
__global__ void add_splits(const split_sums<R> first, const split_sums<R> second, int32_t splits, int32_t parts,
                           int32_t add)
{
    CUDA_DYNAMIC_SHARED(float4, kept);
    const int32_t together = SPLIT_THREADS / parts, lane = static_cast<int32_t>(threadIdx.x) % together;
    const int32_t part = static_cast<int32_t>(threadIdx.x) / together, block = static_cast<int32_t>(blockIdx.x);
    const int32_t blocks = (first.row / 4 + together - 1) / together;
    const split_sums<R> &s = block < blocks ? first : second;
    const int32_t four = (block < blocks ? block : block - blocks) * together + lane, fours = s.row / 4;
    float4 sum = {0, 0, 0, 0};
    wait_for_previous();
    if (four < fours) {
        const float4 *from = reinterpret_cast<const float4 *>(s.partials) + four;
#pragma unroll 8
        for (int32_t i = part; i < splits; i += parts) {
            const float4 v = __ldcg(from + static_cast<size_t>(i) * static_cast<size_t>(fours));
            sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
        }
    }
    kept[part * together + lane] = sum;
    __syncthreads();
    if (part != 0 || four >= fours) return;
    for (int32_t i = 1; i < parts; i++) {
        const float4 v = kept[i * together + lane];
        sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
    const float all[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
    for (int32_t e = 0; e < 4; e++)
        if (4 * four + e < s.count) cuda_put(s.to + 4 * static_cast<size_t>(four) + e, all[e], add != 0);
}

/* Behind the kernel that leaves them (next_may_start()); `second` may have none. Where there are sums enough for all
 * threads of the device at half of what it holds, a thread adds several splits' itself. */
template <typename R>
cnn_status run_splits(cuda_context *c, const split_sums<R> &first, const split_sums<R> &second, int32_t splits,
                      bool add, cnn_error *err)
{
    const int64_t threads = 1024 * static_cast<int64_t>(c->properties.multiProcessorCount);
    int32_t parts = SPLIT_PARTS;
    while (parts > 1 && (parts > splits || static_cast<int64_t>(first.row / 4) * parts > threads)) parts /= 2;
    const int32_t each = 4 * (SPLIT_THREADS / parts);
    const int32_t blocks = (first.row + each - 1) / each + (second.row + each - 1) / each;
    cuda_shape shape = {"add_splits", dim3(static_cast<unsigned>(blocks)), dim3(SPLIT_THREADS),
                        sizeof(float4) * SPLIT_THREADS};
    shape.overlaps = true;
    return cuda_launch(c, shape, err, add_splits<R>, first, second, splits, parts, add ? 1 : 0);
}

} // namespace

#endif
