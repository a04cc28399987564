/* finish.h: what is done to a thread's sums before they are stored (C++): the bias is added; then what is there with
 * beta 1, or a residual; then comes an activation. Each is a loop of its own over all sums, behind one question: so
 * loads do not wait for stores, and what is not asked for costs a branch. Which loads, forward_store.h and rows_store.h
 * know. */
#ifndef IMPL_CUDA_TENSOR_FINISH_H
#define IMPL_CUDA_TENSOR_FINISH_H

#include "harness/cuda/activation.h"
#include "impl_cuda_tensor/asm.h"
#include "impl_cuda_tensor/tensor.h"

namespace
{

/* N neighbours of a tensor, which move together. */
template <typename R, int N> struct alignas(N * sizeof(R)) together {
    R v[N];
};

/* What is added to a result that will be stored at `to`. */
template <typename R> __device__ inline const R *added_to(const cutensor_finish &f, const R *to)
{
    return reinterpret_cast<const R *>(reinterpret_cast<uintptr_t>(to) + static_cast<uintptr_t>(f.away));
}

template <int N> __device__ inline void activate(const cutensor_finish &f, float (&sum)[N])
{
    if (f.acts == CUTENSOR_NO_ACT) return;
    if (f.acts == CUTENSOR_RELU) {
#pragma unroll
        for (int i = 0; i < N; i++) sum[i] = positive_part(sum[i]);
        return;
    }
    const act_line<float> line = {CNN_ACT_SCALE, f.down, f.up, f.top};
#pragma unroll
    for (int i = 0; i < N; i++) sum[i] = line(sum[i]);
}

} // namespace

#endif
