/* tap_sums.h: dw of several taps from the sums that blocks leave tap by tap, and db (C++). */
#ifndef IMPL_CUDA_TENSOR_TAP_SUMS_H
#define IMPL_CUDA_TENSOR_TAP_SUMS_H

#include "impl_cuda_tensor/splits.h"

namespace
{

/* The sums of a split are [tap][number], dw is [number][tap], tap t at taps-1-t where reversed. */
struct tap_order {
    int32_t taps, reversed;
};

/* A block turns so many numbers of all taps over in shared memory, so that dw's neighbours are written together. */
enum { TAP_SUM_THREADS = 256, TAP_SUM_NUMBERS = 64 };

/* Four neighbours' sums of all splits, in their order. */
__device__ inline float4 sum_of_splits(const split_sums<float> &s, int32_t at, int32_t splits)
{
    const float *from = s.partials + at;
    float4 sum = {0, 0, 0, 0};
#pragma unroll 8
    for (int32_t i = 0; i < splits; i++, from += s.row) {
        const float4 v = __ldcg(reinterpret_cast<const float4 *>(from));
        sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
    return sum;
}

__global__ void add_taps(const split_sums<float> dw, const split_sums<float> db, const tap_order order, int32_t splits,
                         int32_t add)
{
    CUDA_DYNAMIC_SHARED(float, kept);
    const int32_t thread = static_cast<int32_t>(threadIdx.x), all = dw.count / order.taps;
    const int32_t blocks = (all + TAP_SUM_NUMBERS - 1) / TAP_SUM_NUMBERS, block = static_cast<int32_t>(blockIdx.x);
    wait_for_previous();
    if (block >= blocks) { /* the bias's */
        const int32_t first = ((block - blocks) * TAP_SUM_THREADS + thread) * 4;
        if (first >= db.row) return;
        const float4 sum = sum_of_splits(db, first, splits);
        const float four[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
        for (int32_t e = 0; e < 4; e++)
            if (first + e < db.count) cuda_put(db.to + first + e, four[e], add != 0);
        return;
    }
    const int32_t begin = block * TAP_SUM_NUMBERS, count = min(static_cast<int32_t>(TAP_SUM_NUMBERS), all - begin);
    for (int32_t i = thread; i < order.taps * (TAP_SUM_NUMBERS / 4); i += TAP_SUM_THREADS) {
        const int32_t tap = i / (TAP_SUM_NUMBERS / 4), number = i % (TAP_SUM_NUMBERS / 4) * 4;
        if (number >= count) continue;
        const float4 sum = sum_of_splits(dw, tap * all + begin + number, splits);
        float *to = kept + number * order.taps + (order.reversed ? order.taps - 1 - tap : tap);
        to[0] = sum.x, to[order.taps] = sum.y, to[2 * order.taps] = sum.z, to[3 * order.taps] = sum.w;
    }
    __syncthreads();
    float *out = dw.to + static_cast<size_t>(begin) * static_cast<size_t>(order.taps);
    for (int32_t i = thread; i < count * order.taps; i += TAP_SUM_THREADS) cuda_put(out + i, kept[i], add != 0);
}

/* Behind the kernel that leaves them (next_may_start()); numbers of a tap, and sums in a row, divide by 4. */
cnn_status run_tap_sums(cuda_context *c, const split_sums<float> &dw, const split_sums<float> &db,
                        const tap_order &order, int32_t splits, bool add, cnn_error *err)
{
    const int32_t all = dw.count / order.taps, each = 4 * TAP_SUM_THREADS;
    const int32_t blocks = (all + TAP_SUM_NUMBERS - 1) / TAP_SUM_NUMBERS + (db.row + each - 1) / each;
    cuda_shape shape = {"add_taps", dim3(static_cast<unsigned>(blocks)), dim3(TAP_SUM_THREADS),
                        sizeof(float) * TAP_SUM_NUMBERS * static_cast<size_t>(order.taps)};
    shape.overlaps = true;
    return cuda_launch(c, shape, err, add_taps, dw, db, order, splits, add ? 1 : 0);
}

} // namespace

#endif
