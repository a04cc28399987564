/* v2_forward.h: of v2: an image forward. A warp's lanes share rows of a convolution; a pixel of pooling is a thread's.
 */
#ifndef IMPL_CUDA_FUSED_V2_FORWARD_H
#define IMPL_CUDA_FUSED_V2_FORWARD_H

#include "impl_cuda_fused/v2_lanes.h"

/* What stands behind an operation: activation and dropout. */
template <class N, int S>
__device__ FUSED_INLINE float fused_made(const fused_pass &p, const fused_image &im, int c, int h, int w, float y)
{
    constexpr fused_stage s = N::stages[S];
    y = fused_act_of(s.act, s.alpha, y);
    if constexpr (s.rate > 0) {
        const int channel = fused_first<N, S + 1>() + c;
        if (im.train)
            y = fused_keep(p.seeds[S], im.step, fused_drop_index<N, S>(im.n, channel, h, w), s.rate)
                    ? y / (float)(1 - s.rate)
                    : 0.0f;
    }
    return y;
}

/* ... and the way into shared memory. */
template <class N, int S>
__device__ FUSED_INLINE void fused_put(const fused_pass &p, float *sm, const fused_image &im, int c, int h, int w,
                                       float y)
{
    constexpr fused_place out = N::places[S + 1];
    sm[out.at + fused_at(out, c, h, w)] = fused_made<N, S>(p, im, c, h, w, y);
}

template <class N, int S> __device__ FUSED_INLINE void fused_conv(const fused_pass &p, float *sm, const fused_image &im)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place in = N::places[S];
    constexpr fused_cut k = N::cuts[S];
    constexpr int groups = s.oc / k.fc, tasks = groups * s.oh, each = N::threads / k.fl;
    const fused_seat seat = fused_seat_of<k.fl>();
#pragma unroll 1
    for (int first = 0; first < tasks; first += each) {
        const int task = first + seat.task, group = task % groups, oh = task / groups;
        float sum[k.fc * s.ow] = {};
        if (task < tasks) {
            const int h0 = oh * s.sh - s.ph;
            const fused_span rows = fused_inside(h0, s.dh, s.ih, s.kh);
#pragma unroll 1
            for (int q = seat.lane; q < s.ic * rows.count; q += k.fl) {
                const int c = q % s.ic, i = rows.first + q / s.ic;
                float x[in.sw * in.ps], w[k.fc * s.kw];
                fused_load(x, sm + in.at + c * in.cs + (h0 + i * s.dh) * in.hs);
                fused_load(w, sm + k.w + c * k.cs + i * k.is + group * (s.kw * k.fc));
#pragma unroll
                for (int j = 0; j < s.kw; j++)
#pragma unroll
                    for (int o = 0; o < s.ow; o++) {
                        const int at = o * s.sw + j * s.dw - s.pw;
                        if (at < 0 || at >= s.iw) continue;
#pragma unroll
                        for (int f = 0; f < k.fc; f++)
                            sum[o * k.fc + f] += w[j * k.fc + f] * x[at % in.sw * in.ps + at / in.sw];
                    }
            }
        }
        const fused_part part = fused_sum<k.fc, s.ow, k.fl, fused_paired(k.fl), 1>(sum, seat.lane);
        if (task >= tasks) continue;
#pragma unroll
        for (int e = 0; e < fused_split<k.fc, s.ow, k.fl>::left; e++) {
            const int at = fused_split<k.fc, s.ow, k.fl>::rest > 1 ? part.base + e : e;
            if (at >= part.end) continue;
            const int c = group * k.fc + at % k.fc;
            fused_put<N, S>(p, sm, im, c, oh, part.column + at / k.fc, k.b >= 0 ? sum[e] + sm[k.b + c] : sum[e]);
        }
    }
}

__device__ FUSED_INLINE bool fused_beats(float v, float max) { return v > max || (v != v && max == max); }

template <class N, int S> __device__ FUSED_INLINE void fused_pool(const fused_pass &p, float *sm, const fused_image &im)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place in = N::places[S];
    for (int e = fused_thread(); e < fused_owned<N, S + 1>() * s.oh * s.ow; e += N::threads) {
        const int c = e / (s.oh * s.ow), oh = e / s.ow % s.oh, ow = e % s.ow;
        const int h0 = oh * s.sh - s.ph, w0 = ow * s.sw - s.pw;
        const fused_span rows = fused_inside(h0, s.dh, s.ih, s.kh), cols = fused_inside(w0, s.dw, s.iw, s.kw);
        float y = 0;
        for (int i = 0; i < rows.count; i++)
            for (int j = 0; j < cols.count; j++) {
                const float v = sm[in.at + fused_at(in, c, h0 + (rows.first + i) * s.dh, w0 + (cols.first + j) * s.dw)];
                if (s.op != FUSED_MAX)
                    y += v;
                else if ((i == 0 && j == 0) || fused_beats(v, y))
                    y = v;
            }
        if (s.op != FUSED_MAX) y /= (float)(s.op == FUSED_AVG_PAD ? s.kh * s.kw : rows.count * cols.count);
        fused_put<N, S>(p, sm, im, c, oh, ow, y);
    }
}

template <class N, int S>
__device__ FUSED_INLINE void fused_forward(const fused_pass &p, float *sm, const fused_image &im)
{
    if constexpr (N::stages[S].op == FUSED_CONV)
        fused_conv<N, S>(p, sm, im);
    else
        fused_pool<N, S>(p, sm, im);
    __syncthreads();
    if constexpr (S + 1 < N::n) fused_forward<N, S + 1>(p, sm, im);
}

#endif
