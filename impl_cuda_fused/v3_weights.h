/* v3_weights.h: of v3: the gradients of weights, in registers over all images of a step; those that do not fit there,
 * and those of biases, in shared memory. */
#ifndef IMPL_CUDA_FUSED_V3_WEIGHTS_H
#define IMPL_CUDA_FUSED_V3_WEIGHTS_H

#include "impl_cuda_fused/v3_forward.h"

/* What a thread keeps of stages S and on: of its one task's sums, tap * (wo*wc) + output * wc + input. */
template <class N, int S, bool END = S == N::n> struct fused_kept {
    static constexpr fused_tile k = N::tiles[S];
    static constexpr bool real = N::stages[S].op == FUSED_CONV && k.grads < 0;
    static constexpr int each = k.wo * k.wc, taps = N::stages[S].kw / k.wt;
    float sum[real ? each * taps : 1];
    fused_kept<N, S + 1> next;

    __device__ FUSED_INLINE void clear()
    {
#pragma unroll
        for (int e = 0; e < (real ? each * taps : 1); e++) sum[e] = 0;
        next.clear();
    }
};
template <class N, int S> struct fused_kept<N, S, true> {
    __device__ FUSED_INLINE void clear() {}
};

/* Tasks of one kind of taps; rounded up, since a warp has one kind. */
template <class N, int S> __host__ __device__ constexpr int fused_weight_tasks()
{
    constexpr fused_tile k = N::tiles[S];
    return fused_outs<N, S>() / k.wo * (fused_owned<N, S>() / k.wc) * N::stages[S].kh;
}
template <class N, int S> __host__ __device__ constexpr int fused_weight_rounds()
{
    return (fused_weight_tasks<N, S>() * N::tiles[S].wl + 31) / 32 * 32 / N::tiles[S].wl;
}

/* Lanes of a task stand apart in the warp, so that tasks are neighbours: by twos in outputs and in inputs, where both
 * are even. Then a lane reads the same values as the lane beside it, and the same gradients as the one beyond, or the
 * other way round: of 16 bytes a lane, shared memory serves either in half the time. */
template <class N, int S> __device__ FUSED_INLINE fused_seat fused_weight_seat()
{
    constexpr int lanes = N::tiles[S].wl, beside = 32 / lanes;
    const int t = fused_thread();
    return {t / 32 * beside + t % beside, t / beside % lanes};
}

struct fused_weight_task_of {
    int f, c, i; /* its first output and input, by tiles; the kernel's row */
};

/* Whether each lane of a task has one row of outputs at most, and two tasks beside each other are of two rows of the
 * kernel: then their lanes have the same row, and read the same gradients, which are most of what they read. */
template <class N, int S> __host__ __device__ constexpr bool fused_weight_rows()
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place in = N::places[S], out = N::places[S + 1];
    constexpr fused_tile k = N::tiles[S];
    constexpr bool twos = fused_outs<N, S>() / k.wo % 2 == 0 && fused_owned<N, S>() / k.wc % 2 == 0;
    return !twos && s.oh <= k.wl && k.wl < 32 && s.kh % 2 == 0 && k.wo * out.sw * out.ps > k.wc * in.sw * in.ps;
}

template <class N, int S> __host__ __device__ constexpr fused_weight_task_of fused_weight_task(int task)
{
    constexpr int outs = fused_outs<N, S>() / N::tiles[S].wo, ins = fused_owned<N, S>() / N::tiles[S].wc;
    if constexpr (fused_weight_rows<N, S>()) {
        const int two = task / 2;
        return {two % outs, two / outs % ins, two / outs / ins * 2 + task % 2};
    } else if constexpr (outs % 2 != 0 || ins % 2 != 0) {
        return {task % outs, task / outs % ins, task / outs / ins};
    } else {
        const int four = task / 4, f = four % (outs / 2), c = four / (outs / 2) % (ins / 2);
        return {2 * f + task % 2, 2 * c + task / 2 % 2, task / (outs * ins)};
    }
}

/* Taps G, G + wt, ... of a kernel's row. Where they all read one plane of the value's row, only that is loaded. */
template <class N, int S, int G, int SIZE>
__device__ FUSED_INLINE void fused_add_taps(const float *sm, int task, int lane, float (&sum)[SIZE])
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place in = N::places[S], out = N::places[S + 1];
    constexpr fused_tile k = N::tiles[S];
    constexpr int each = k.wo * k.wc;
    constexpr bool one = k.wt * s.dw % in.sw == 0;
    constexpr int plane = one ? (((G * s.dw - s.pw) % in.sw) + in.sw) % in.sw : 0;
    const fused_weight_task_of mine = fused_weight_task<N, S>(task);
    const int f0 = mine.f * k.wo, c0 = mine.c * k.wc, i = mine.i;
    const fused_span rows = fused_inside(i * s.dh - s.ph, s.sh, s.ih, s.oh);
    if (fused_weight_rows<N, S>()) lane -= rows.first; /* its row of outputs, then, is `lane` */
    if (fused_weight_rows<N, S>() && lane < 0) return;
#pragma unroll 1
    for (int q = lane; q < rows.count; q += k.wl) {
        const int oh = rows.first + q;
        float dy[k.wo][out.sw * out.ps];
#pragma unroll
        for (int f = 0; f < k.wo; f++) fused_load(dy[f], sm + out.grad + (f0 + f) * out.cs + oh * out.hs);
#pragma unroll
        for (int c = 0; c < k.wc; c++) {
            float x[(one ? 1 : in.sw) * in.ps];
            fused_load(x, sm + in.at + (c0 + c) * in.cs + (oh * s.sh + i * s.dh - s.ph) * in.hs + plane * in.ps);
#pragma unroll
            for (int f = 0; f < k.wo; f++)
#pragma unroll
                for (int t = 0; t < s.kw / k.wt; t++)
#pragma unroll
                    for (int o = 0; o < s.ow; o++) {
                        const int at = o * s.sw + (G + t * k.wt) * s.dw - s.pw;
                        if (at < 0 || at >= s.iw) continue;
                        sum[t * each + f * k.wc + c] +=
                            dy[f][fused_pos(out, o)] * x[(at % in.sw - plane) * in.ps + at / in.sw];
                    }
        }
    }
}

template <class N, int S, int G, int SIZE>
__device__ FUSED_INLINE void fused_add_kind(const float *sm, int task, int lane, float (&sum)[SIZE])
{
    constexpr int rounds = fused_weight_rounds<N, S>();
    if (G + 1 == N::tiles[S].wt || task < rounds) {
        if (task < fused_weight_tasks<N, S>()) fused_add_taps<N, S, G>(sm, task, lane, sum);
    } else if constexpr (G + 1 < N::tiles[S].wt)
        fused_add_kind<N, S, G + 1>(sm, task - rounds, lane, sum);
}

/* Where gradients stand in shared memory: a task's sums are added there. */
template <class N, int S> __device__ FUSED_INLINE void fused_weights_there(float *sm)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_tile k = N::tiles[S];
    constexpr int each = k.wo * k.wc;
    const fused_seat seat = fused_weight_seat<N, S>();
    typedef fused_split<each, s.kw, k.wl> split;
#pragma unroll 1
    for (int first = 0; first < fused_weight_tasks<N, S>(); first += N::threads / k.wl) {
        const int task = first + seat.task;
        const fused_weight_task_of mine = fused_weight_task<N, S>(task);
        const int f0 = mine.f * k.wo, c0 = mine.c * k.wc, i = mine.i;
        float sum[each * s.kw] = {};
        fused_add_kind<N, S, 0>(sm, task, seat.lane, sum);
        const fused_part part = fused_sum<each, s.kw, k.wl, 32 / k.wl, 1>(sum, seat.lane);
        if (task >= fused_weight_tasks<N, S>()) continue;
        float *to = sm + k.grads + c0 * k.cs + i * k.is + f0 / k.fc * (s.kw * k.fc) + f0 % k.fc;
#pragma unroll
        for (int e = 0; e < split::left; e++) {
            const int at = split::rest > 1 ? part.base + e : e, j = part.column + at / each;
            if (at < part.end) to[at % each % k.wc * k.cs + j * k.fc + at % each / k.wc] += sum[e];
        }
    }
}

/* Adds the image's gradient of the weights of stage S = FROM + ... to what the block has. */
template <class N, int S, int FROM>
__device__ FUSED_INLINE void fused_weights_of_image(float *sm, fused_kept<N, FROM> &kept)
{
    if constexpr (FROM < S)
        fused_weights_of_image<N, S, FROM + 1>(sm, kept.next);
    else if constexpr (fused_kept<N, S>::real) {
        const fused_seat seat = fused_weight_seat<N, S>();
        fused_add_kind<N, S, 0>(sm, seat.task, seat.lane, kept.sum);
    } else
        fused_weights_there<N, S>(sm);
}

/* ... and of the biases of its channels: a thread sums a row, and keeps rows apart until the step ends. */
template <class N, int S> __device__ FUSED_INLINE void fused_biases(float *sm)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place out = N::places[S + 1];
    constexpr bool all = fused_gathered<N, S + 1>();
    if constexpr (N::tiles[S].b >= 0) {
#pragma unroll 1
        for (int e = fused_thread(); e < fused_owned<N, S + 1>() * s.oh; e += N::threads) {
            const int c = (all ? fused_first<N, S + 1>() : 0) + e / s.oh;
            float dy[out.sw * out.ps], sum = 0;
            fused_load(dy, sm + out.grad + c * out.cs + e % s.oh * out.hs);
#pragma unroll
            for (int o = 0; o < s.ow; o++) sum += dy[fused_pos(out, o)];
            sm[N::tiles[S].rows + e] += sum;
        }
    }
}

/* ---- The step's end: the gradients of stages S and on go to `part`, the block's slots. */

template <class N, int S> __device__ FUSED_INLINE void fused_leave_there(float *sm, float *part)
{
    constexpr fused_tile k = N::tiles[S];
    for (int e = fused_thread(); e < fused_owned<N, S>() * k.cs; e += N::threads) {
        __stcg(part + k.slot + e, sm[k.grads + e]);
        sm[k.grads + e] = 0;
    }
}

template <class N, int S> __device__ FUSED_INLINE void fused_leave(float *sm, fused_kept<N, S> &kept, float *part)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_tile k = N::tiles[S];
    if constexpr (fused_kept<N, S>::real) {
        typedef fused_split<fused_kept<N, S>::each, fused_kept<N, S>::taps, k.wl> split;
        constexpr int active = fused_weight_rounds<N, S>() * k.wl * k.wt;
        const fused_seat seat = fused_weight_seat<N, S>();
        const fused_part mine =
            fused_sum<fused_kept<N, S>::each, fused_kept<N, S>::taps, k.wl, 32 / k.wl, 1>(kept.sum, seat.lane);
#pragma unroll
        for (int e = 0; e < split::left; e++)
            if ((split::rest > 1 ? mine.base + e : e) < mine.end && fused_thread() < active)
                __stcg(part + k.slot + e * active + fused_thread(), kept.sum[e]);
    } else if constexpr (s.op == FUSED_CONV)
        fused_leave_there<N, S>(sm, part);
    if constexpr (k.b >= 0) {
        for (int c = fused_thread(); c < fused_owned<N, S + 1>(); c += N::threads) {
            float sum = 0;
            for (int h = 0; h < s.oh; h++) {
                sum += sm[k.rows + c * s.oh + h];
                sm[k.rows + c * s.oh + h] = 0;
            }
            __stcg(part + k.bslot + c, sum);
        }
    }
    if constexpr (S + 1 < N::n) fused_leave<N, S + 1>(sm, kept.next, part);
}

#endif
