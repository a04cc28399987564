/* v2_data.h: of v2: the gradient of a value. It takes the value's place, or stands beside it (fused_place). */
#ifndef IMPL_CUDA_FUSED_V2_DATA_H
#define IMPL_CUDA_FUSED_V2_DATA_H

#include "impl_cuda_fused/v2_forward.h"

/* The gradient of element (c, h, w) of value S, which is y, through the dropout and the activation of the stage before.
 */
template <class N, int S>
__device__ FUSED_INLINE float fused_passed(const fused_pass &p, const fused_image &im, int c, int h, int w, float y,
                                           float d)
{
    constexpr fused_stage s = N::stages[S - 1];
    if constexpr (s.rate > 0) {
        constexpr float keep = (float)(1 - s.rate);
        const int channel = fused_first<N, S>() + c;
        d = fused_keep(p.seeds[S - 1], im.step, fused_drop_index<N, S - 1>(im.n, channel, h, w), s.rate) ? d / keep
                                                                                                         : 0.0f;
        y *= keep;
    }
    return fused_act_back(s.act, s.alpha, d, y);
}

/* ... to where the gradient stands: in this block, or in all of the cluster. */
template <class N, int S>
__device__ FUSED_INLINE void fused_put_back(const fused_pass &p, float *sm, const fused_image &im, int c, int h, int w,
                                            float y, float d)
{
    constexpr fused_place in = N::places[S];
    const int at = fused_at(in, c, h, w);
    const float passed = fused_passed<N, S>(p, im, c, h, w, y, d);
    if constexpr (fused_gathered<N, S>()) {
#pragma unroll
        for (int rank = 0; rank < N::cluster; rank++)
            fused_push(sm + in.grad + fused_first<N, S>() * in.cs + at, rank, passed, fused_box_of_value<N, S>(sm));
    } else
        sm[in.grad + at] = passed;
}

template <class N, int S>
__device__ FUSED_INLINE void fused_conv_back(const fused_pass &p, float *sm, const fused_image &im)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place in = N::places[S], out = N::places[S + 1];
    constexpr fused_cut k = N::cuts[S];
    constexpr int groups = s.ic / k.dc, tasks = groups * s.ih, each = N::threads / k.dl;
    constexpr int apart = s.sh / fused_gcd(s.sh, s.dh); /* between two rows of the kernel that meet the same row */
    const fused_seat seat = fused_seat_of<k.dl>();
#pragma unroll 1
    for (int first = 0; first < tasks; first += each) {
        const int task = first + seat.task, group = task % groups, h = task / groups;
        float sum[k.dc * s.iw] = {};
        if (task < tasks) {
            int least = 0, count = 0;
#pragma unroll
            for (int i = s.kh - 1; i >= 0; i--) {
                const int row = h + s.ph - i * s.dh;
                if (row < 0 || row % s.sh != 0 || row / s.sh >= s.oh) continue;
                least = i;
                count++;
            }
#pragma unroll 1
            for (int q = seat.lane; q < s.oc * count; q += k.dl) {
                const int f = q % s.oc, i = least + q / s.oc * apart;
                float dy[out.sw * out.ps], w[k.dc * s.kw];
                fused_load(dy, sm + out.grad + f * out.cs + (h + s.ph - i * s.dh) / s.sh * out.hs);
                const float *from = sm + k.w + group * k.dc * k.cs + i * k.is + f / k.fc * (s.kw * k.fc) + f % k.fc;
#pragma unroll
                for (int c = 0; c < k.dc; c++)
#pragma unroll
                    for (int j = 0; j < s.kw; j++) w[j * k.dc + c] = from[c * k.cs + j * k.fc];
#pragma unroll
                for (int j = 0; j < s.kw; j++)
#pragma unroll
                    for (int o = 0; o < s.ow; o++) {
                        const int at = o * s.sw + j * s.dw - s.pw;
                        if (at < 0 || at >= s.iw) continue;
#pragma unroll
                        for (int c = 0; c < k.dc; c++)
                            sum[at * k.dc + c] += w[j * k.dc + c] * dy[o % out.sw * out.ps + o / out.sw];
                    }
            }
        }
        const fused_part part = fused_sum<k.dc, s.iw, k.dl, fused_paired(k.dl), 1>(sum, seat.lane);
        if (task >= tasks) continue;
#pragma unroll
        for (int e = 0; e < fused_split<k.dc, s.iw, k.dl>::left; e++) {
            const int at = fused_split<k.dc, s.iw, k.dl>::rest > 1 ? part.base + e : e;
            if (at >= part.end) continue;
            const int c = group * k.dc + at % k.dc, w = part.column + at / k.dc;
            fused_put_back<N, S>(p, sm, im, c, h, w, sm[in.at + fused_at(in, c, h, w)], sum[e]);
        }
    }
}

/* What the window at (oh, ow) gives to the pixel (h, w): for the maximum, all or nothing. */
template <class N, int S>
__device__ FUSED_INLINE float fused_share(const float *sm, int c, int h, int w, int oh, int ow)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place in = N::places[S], out = N::places[S + 1];
    const int h0 = oh * s.sh - s.ph, w0 = ow * s.sw - s.pw;
    const fused_span rows = fused_inside(h0, s.dh, s.ih, s.kh), cols = fused_inside(w0, s.dw, s.iw, s.kw);
    const float dy = sm[out.grad + fused_at(out, c, oh, ow)];
    if (s.op != FUSED_MAX) return dy / (float)(s.op == FUSED_AVG_PAD ? s.kh * s.kw : rows.count * cols.count);
    float max = 0;
    bool mine = false;
    for (int i = 0; i < rows.count; i++)
        for (int j = 0; j < cols.count; j++) {
            const int r = h0 + (rows.first + i) * s.dh, q = w0 + (cols.first + j) * s.dw;
            const float v = sm[in.at + fused_at(in, c, r, q)];
            if ((i > 0 || j > 0) && !fused_beats(v, max)) continue;
            max = v;
            mine = r == h && q == w;
        }
    return mine ? dy : 0.0f;
}

template <class N, int S>
__device__ FUSED_INLINE void fused_pool_back(const fused_pass &p, float *sm, const fused_image &im)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place in = N::places[S];
    for (int e = fused_thread(); e < fused_owned<N, S>() * s.ih * s.iw; e += N::threads) {
        const int c = e / (s.ih * s.iw), h = e / s.iw % s.ih, w = e % s.iw;
        float d = 0;
        for (int i = 0; i < s.kh; i++) {
            const int row = h + s.ph - i * s.dh;
            if (row < 0 || row % s.sh != 0 || row / s.sh >= s.oh) continue;
            for (int j = 0; j < s.kw; j++) {
                const int col = w + s.pw - j * s.dw;
                if (col < 0 || col % s.sw != 0 || col / s.sw >= s.ow) continue;
                d += fused_share<N, S>(sm, c, h, w, row / s.sh, col / s.sw);
            }
        }
        fused_put_back<N, S>(p, sm, im, c, h, w, sm[in.at + fused_at(in, c, h, w)], d);
    }
}

#endif
