/* v3_step.h: of v3: the parameters and the optimizer's state, which stand in the shared memory of the block that
 * updates them; a step's end; the way of the weights into blocks. */
#ifndef IMPL_CUDA_FUSED_V3_STEP_H
#define IMPL_CUDA_FUSED_V3_STEP_H

#include "impl_cuda_fused/v3_weights.h"

/* What a block's images come to. */
struct fused_sums {
    double loss;
    long long hits;
};

/* Slots [first, first + count) of [rank][slot] are this block's to update; count is a multiple of 4, and `most` in
 * every other block. Alone, a block updates those of its rank. */
struct fused_lot {
    int first, count, most;
};

template <class N> __device__ FUSED_INLINE fused_lot fused_share_of(const fused_pass &p)
{
    constexpr int all = N::cluster * N::slots;
    if (p.alone) return {fused_rank<N>() * N::slots, N::slots, N::slots};
    const int most = (all / 4 + (int)gridDim.x - 1) / (int)gridDim.x * 4, first = (int)blockIdx.x * most;
    return {first, first >= all ? 0 : first + most > all ? all - first : most, most};
}

/* Of a slice, behind N::floats: room for sums over clusters, then its parameters, the optimizer's state, and the two
 * places that each has in an image of the weights, -1: none. */
struct fused_state {
    float *red, *w, *m, *v;
    int *at, *back;
};

template <class N> __device__ FUSED_INLINE fused_state fused_state_at(float *sm, const fused_lot &mine)
{
    float *red = sm + N::floats, *w = red + (mine.most > 4 * N::threads ? mine.most : 4 * N::threads);
    int *at = reinterpret_cast<int *>(w + 3 * mine.most);
    return {red, w, w + mine.most, w + 2 * mine.most, at, at + mine.most};
}

/* Puts a weight where blocks read it: alone, here; else in the images that they take. */
__device__ FUSED_INLINE void fused_put_weight(float *images, const fused_state &state, int k, float w)
{
    if (state.at[k] >= 0) images[state.at[k]] = w;
    if (state.back[k] >= 0) images[state.back[k]] = w;
}

/* The state is in the order of cnn_net.params; each slot knows its parameter. */
template <class N>
__device__ FUSED_INLINE void fused_take_state(const fused_pass &p, const fused_lot &mine, const fused_state &state)
{
    for (int k = fused_thread(); k < mine.count; k += N::threads) {
        const int slot = mine.first + k, param = p.params[slot], rank = slot / N::slots;
        const int image = p.alone ? 0 : rank * N::weights;
        const int at = p.at[slot - rank * N::slots], back = p.back[slot - rank * N::slots];
        state.w[k] = param >= 0 ? p.w[param] : 0.0f;
        state.m[k] = param >= 0 ? p.m[param] : 0.0f;
        state.v[k] = param >= 0 ? p.v[param] : 0.0f;
        state.at[k] = param < 0 || at < 0 ? -1 : image + at;
        state.back[k] = param < 0 || back < 0 ? -1 : image + back;
        fused_put_weight(p.images + (p.alone ? rank * N::weights : 0), state, k, state.w[k]);
    }
}

/* ... and back, by one block where several have it. */
template <class N>
__device__ FUSED_INLINE void fused_give_state(const fused_pass &p, const fused_lot &mine, const fused_state &state)
{
    for (int k = fused_thread(); k < mine.count && (!p.alone || fused_cluster<N>() == 0); k += N::threads) {
        const int param = p.params[mine.first + k];
        if (param < 0) continue;
        p.w[param] = state.w[k];
        p.m[param] = state.m[k];
        p.v[param] = state.v[k];
    }
}

/* The weights of the block's rank, in three groups: the first ... */
template <class N, int FROM, int TO> __device__ FUSED_INLINE void fused_fetch_group(const float *image, float *sm)
{
    for (int k = FROM / 4 + fused_thread(); k < TO / 4; k += N::threads) fused_send<4>(sm + 4 * k, image + 4 * k);
    fused_sent();
}

template <class N> __device__ FUSED_INLINE void fused_fetch_first(const fused_pass &p, float *sm)
{
    fused_fetch_group<N, 0, N::first>(p.images + fused_rank<N>() * N::weights, sm);
}

/* ... the others, and waits for the first. */
template <class N> __device__ FUSED_INLINE void fused_fetch_others(const fused_pass &p, float *sm)
{
    const float *image = p.images + fused_rank<N>() * N::weights;
    fused_fetch_group<N, N::first, N::forward>(image, sm);
    fused_fetch_group<N, N::forward, N::weights>(image, sm);
    fused_arrived<2>();
}

template <class N> __device__ FUSED_INLINE const float4 *fused_row_of(const float *from, int cluster)
{
    return reinterpret_cast<const float4 *>(from + (long long)cluster * N::cluster * N::slots);
}

/* Adds up the slice over the clusters that had an image: some threads take some each, then one sums theirs. */
template <class N>
__device__ FUSED_INLINE void fused_sum_lot(const float *parts, const fused_lot &mine, int clusters, float *red)
{
    constexpr int BATCH = 17;
    const int columns = mine.most / 4, rows = N::threads / columns > 0 ? N::threads / columns : 1;
    for (int item = fused_thread(); item < columns * rows; item += N::threads) {
        const int column = item % columns, row = item / columns;
        float4 sum = {0, 0, 0, 0};
        if (column * 4 < mine.count) {
            const float *from = parts + mine.first + column * 4;
#pragma unroll 1
            for (int c = row; c < clusters; c += rows * BATCH) {
                float4 v[BATCH]; /* all of them on their way at once */
#pragma unroll
                for (int k = 0; k < BATCH; k++)
                    v[k] = c + k * rows < clusters ? __ldcg(fused_row_of<N>(from, c + k * rows)) : float4{0, 0, 0, 0};
#pragma unroll
                for (int k = 0; k < BATCH; k++) sum = {sum.x + v[k].x, sum.y + v[k].y, sum.z + v[k].z, sum.w + v[k].w};
            }
        }
        reinterpret_cast<float4 *>(red)[row * columns + column] = sum;
    }
    __syncthreads();
}

template <class N>
__device__ FUSED_INLINE void fused_end_step(const fused_pass &p, float *sm, const fused_lot &mine,
                                            const fused_state &state, const fused_rates &rates, const float *parts,
                                            int clusters, bool last)
{
    const int columns = mine.most / 4, rows = N::threads / columns > 0 ? N::threads / columns : 1;
    float *images = p.alone ? sm : p.images;
    fused_sum_lot<N>(parts, mine, clusters, state.red);
    for (int k = fused_thread(); k < mine.count; k += N::threads) {
        float grad = 0;
        for (int row = 0; row < rows; row++) grad += state.red[row * mine.most + k];
        if (last && p.params[mine.first + k] >= 0) p.grads[p.params[mine.first + k]] = grad;
        if (p.mode != FUSED_TRAIN) continue;
        fused_update(p.rule.kind, rates, grad, state.w[k], state.m[k], state.v[k]);
        fused_put_weight(images, state, k, state.w[k]);
    }
}

#endif
