/* v2.h: an image is a block's; its values and gradients never leave shared memory.
 *
 * Idea: between two layers v1 crosses the whole GPU; here a block takes an image forward and backward alone, with
 * barriers of the block (30 clocks) in between, and adds its gradients up in shared memory. Only at the end of a step
 * do the blocks meet: each writes its sums, each adds up its slice of the parameters over the blocks and updates it,
 * each reads the new parameters: two barriers of the grid a step.
 *
 * Expected: at batch 5 the length of one image and of a step's end, a fifth of v1. Gained, on an H200: 1.11 -> 0.31 s
 * an epoch at batch 5, 0.76 -> 0.018 s at 100, 0.78 -> 0.0095 s at 5000 (docs/gpu_ladder.md).
 *
 * N describes a network: stages, places, cuts (stage.h), and n, threads, slots, floats, staged, image, classes, nhwc,
 * quadratic. All of it is known at compile time, so each row of a convolution is straight code, without the taps that
 * only meet padding. Shared memory: parameters, their gradients, values, scratch of the sums over blocks.
 *
 *   v2_lanes.h    how values lie in shared memory, how lanes share a task
 *   v2_forward.h  an image forward
 *   v2_data.h     back: the gradients of values
 *   v2_weights.h  back: the gradients of weights and biases
 *   v2_feed.h     the images' way in
 *   v2.h          an image back, a step's end, a pass
 *
 * None of it needs another header: NVRTC compiles it for the network at hand. */
#ifndef IMPL_CUDA_FUSED_V2_H
#define IMPL_CUDA_FUSED_V2_H

#include "impl_cuda_fused/v2_data.h"
#include "impl_cuda_fused/v2_feed.h"
#include "impl_cuda_fused/v2_weights.h"

template <class N, int S>
__device__ FUSED_INLINE void fused_backward(const fused_pass &p, float *sm, const fused_image &im)
{
    constexpr bool conv = N::stages[S].op == FUSED_CONV, in_place = N::places[S].at == N::places[S].grad;
    if constexpr (conv) {
        fused_weights<N, S>(sm);
        fused_bias<N, S>(sm);
    }
    if constexpr (S > 0) {
        if constexpr (conv && in_place) __syncthreads(); /* the value has been read */
        if constexpr (conv)
            fused_conv_back<N, S>(p, sm, im);
        else
            fused_pool_back<N, S>(p, sm, im);
    }
    __syncthreads();
    if constexpr (S > 0) fused_backward<N, S - 1>(p, sm, im);
}

/* ---- A step's end */

__device__ FUSED_INLINE void fused_copy(float *to, const float *from, int floats, int threads)
{
    for (int k = (int)threadIdx.x; k < floats / 4; k += threads)
        reinterpret_cast<float4 *>(to)[k] = __ldcg(reinterpret_cast<const float4 *>(from) + k);
}

/* Slots [first, first + count) are this block's to update; count is a multiple of 4, and `most` in every other block.
 */
struct fused_slice {
    int first, count, most;
};

template <class N> __device__ FUSED_INLINE fused_slice fused_slice_of()
{
    const int most = (N::slots / 4 + (int)gridDim.x - 1) / (int)gridDim.x * 4, first = (int)blockIdx.x * most;
    return {first, first >= N::slots ? 0 : first + most > N::slots ? N::slots - first : most, most};
}

/* Adds up the slice over the blocks that had an image: some threads take some blocks each, then one sums theirs. */
template <class N>
__device__ FUSED_INLINE void fused_sum_parts(const fused_pass &p, const fused_slice &mine, int blocks, float *red)
{
    const int columns = mine.most / 4, rows = N::threads / columns > 0 ? N::threads / columns : 1;
    for (int item = (int)threadIdx.x; item < columns * rows; item += N::threads) {
        const int column = item % columns, row = item / columns;
        float4 sum = {0, 0, 0, 0};
        if (column * 4 < mine.count) {
            const float *from = p.parts + mine.first + column * 4;
#pragma unroll 9
            for (int b = row; b < blocks; b += rows) {
                const float4 v = __ldcg(reinterpret_cast<const float4 *>(from + (long long)b * N::slots));
                sum.x += v.x;
                sum.y += v.y;
                sum.z += v.z;
                sum.w += v.w;
            }
        }
        reinterpret_cast<float4 *>(red)[row * columns + column] = sum;
    }
    __syncthreads();
}

template <class N>
__device__ FUSED_INLINE void fused_step_end(const fused_pass &p, float *red, const fused_rates &rates, int blocks)
{
    const fused_slice mine = fused_slice_of<N>();
    const int columns = mine.most / 4, rows = N::threads / columns > 0 ? N::threads / columns : 1;
    fused_sum_parts<N>(p, mine, blocks, red);
    for (int k = (int)threadIdx.x; k < mine.count; k += N::threads) {
        const int slot = mine.first + k;
        float grad = 0;
        for (int row = 0; row < rows; row++) grad += red[row * mine.most + k];
        p.grads[slot] = grad;
        if (p.mode == FUSED_TRAIN) fused_update(p.rule.kind, rates, grad, p.w[slot], p.m[slot], p.v[slot]);
    }
}

/* ---- A pass */

template <class N> __device__ FUSED_INLINE void fused_v2_pass(const fused_pass &p, float *sm)
{
    constexpr fused_stage last = N::stages[N::n - 1];
    constexpr fused_place scores = N::places[N::n];
    unsigned goal = 0;
    double loss = 0, power1 = p.power1, power2 = p.power2;
    long long hits = 0, step = p.step;
    fused_feed<N> feed;
    for (int k = (int)threadIdx.x; k < N::floats; k += N::threads) sm[k] = 0;
    __syncthreads();
    feed.begin(p, sm);
    if (p.mode == FUSED_TEST) fused_copy(sm, p.w, N::slots, N::threads);
#pragma unroll 1
    for (long long done = 0; done < p.count; done += p.batch, step++) {
        const long long left = p.count - done, mb = left < p.batch ? left : p.batch;
        const fused_loss_desc judge = {N::classes, N::quadratic, last.act, last.alpha, 1.0f / (float)mb};
        if (p.mode != FUSED_TEST) {
            fused_copy(sm, p.w, N::slots, N::threads);
            for (int k = (int)threadIdx.x; k < N::slots; k += N::threads) sm[N::slots + k] = 0;
        }
#pragma unroll 1
        for (long long n = blockIdx.x; n < mb; n += gridDim.x) {
            const fused_image im = {n, step, p.mode != FUSED_TEST};
            const int label = feed.take(p, sm);
            __syncthreads();
            feed.go_on(p, sm);
            fused_forward<N, 0>(p, sm, im);
            if (threadIdx.x < 32) {
                const fused_judged judged =
                    fused_loss(judge, sm + scores.at, im.train ? sm + scores.at : nullptr, label, (int)threadIdx.x);
                loss += judged.loss;
                hits += judged.hit;
            }
            __syncthreads();
            if (im.train) fused_backward<N, N::n - 1>(p, sm, im);
        }
        if (p.mode == FUSED_TEST) continue;
        fused_bias_end<N, 0>(sm);
        __syncthreads();
        float *part = p.parts + (long long)blockIdx.x * N::slots;
        for (int k = (int)threadIdx.x; k < N::slots / 4 && blockIdx.x < mb; k += N::threads)
            __stcg(reinterpret_cast<float4 *>(part) + k, reinterpret_cast<const float4 *>(sm + N::slots)[k]);
        const fused_rates rates = fused_rates_of(p.rule, step, power1, power2);
        fused_barrier(p.arrived, goal);
        fused_step_end<N>(p, sm + N::floats, rates, (int)(mb < gridDim.x ? mb : gridDim.x));
        power1 *= p.rule.beta1;
        power2 *= p.rule.beta2;
        fused_barrier(p.arrived, goal);
    }
    if (threadIdx.x == 0) {
        p.losses[blockIdx.x] = loss;
        p.hits[blockIdx.x] = hits;
    }
    fused_barrier(p.arrived, goal);
    fused_add_sums(p);
}

#endif
