/* v3_forward.h: of v3: an image forward. As v2_forward.h, but that a row's sums stand in the order in which the row
 * does: so what a lane gets of them are neighbours there; and that the owner of a channel adds up what the blocks send.
 */
#ifndef IMPL_CUDA_FUSED_V3_FORWARD_H
#define IMPL_CUDA_FUSED_V3_FORWARD_H

#include "impl_cuda_fused/v3_pieces.h"
#include "impl_cuda_fused/v3_walk.h"

enum { FUSED_OPERANDS = 40 }; /* floats that are on their way to registers at once */

/* Whether a stage's kernel is as large as its image, as FC's is: v3_data.h has its way back. */
template <class N, int S> __host__ __device__ constexpr bool fused_full()
{
    constexpr fused_stage s = N::stages[S];
    return S > 0 && s.op == FUSED_CONV && s.oh * s.ow == 1 && s.kh == s.ih && s.kw == s.iw && s.ph == 0 && s.pw == 0 &&
           s.dh == 1 && s.dw == 1;
}

/* The sum of channel c at row h, position pos: to the channel's owner; the scores to all. */
template <class N, int S> __device__ FUSED_INLINE void fused_send_part(float *sm, int c, int h, int pos, float sum)
{
    constexpr fused_place out = N::places[S + 1];
    constexpr int own = fused_owned<N, S + 1>();
    const int owner = c / own;
    float *to = sm + N::tiles[S].box + (fused_rank<N>() * own + c - owner * own) * out.cs + h * out.hs + pos;
    if constexpr (S + 1 < N::n) {
        fused_push(to, owner, sum, fused_box_of_stage<N, S>(sm));
    } else {
#pragma unroll
        for (int rank = 0; rank < N::cluster; rank++) fused_push(to, rank, sum, fused_box_of_stage<N, S>(sm));
    }
}

/* The owner's side. */
template <class N, int S>
__device__ FUSED_INLINE void fused_collect(const fused_pass &p, float *sm, const fused_image &im)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place out = N::places[S + 1];
    constexpr fused_tile k = N::tiles[S];
    constexpr int own = fused_owned<N, S + 1>();
    fused_receive(fused_box_of_stage<N, S>(sm), im.phase);
#pragma unroll 1
    for (int e = fused_thread(); e < own * s.oh * s.ow; e += N::threads) {
        const int c = e / (s.oh * s.ow), h = e / s.ow % s.oh, w = e % s.ow, at = fused_at(out, c, h, w);
        float y = k.b >= 0 ? sm[k.b + c] : 0.0f;
#pragma unroll
        for (int rank = 0; rank < N::cluster; rank++) y += sm[k.box + rank * own * out.cs + at];
        sm[out.at + at] = fused_made<N, S>(p, im, c, h, w, y);
    }
}

/* Columns [pos, pos + COLUMNS) of F channels at a time, all of them real. */
template <class N, int S, int F, int COLUMNS, int SIZE>
__device__ FUSED_INLINE void fused_put_columns(float *sm, int c0, int h, int pos, const float (&sum)[SIZE])
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place out = N::places[S + 1];
    constexpr fused_tile k = N::tiles[S];
    float bias[F];
#pragma unroll
    for (int f = 0; f < F; f++) bias[f] = k.b >= 0 ? sm[k.b + c0 + f] : 0.0f;
#pragma unroll
    for (int f = 0; f < F; f++) {
        float y[COLUMNS];
#pragma unroll
        for (int o = 0; o < COLUMNS; o++) y[o] = fused_act_of(s.act, s.alpha, sum[o * F + f] + bias[f]);
        fused_store(sm + out.at + (c0 + f) * out.cs + h * out.hs + pos, y);
    }
}

template <class N, int S, int SIZE>
__device__ FUSED_INLINE void fused_put_sums(const fused_pass &p, float *sm, const fused_image &im, int group, int h,
                                            const fused_part &part, const float (&sum)[SIZE])
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place out = N::places[S + 1];
    constexpr fused_tile k = N::tiles[S];
    typedef fused_split<k.fc, out.sw * out.ps, k.fl> split;
    if constexpr (split::rest == 1 && out.sw * out.ps == s.ow && s.rate == 0 && !fused_partial<N, S>()) {
        fused_put_columns<N, S, k.fc, split::columns>(sm, group * k.fc, h, part.column, sum);
        return;
    }
    float bias[split::left] = {}; /* before the first store: a load behind it would wait for it */
#pragma unroll
    for (int e = 0; e < split::left && k.b >= 0 && !fused_partial<N, S>(); e++) {
        const int at = split::rest > 1 ? part.base + e : e;
        if (at < part.end) bias[e] = sm[k.b + group * k.fc + at % k.fc];
    }
#pragma unroll
    for (int e = 0; e < split::left; e++) {
        const int at = split::rest > 1 ? part.base + e : e, pos = part.column + at / k.fc, w = fused_column(out, pos);
        const int c = group * k.fc + at % k.fc;
        if (at >= part.end || w >= s.ow) continue;
        if constexpr (fused_partial<N, S>())
            fused_send_part<N, S>(sm, c, h, pos, sum[e]);
        else
            fused_put<N, S>(p, sm, im, c, h, w, sum[e] + bias[e]);
    }
}

/* The least and the most steps of a task: its channels, and the rows of the kernel that meet no padding. */
template <class N, int S> __host__ __device__ constexpr fused_span fused_steps_of_rows()
{
    constexpr fused_stage s = N::stages[S];
    int least = s.kh, most = 0;
    for (int oh = 0; oh < s.oh; oh++) {
        int rows = 0;
        for (int i = 0; i < s.kh; i++) {
            const int at = oh * s.sh - s.ph + i * s.dh;
            rows += at >= 0 && at < s.ih;
        }
        least = rows < least ? rows : least;
        most = rows > most ? rows : most;
    }
    return {least * fused_owned<N, S>(), most * fused_owned<N, S>()};
}

/* One step: what row i of the kernel adds, of one channel. */
template <class N, int S, int SIZE>
__device__ FUSED_INLINE void fused_add_row(const float *value, const float *weights, float (&sum)[SIZE])
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place in = N::places[S], out = N::places[S + 1];
    constexpr fused_tile k = N::tiles[S];
    float x[in.sw * in.ps], w[k.fc * s.kw];
    fused_load(x, value);
    fused_load(w, weights);
#pragma unroll
    for (int j = 0; j < s.kw; j++)
#pragma unroll
        for (int o = 0; o < s.ow; o++) {
            const int at = o * s.sw + j * s.dw - s.pw;
            if (at < 0 || at >= s.iw) continue;
#pragma unroll
            for (int f = 0; f < k.fc; f++) sum[fused_pos(out, o) * k.fc + f] += w[j * k.fc + f] * x[fused_pos(in, at)];
        }
}

/* All steps of a lane. */
template <class N, int S, int SIZE>
__device__ FUSED_INLINE void fused_add_rows(const float *sm, int group, int oh, int lane, float (&sum)[SIZE])
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place in = N::places[S];
    constexpr fused_tile k = N::tiles[S];
    constexpr int ins = fused_owned<N, S>();
    constexpr fused_span steps = fused_steps_of_rows<N, S>();
    const int h0 = oh * s.sh - s.ph, c = lane % ins;
    const fused_span rows = fused_inside(h0, s.dh, s.ih, s.kh);
    const int i = rows.first + lane / ins;
    fused_walk<ins, k.fl, in.cs, s.dh * in.hs, k.cs, k.is> walk = {
        c, sm + in.at + c * in.cs + (h0 + i * s.dh) * in.hs, sm + k.w + c * k.cs + i * k.is + group * (s.kw * k.fc)};
    if constexpr (steps.first == steps.count && steps.first % k.fl == 0) { /* all lanes have as many: loads together */
        constexpr int each = steps.first / k.fl, room = FUSED_OPERANDS / (in.sw * in.ps + k.fc * s.kw);
        [[maybe_unused]] constexpr int together = room < 1 ? 1 : room < each ? room : each;
#pragma unroll together
        for (int n = 0; n < each; n++, walk.go_on()) fused_add_row<N, S>(walk.a, walk.b, sum);
    } else {
        int left = ins * rows.count - lane;
#pragma unroll 1
        for (bool more = steps.first >= k.fl || left > 0; more; more = left > 0) {
            const float *value = walk.a, *weights = walk.b;
            left -= k.fl;
            walk.go_on();
            fused_add_row<N, S>(value, weights, sum);
        }
    }
}

template <class N, int S>
__device__ FUSED_INLINE void fused_conv_forward(const fused_pass &p, float *sm, const fused_image &im)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place out = N::places[S + 1];
    constexpr fused_tile k = N::tiles[S];
    constexpr int width = out.sw * out.ps;
    constexpr int groups = fused_outs<N, S>() / k.fc, tasks = groups * s.oh, each = N::threads / k.fl;
    constexpr bool whole = tasks % each == 0; /* no thread is without a task */
    const fused_seat seat = fused_seat_of<k.fl>();
#pragma unroll 1
    for (int first = 0; first < tasks; first += each) {
        const int task = first + seat.task, group = task % groups, oh = task / groups;
        float sum[k.fc * width] = {};
        if (whole || task < tasks) fused_add_rows<N, S>(sm, group, oh, seat.lane, sum);
        const fused_part part = fused_sum<k.fc, width, k.fl, fused_paired(k.fl), 1>(sum, seat.lane);
        if (whole || task < tasks) fused_put_sums<N, S>(p, sm, im, group, oh, part, sum);
    }
    if constexpr (fused_partial<N, S>()) fused_collect<N, S>(p, sm, im);
}

/* All stages. Weights come in three groups: with the image those of stage 0, then the others, then those for the way
 * back; the next image comes behind them. */
template <class N, int S>
__device__ FUSED_INLINE void fused_ahead(const fused_pass &p, float *sm, const fused_image &im)
{
    if constexpr (S == 0 && N::tiles[S].piece > 0)
        fused_pieces<N>(p, sm, im);
    else if constexpr (N::stages[S].op == FUSED_CONV)
        fused_conv_forward<N, S>(p, sm, im);
    else
        fused_pool<N, S>(p, sm, im);
    if constexpr (S == 0) fused_arrived<2>();
    if constexpr (S + 1 == N::n) fused_arrived<1>();
    fused_lap_of<N, S>(p, sm, FUSED_LAP_FORWARD);
    __syncthreads();
    fused_lap_of<N, S>(p, sm, FUSED_LAP_MEET);
    if constexpr (S + 1 < N::n) fused_ahead<N, S + 1>(p, sm, im);
}

#endif
