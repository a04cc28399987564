/* finish.h: what is done to sums as they are stored (C++): a bias is added already; then what is there with beta 1, or
 * a residual; then an activation. All of a cutensor_finish is an argument of the kernel, and takes no registers. */
#ifndef IMPL_CUDA_TENSOR_FINISH_H
#define IMPL_CUDA_TENSOR_FINISH_H

#include "harness/cuda/real.h"
#include "impl_cuda_tensor/tensor.h"

namespace
{

/* N neighbours of a tensor, which move together. */
template <typename R, int N> struct alignas(N * sizeof(R)) together {
    R v[N];
};

__device__ inline bool is_plain(const cutensor_finish &f) { return f.adds == 0 && f.acts == 0; }

/* N sums that will be stored from `to` on, whose number in the tensor N divides. Where nothing is done to them there is
 * one branch and no more: computed in any case, products would need the registers of forward.cu's sums twice. */
template <typename R, int N> __device__ inline void finish(const cutensor_finish &f, const R *to, float (&sum)[N])
{
    if (is_plain(f)) return;
    if (f.adds != 0) {
        const uintptr_t at = reinterpret_cast<uintptr_t>(to) + static_cast<uintptr_t>(f.away);
        const together<R, N> there = *reinterpret_cast<const together<R, N> *>(at);
#pragma unroll
        for (int i = 0; i < N; i++) sum[i] = cuda_load(there.v[i]) + sum[i];
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
        const float low = f.down == 0 ? 0.0f : f.down * sum[i], high = f.up * sum[i];
        sum[i] = sum[i] <= 0 ? low : high >= f.top ? f.top : high;
    }
}

template <typename R> __device__ inline void finish_one(const cutensor_finish &f, R *to, float sum)
{
    float one[1] = {sum};
    finish(f, to, one);
    *to = cuda_stored<R>(one[0]);
}

} // namespace

#endif
