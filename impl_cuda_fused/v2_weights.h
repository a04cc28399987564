/* v2_weights.h: of v2: the gradients of weights and biases, added up in shared memory over a block's images. */
#ifndef IMPL_CUDA_FUSED_V2_WEIGHTS_H
#define IMPL_CUDA_FUSED_V2_WEIGHTS_H

#include "impl_cuda_fused/v2_lanes.h"

/* Taps of a kernel's row that a task of the weight gradient takes: G, G + wt, ... Where wt is the stride, they all read
 * one plane of the value's row. */
template <class N, int S, int G> struct fused_taps {
    static constexpr fused_stage s = N::stages[S];
    static constexpr int step = N::cuts[S].wt, count = (s.kw - G + step - 1) / step;
    static constexpr int planes = step > 1 ? 1 : N::places[S].sw;
    static constexpr int plane = step > 1 ? (((G * s.dw - s.pw) % s.sw) + s.sw) % s.sw : 0;
};

template <class N, int S, int G> __device__ FUSED_INLINE void fused_weights_of(float *sm, int task)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place in = N::places[S], out = N::places[S + 1];
    constexpr fused_cut k = N::cuts[S];
    typedef fused_taps<N, S, G> taps;
    constexpr int outs = s.oc / k.wo, ins = s.ic / k.wc, each = k.wo * k.wc;
    const fused_seat seat = fused_seat_of<k.wl>();
    const bool real = task < outs * ins * s.kh;
    const int f0 = task % outs * k.wo, c0 = task / outs % ins * k.wc, i = task / outs / ins;
    float sum[each * taps::count] = {};
    if (real) {
        const fused_span rows = fused_inside(i * s.dh - s.ph, s.sh, s.ih, s.oh);
#pragma unroll 1
        for (int q = seat.lane; q < rows.count; q += k.wl) {
            const int oh = rows.first + q;
            float dy[k.wo][out.sw * out.ps];
#pragma unroll
            for (int f = 0; f < k.wo; f++) fused_load(dy[f], sm + out.grad + (f0 + f) * out.cs + oh * out.hs);
#pragma unroll
            for (int c = 0; c < k.wc; c++) {
                float x[taps::planes * in.ps];
                fused_load(x,
                           sm + in.at + (c0 + c) * in.cs + (oh * s.sh + i * s.dh - s.ph) * in.hs + taps::plane * in.ps);
#pragma unroll
                for (int f = 0; f < k.wo; f++)
#pragma unroll
                    for (int t = 0; t < taps::count; t++)
#pragma unroll
                        for (int o = 0; o < s.ow; o++) {
                            const int at = o * s.sw + (G + t * taps::step) * s.dw - s.pw;
                            if (at < 0 || at >= s.iw) continue;
                            sum[t * each + f * k.wc + c] += dy[f][o % out.sw * out.ps + o / out.sw] *
                                                            x[(at % in.sw - taps::plane) * in.ps + at / in.sw];
                        }
            }
        }
    }
    const fused_part part = fused_sum<each, taps::count, k.wl, fused_paired(k.wl), 1>(sum, seat.lane);
    if (!real) return;
    float *to = sm + N::slots + k.w + c0 * k.cs + i * k.is + f0 / k.fc * (s.kw * k.fc) + f0 % k.fc;
#pragma unroll
    for (int e = 0; e < fused_split<each, taps::count, k.wl>::left; e++) {
        const int at = fused_split<each, taps::count, k.wl>::rest > 1 ? part.base + e : e;
        if (at >= part.end) continue;
        const int j = G + (part.column + at / each) * taps::step;
        to[at % each % k.wc * k.cs + j * k.fc + at % each / k.wc] += sum[e]; /* wo channels stand in one group */
    }
}

/* Adds the image's gradient of the weights to what the block has. */
template <class N, int S> __device__ FUSED_INLINE void fused_weights(float *sm)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_cut k = N::cuts[S];
    constexpr int each = N::threads / k.wl, tasks = (s.oc / k.wo) * (s.ic / k.wc) * s.kh;
    constexpr int rounds = (tasks * k.wl + 31) / 32 * 32 / k.wl; /* a warp has taps of one kind */
    const fused_seat seat = fused_seat_of<k.wl>();
#pragma unroll 1
    for (int first = 0; first < rounds * k.wt; first += each) {
        const int task = first + seat.task;
        if (k.wt == 1 || task < rounds)
            fused_weights_of<N, S, 0>(sm, task);
        else if (k.wt > 1 && task < 2 * rounds)
            fused_weights_of<N, S, (k.wt > 1 ? 1 : 0)>(sm, task - rounds);
    }
}

/* ... and of the bias: a thread sums a row, and keeps rows apart until the step ends. */
template <class N, int S> __device__ FUSED_INLINE void fused_bias(float *sm)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place out = N::places[S + 1];
    if constexpr (N::cuts[S].b >= 0) {
        for (int e = fused_thread(); e < s.oc * s.oh; e += N::threads) {
            float dy[out.sw * out.ps], sum = 0;
            fused_load(dy, sm + out.grad + e / s.oh * out.cs + e % s.oh * out.hs);
#pragma unroll
            for (int o = 0; o < s.ow; o++) sum += dy[o % out.sw * out.ps + o / out.sw];
            sm[N::cuts[S].rows + e] += sum;
        }
    }
}

template <class N, int S> __device__ FUSED_INLINE void fused_bias_end(float *sm)
{
    constexpr fused_stage s = N::stages[S];
    if constexpr (N::cuts[S].b >= 0) {
        for (int c = fused_thread(); c < s.oc; c += N::threads) {
            float sum = 0;
            for (int h = 0; h < s.oh; h++) {
                sum += sm[N::cuts[S].rows + c * s.oh + h];
                sm[N::cuts[S].rows + c * s.oh + h] = 0;
            }
            sm[N::slots + N::cuts[S].b + c] = sum;
        }
    }
    if constexpr (S + 1 < N::n) fused_bias_end<N, S + 1>(sm);
}

#endif
