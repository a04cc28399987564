/* v3.h: a cluster of blocks shares an image; gradients of weights stay in registers.
 *
 * Ideas, each against a loss of v2:
 * - At batch 5 a step is one image long, and 127 of 132 multiprocessors wait for it. Here a cluster of C blocks takes
 * an image: each has a share of the channels (cluster.h), and what they exchange is small.
 * - v2 adds every image's gradients of weights over lanes and to shared memory. Here a thread has the same task in
 * every image, and keeps its sums in registers until the step ends.
 * - v2 reads the data gradient's weights one by one. Here they stand in shared memory a second time, in its order.
 * - v2 reads and writes the parameters and the optimizer's state in global memory at a step's end. Here they stay in
 * the shared memory of the block that updates them. Weights come in three groups, each waited for where it is used.
 * - With few clusters each updates all its weights by itself: one barrier of the grid a step instead of two.
 *
 * Expected: 0.10 s an epoch at batch 5 (v2: 0.31), 0.02 at 50 (0.034), 0.013 at 100 (0.018), 0.007 at 5000 (0.0095), as
 * much as a program that is written for thesis.net alone takes. Gained, on an H200, before its last four changes, which
 * are not measured: 0.30 -> 0.173 s at batch 5, 0.154 -> 0.077 at 10, 0.034 -> 0.023 at 50, 0.0178 -> 0.0172 at 100,
 * 0.0096 -> 0.0086 at 5000 (docs/gpu_ladder.md).
 *
 * N is as in v2.h, with tiles in place of cuts, and cluster: blocks an image; slots: of a block; weights: floats of
 * them in shared memory, first and forward: how many of them are stage 0's and biases, and those of the way forward;
 * mail.
 *
 *   cluster.h     whose channels are whose; mail among the blocks of a cluster
 *   v3_pieces.h   stage 0 forward
 *   v3_walk.h     a lane's steps from operand to operand
 *   v3_forward.h  the others
 *   v3_data.h     back: the gradients of values
 *   v3_weights.h  back: the gradients of weights and biases
 *   v3_step.h     a step's end: sums over clusters, the update, the way of the weights
 *   laps.h        where the time goes
 *   v3.h          an image back, a pass */
#ifndef IMPL_CUDA_FUSED_V3_H
#define IMPL_CUDA_FUSED_V3_H

#include "impl_cuda_fused/v3_data.h"
#include "impl_cuda_fused/v3_step.h"

/* Says how much mail an image brings. */
template <class N, int S> __device__ FUSED_INLINE void fused_expect_all(float *sm)
{
    constexpr fused_stage s = N::stages[S];
    if constexpr (fused_partial<N, S>())
        fused_expect(fused_box_of_stage<N, S>(sm), N::cluster * fused_owned<N, S + 1>() * s.oh * s.ow);
    if constexpr (fused_gathered<N, S>()) fused_expect(fused_box_of_value<N, S>(sm), s.ic * s.ih * s.iw);
    if constexpr (S + 1 < N::n) fused_expect_all<N, S + 1>(sm);
}

/* A gradient that takes its value's place waits until the value has been read. One that other blocks wait for goes
 * first. */
template <class N, int S>
__device__ FUSED_INLINE void fused_back(const fused_pass &p, float *sm, const fused_image &im, fused_kept<N, 0> &kept)
{
    constexpr bool conv = N::stages[S].op == FUSED_CONV, in_place = N::places[S].at == N::places[S].grad;
    constexpr bool data = conv && S > 0 && !fused_full<N, S>();
    if constexpr (fused_full<N, S>()) fused_full_back<N, S>(p, sm, im);
    if constexpr (data && !in_place) fused_data<N, S>(p, sm, im);
    if constexpr (fused_full<N, S>() || (data && !in_place)) fused_lap_of<N, S>(p, sm, FUSED_LAP_DATA);
    if constexpr (conv && !fused_full<N, S>()) fused_weights_of_image<N, S, 0>(sm, kept);
    if constexpr (conv) fused_biases<N, S>(sm);
    if constexpr (conv) fused_lap_of<N, S>(p, sm, FUSED_LAP_WEIGHTS);
    if constexpr (data && in_place) fused_data<N, S>(p, sm, im);
    if constexpr (!conv && S > 0) fused_pool_back<N, S>(p, sm, im);
    if constexpr ((data && in_place) || (!conv && S > 0)) fused_lap_of<N, S>(p, sm, FUSED_LAP_DATA);
    if constexpr (fused_gathered<N, S>()) fused_receive(fused_box_of_value<N, S>(sm), im.phase);
    __syncthreads();
    fused_lap_of<N, S>(p, sm, FUSED_LAP_MEET_BACK);
    if constexpr (S > 0) fused_back<N, S - 1>(p, sm, im, kept);
}

template <class N>
__device__ FUSED_INLINE void fused_image_of(const fused_pass &p, float *sm, const fused_image &im, int label,
                                            const fused_loss_desc &judge, fused_kept<N, 0> &kept, fused_sums &sums)
{
    constexpr fused_place scores = N::places[N::n];
    const int lane = fused_thread() - (N::threads - 32); /* the last warp has least to do next */
    fused_softened softened;
    fused_ahead<N, 0>(p, sm, im);
    if (lane >= 0) softened = fused_soften(judge, sm + scores.at, im.train ? sm + scores.at : nullptr, label, lane);
    __syncthreads();
    if (lane >= 0) {
        const fused_judged judged = fused_judge(judge, softened);
        sums.loss += judged.loss;
        sums.hits += judged.hit;
    }
    fused_lap<N>(p, sm, FUSED_LAP_LOSS);
    if (im.train) fused_back<N, N::n - 1>(p, sm, im, kept);
}

template <class N> __device__ FUSED_INLINE void fused_begin(float *sm)
{
    for (int k = fused_thread(); k < N::floats; k += N::threads) sm[k] = 0;
    __syncthreads();
    for (int k = fused_thread(); k < 2 * N::n && N::cluster > 1; k += N::threads) fused_box_make(sm + N::mail + 2 * k);
    __syncthreads();
    if constexpr (N::cluster > 1) fused_cluster_barrier();
}

/* A pass. Blocks without an image help at a step's end. */
template <class N> __device__ FUSED_INLINE void fused_v3_pass(const fused_pass &p, float *sm)
{
    constexpr fused_stage last = N::stages[N::n - 1];
    unsigned goal = 0, phase = 0;
    double power1 = p.power1, power2 = p.power2;
    long long step = p.step;
    fused_sums sums = {0, 0};
    fused_kept<N, 0> kept;
    fused_feed<N> feed;
    fused_begin<N>(sm);
    fused_laps_begin<N>(p, sm);
    feed.begin(p, sm);
    const fused_lot mine = fused_share_of<N>(p);
    const fused_state state = fused_state_at<N>(sm, mine);
    fused_take_state<N>(p, mine, state);
    fused_barrier(p.arrived, goal);
#pragma unroll 1
    for (long long done = 0; done < p.count; done += p.batch, step++) {
        const long long left = p.count - done, mb = left < p.batch ? left : p.batch;
        const fused_loss_desc judge = {N::classes, N::quadratic, last.act, last.alpha, 1.0f / (float)mb};
        bool weights = done == 0 || !p.alone;
        if (weights && fused_cluster<N>() < mb) fused_fetch_first<N>(p, sm);
        kept.clear();
#pragma unroll 1
        for (long long n = fused_cluster<N>(); n < mb; n += fused_clusters<N>()) {
            const fused_image im = {n, step, p.mode != FUSED_TEST, phase};
            if (N::cluster > 1 && threadIdx.x == 0) fused_expect_all<N, 0>(sm);
            const int label = feed.take(p, sm, weights);
            if (weights) fused_fetch_others<N>(p, sm);
            __syncthreads();
            feed.go_on(p, sm);
            fused_lap<N>(p, sm, FUSED_LAP_IMAGES);
            fused_image_of<N>(p, sm, im, label, judge, kept, sums);
            weights = false;
            phase ^= 1;
        }
        if (p.mode == FUSED_TEST) continue;
        float *parts = p.parts + (p.alone && step % 2 != 0 ? (long long)gridDim.x * N::slots : 0);
        if (fused_cluster<N>() < mb) fused_leave<N, 0>(sm, kept, parts + (long long)blockIdx.x * N::slots);
        fused_lap<N>(p, sm, FUSED_LAP_LEAVE);
        fused_arrive(p.arrived, goal);
        const fused_rates rates = fused_rates_of(p.rule, step, power1, power2);
        fused_await(p.arrived, goal);
        fused_lap<N>(p, sm, FUSED_LAP_WAIT);
        const int clusters = (int)(mb < fused_clusters<N>() ? mb : fused_clusters<N>());
        fused_end_step<N>(p, sm, mine, state, rates, parts, clusters, left <= p.batch);
        fused_lap<N>(p, sm, FUSED_LAP_UPDATE);
        power1 *= p.rule.beta1;
        power2 *= p.rule.beta2;
        if (p.alone)
            __syncthreads();
        else
            fused_barrier(p.arrived, goal);
        fused_lap<N>(p, sm, FUSED_LAP_WAIT);
    }
    if (p.mode == FUSED_TRAIN) fused_give_state<N>(p, mine, state);
    if (threadIdx.x == N::threads - 1) {
        p.losses[blockIdx.x] = fused_rank<N>() == 0 ? sums.loss : 0;
        p.hits[blockIdx.x] = fused_rank<N>() == 0 ? sums.hits : 0;
    }
    fused_barrier(p.arrived, goal);
    fused_laps_end<N>(p);
    fused_add_sums(p);
}

#endif
