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

/* Four slots over the clusters that had an image: of them `row`, row + rows, ... */
template <class N> __device__ FUSED_INLINE float4 fused_sum_column(const float *from, int row, int rows, int clusters)
{
    constexpr int BATCH = 17;
    float4 sum = {0, 0, 0, 0};
#pragma unroll 1
    for (int c = row; c < clusters; c += rows * BATCH) {
        float4 v[BATCH]; /* all of them on their way at once */
#pragma unroll
        for (int k = 0; k < BATCH; k++)
            v[k] = c + k * rows < clusters ? __ldcg(fused_row_of<N>(from, c + k * rows)) : float4{0, 0, 0, 0};
#pragma unroll
        for (int k = 0; k < BATCH; k++) sum = {sum.x + v[k].x, sum.y + v[k].y, sum.z + v[k].z, sum.w + v[k].w};
    }
    return sum;
}

template <class N>
__device__ FUSED_INLINE void fused_end_slot(const fused_pass &p, float *images, const fused_lot &mine,
                                            const fused_state &state, const fused_rates &rates, int k, float grad,
                                            bool last)
{
    if (last && p.params[mine.first + k] >= 0) p.grads[p.params[mine.first + k]] = grad;
    if (p.mode != FUSED_TRAIN) return;
    fused_update(p.rule.kind, rates, grad, state.w[k], state.m[k], state.v[k]);
    fused_put_weight(images, state, k, state.w[k]);
}

/* Four slots, from k on: all are read before any is written, so that their updates go side by side. */
template <class N>
__device__ FUSED_INLINE void fused_end_four(const fused_pass &p, float *images, const fused_lot &mine,
                                            const fused_state &state, const fused_rates &rates, int k,
                                            const float (&grad)[4], bool last)
{
    float w[4], m[4], v[4];
#pragma unroll
    for (int e = 0; e < 4 && last; e++)
        if (p.params[mine.first + k + e] >= 0) p.grads[p.params[mine.first + k + e]] = grad[e];
    if (p.mode != FUSED_TRAIN) return;
    fused_load(w, state.w + k);
    fused_load(m, state.m + k);
    fused_load(v, state.v + k);
#pragma unroll
    for (int e = 0; e < 4; e++) fused_update(p.rule.kind, rates, grad[e], w[e], m[e], v[e]);
    fused_store(state.w + k, w);
    fused_store(state.m + k, m);
    fused_store(state.v + k, v);
    const int4 at = *reinterpret_cast<const int4 *>(state.at + k),
               back = *reinterpret_cast<const int4 *>(state.back + k);
    const int ats[4] = {at.x, at.y, at.z, at.w}, backs[4] = {back.x, back.y, back.z, back.w};
#pragma unroll
    for (int e = 0; e < 4; e++) {
        if (ats[e] >= 0) images[ats[e]] = w[e];
        if (backs[e] >= 0) images[backs[e]] = w[e];
    }
}

/* More columns of four slots than threads: each thread sums some, and updates them, two at a time. */
template <class N>
__device__ FUSED_INLINE void fused_end_columns(const fused_pass &p, float *images, const fused_lot &mine,
                                               const fused_state &state, const fused_rates &rates, const float *parts,
                                               int clusters, bool last)
{
    const int columns = mine.count / 4;
#pragma unroll 1
    for (int first = fused_thread(); first < columns; first += 2 * N::threads) {
        float4 sum[2];
#pragma unroll
        for (int u = 0; u < 2; u++) {
            const int column = first + u * N::threads;
            sum[u] = fused_sum_column<N>(parts + mine.first + 4 * column, 0, 1, column < columns ? clusters : 0);
        }
#pragma unroll
        for (int u = 0; u < 2; u++) {
            const int column = first + u * N::threads;
            const float grad[4] = {sum[u].x, sum[u].y, sum[u].z, sum[u].w};
            if (column < columns) fused_end_four<N>(p, images, mine, state, rates, 4 * column, grad, last);
        }
    }
}

/* Fewer: some threads take some clusters each, then one sums theirs. */
template <class N>
__device__ FUSED_INLINE void fused_end_rows(const fused_pass &p, float *images, const fused_lot &mine,
                                            const fused_state &state, const fused_rates &rates, const float *parts,
                                            int clusters, bool last)
{
    const int columns = mine.most / 4, rows = N::threads / columns;
    for (int item = fused_thread(); item < columns * rows; item += N::threads) {
        const int column = item % columns, row = item / columns;
        reinterpret_cast<float4 *>(state.red)[row * columns + column] =
            fused_sum_column<N>(parts + mine.first + column * 4, row, rows, column * 4 < mine.count ? clusters : 0);
    }
    __syncthreads();
    for (int k = fused_thread(); k < mine.count; k += N::threads) {
        float grad = 0;
        for (int row = 0; row < rows; row++) grad += state.red[row * mine.most + k];
        fused_end_slot<N>(p, images, mine, state, rates, k, grad, last);
    }
}

template <class N>
__device__ FUSED_INLINE void fused_end_step(const fused_pass &p, float *sm, const fused_lot &mine,
                                            const fused_state &state, const fused_rates &rates, const float *parts,
                                            int clusters, bool last)
{
    float *images = p.alone ? sm : p.images;
    if (mine.most / 4 > N::threads)
        fused_end_columns<N>(p, images, mine, state, rates, parts, clusters, last);
    else
        fused_end_rows<N>(p, images, mine, state, rates, parts, clusters, last);
}

#endif
