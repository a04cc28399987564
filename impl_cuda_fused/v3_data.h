/* v3_data.h: of v3: the gradient of a value, from weights that stand in the order of this sum; of FC, with that of its
 * weights. */
#ifndef IMPL_CUDA_FUSED_V3_DATA_H
#define IMPL_CUDA_FUSED_V3_DATA_H

#include "impl_cuda_fused/v2_data.h"
#include "impl_cuda_fused/v3_forward.h"

/* Columns [pos, pos + COLUMNS) of C channels at a time, all of them real. */
template <class N, int S, int C, int COLUMNS, int SIZE>
__device__ FUSED_INLINE void fused_back_columns(float *sm, int c0, int h, int pos, const float (&sum)[SIZE])
{
    constexpr fused_stage s = N::stages[S - 1];
    constexpr fused_place in = N::places[S];
    float y[C][COLUMNS]; /* all of them before the first store: a load behind it would wait for it */
#pragma unroll
    for (int c = 0; c < C; c++) fused_load(y[c], sm + in.at + (c0 + c) * in.cs + h * in.hs + pos);
#pragma unroll
    for (int c = 0; c < C; c++) {
#pragma unroll
        for (int w = 0; w < COLUMNS; w++) y[c][w] = fused_act_back(s.act, s.alpha, sum[w * C + c], y[c][w]);
        fused_store(sm + in.grad + (c0 + c) * in.cs + h * in.hs + pos, y[c]);
    }
}

template <class N, int S, int SIZE>
__device__ FUSED_INLINE void fused_back_sums(const fused_pass &p, float *sm, const fused_image &im, int group, int h,
                                             const fused_part &part, const float (&sum)[SIZE])
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place in = N::places[S];
    constexpr fused_tile k = N::tiles[S];
    typedef fused_split<k.dc, in.sw * in.ps, k.dl> split;
    constexpr bool plain = N::stages[S - 1].rate == 0 && !fused_gathered<N, S>();
    if constexpr (split::rest == 1 && in.sw * in.ps == s.iw && plain) {
        fused_back_columns<N, S, k.dc, split::columns>(sm, group * k.dc, h, part.column, sum);
        return;
    }
    float y[split::left];
#pragma unroll
    for (int e = 0; e < split::left; e++) {
        const int at = split::rest > 1 ? part.base + e : e, w = fused_column(in, part.column + at / k.dc);
        const bool there = at < part.end && w < s.iw;
        y[e] = there ? sm[in.at + fused_at(in, group * k.dc + at % k.dc, h, w)] : 0.0f;
    }
#pragma unroll
    for (int e = 0; e < split::left; e++) {
        const int at = split::rest > 1 ? part.base + e : e, w = fused_column(in, part.column + at / k.dc);
        if (at < part.end && w < s.iw) fused_put_back<N, S>(p, sm, im, group * k.dc + at % k.dc, h, w, y[e], sum[e]);
    }
}

/* The rows of a kernel that meet row h of a value: first, first + apart, ...; `apart` is sh / gcd(sh, dh). */
template <class N, int S> __host__ __device__ constexpr fused_span fused_meeting(int h)
{
    constexpr fused_stage s = N::stages[S];
    fused_span rows = {0, 0};
#pragma unroll
    for (int i = s.kh - 1; i >= 0; i--) {
        const int row = h + s.ph - i * s.dh;
        if (row < 0 || row % s.sh != 0 || row / s.sh >= s.oh) continue;
        rows.first = i;
        rows.count++;
    }
    return rows;
}

template <class N, int S> __host__ __device__ constexpr int fused_least_back()
{
    constexpr fused_stage s = N::stages[S];
    int least = s.kh;
    for (int h = 0; h < s.ih; h++) least = fused_meeting<N, S>(h).count < least ? fused_meeting<N, S>(h).count : least;
    return least * s.oc;
}

/* As fused_add_rows of v3_forward.h: all steps of a lane, over outputs and rows of the kernel. */
template <class N, int S, int SIZE>
__device__ FUSED_INLINE void fused_add_back(const float *sm, int group, int h, int lane, float (&sum)[SIZE])
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place in = N::places[S], out = N::places[S + 1];
    constexpr fused_tile k = N::tiles[S];
    constexpr int apart = s.sh / fused_gcd(s.sh, s.dh); /* between two rows of the kernel that meet the same row */
    const fused_span rows = fused_meeting<N, S>(h);
    const int f = lane % s.oc, i = rows.first + lane / s.oc * apart;
    fused_walk<s.oc, k.dl, out.cs, -(apart * s.dh / s.sh) * out.hs, k.fs, apart *k.bs> walk = {
        f, sm + out.grad + f * out.cs + (h + s.ph - i * s.dh) / s.sh * out.hs,
        sm + k.wb + f * k.fs + i * k.bs + group * (s.kw * k.dc)};
    int left = s.oc * rows.count - lane;
#pragma unroll 1
    for (bool more = fused_least_back<N, S>() >= k.dl || left > 0; more; more = left > 0) {
        float dy[out.sw * out.ps], w[k.dc * s.kw];
        fused_load(dy, walk.a);
        fused_load(w, walk.b);
        left -= k.dl;
        walk.go_on();
#pragma unroll
        for (int j = 0; j < s.kw; j++)
#pragma unroll
            for (int o = 0; o < s.ow; o++) {
                const int at = o * s.sw + j * s.dw - s.pw;
                if (at < 0 || at >= s.iw) continue;
#pragma unroll
                for (int c = 0; c < k.dc; c++)
                    sum[fused_pos(in, at) * k.dc + c] += w[j * k.dc + c] * dy[fused_pos(out, o)];
            }
    }
}

/* Which task is whose: of four lanes beside each other two have neighbouring groups of channels, and read the same
 * gradients; two have rows of a value that meet the same rows of the kernel, and read the same weights: of 16 bytes a
 * lane, shared memory serves either in half the time. spread.c knows it, too. */
template <class N, int S> struct fused_back_tasks {
    static constexpr fused_stage s = N::stages[S];
    static constexpr int groups = fused_owned<N, S>() / N::tiles[S].dc, lanes = N::tiles[S].dl;
    static constexpr int pair = groups % 2 == 0 && lanes < 32 ? 2 : 1;
    static constexpr int rows = s.ih % (2 * s.sh) == 0 && 2 * pair * lanes <= 32 ? 2 : 1, beside = pair * rows;
    static constexpr int count = groups * s.ih;

    __host__ __device__ static constexpr int group(int task)
    {
        return task / beside % (groups / pair) * pair + task % pair;
    }
    __host__ __device__ static constexpr int row(int task)
    {
        const int rest = task / beside / (groups / pair);
        return rows == 1 ? rest : rest / s.sh * (2 * s.sh) + rest % s.sh + task / pair % rows * s.sh;
    }
};

template <class N, int S> __device__ FUSED_INLINE void fused_data(const fused_pass &p, float *sm, const fused_image &im)
{
    constexpr fused_place in = N::places[S];
    constexpr fused_tile k = N::tiles[S];
    typedef fused_back_tasks<N, S> tasks;
    constexpr int width = in.sw * in.ps, each = N::threads / k.dl;
    constexpr bool whole = tasks::count % each == 0; /* no thread is without a task */
    const fused_seat seat = fused_seat_of<k.dl, tasks::beside>();
#pragma unroll 1
    for (int first = 0; first < tasks::count; first += each) {
        const int task = first + seat.task, group = tasks::group(task), h = tasks::row(task);
        float sum[k.dc * width] = {};
        if (whole || task < tasks::count) fused_add_back<N, S>(sm, group, h, seat.lane, sum);
        const fused_part part = fused_sum<k.dc, width, k.dl, tasks::beside, 1>(sum, seat.lane);
        if constexpr (in.at == in.grad)
            if (first == 0) __syncthreads(); /* the value has been read */
        if (whole || task < tasks::count) fused_back_sums<N, S>(p, sm, im, group, h, part, sum);
    }
}

/* A kernel as large as its image: the gradients of an input and of its weights at once, a thread an input, or two of
 * them side by side. */
template <class N, int S>
__device__ FUSED_INLINE void fused_full_back(const fused_pass &p, float *sm, const fused_image &im)
{
    constexpr fused_stage s = N::stages[S];
    constexpr fused_place in = N::places[S], out = N::places[S + 1];
    constexpr fused_tile k = N::tiles[S];
    constexpr int by = s.oc % 10 == 0 ? 10 : s.oc % 4 == 0 ? 4 : 1; /* so many outputs' operands in registers */
    constexpr int inputs = fused_owned<N, S>() * s.ih * s.iw, beside = inputs > N::threads ? 2 : 1;
#pragma unroll 1
    for (int e = fused_thread(); e < inputs; e += beside * N::threads) {
        float x[beside], d[beside];
        int c[beside], h[beside], w[beside], first[beside];
#pragma unroll
        for (int u = 0; u < beside; u++) {
            const int input = e + u * N::threads;
            c[u] = input / (s.ih * s.iw), h[u] = input / s.iw % s.ih, w[u] = input % s.iw;
            first[u] = c[u] * k.cs + h[u] * k.is + w[u] * k.fc;
            x[u] = input < inputs ? sm[in.at + fused_at(in, c[u], h[u], w[u])] : 0.0f;
            d[u] = 0;
        }
#pragma unroll 1
        for (int f0 = 0; f0 < s.oc; f0 += by) {
            float dy[by], weight[beside][by], grad[beside][by];
#pragma unroll
            for (int f = 0; f < by; f++) dy[f] = sm[out.grad + (f0 + f) * out.cs];
#pragma unroll
            for (int u = 0; u < beside; u++)
#pragma unroll
                for (int f = 0; f < by && e + u * N::threads < inputs; f++) {
                    const int at = first[u] + (f0 + f) / k.fc * (s.kw * k.fc) + (f0 + f) % k.fc;
                    weight[u][f] = sm[k.w + at];
                    grad[u][f] = sm[k.grads + at];
                }
#pragma unroll
            for (int u = 0; u < beside; u++)
#pragma unroll
                for (int f = 0; f < by && e + u * N::threads < inputs; f++) {
                    d[u] += dy[f] * weight[u][f];
                    sm[k.grads + first[u] + (f0 + f) / k.fc * (s.kw * k.fc) + (f0 + f) % k.fc] =
                        grad[u][f] + dy[f] * x[u];
                }
        }
#pragma unroll
        for (int u = 0; u < beside; u++)
            if (e + u * N::threads < inputs) fused_put_back<N, S>(p, sm, im, c[u], h[u], w[u], x[u], d[u]);
    }
}

#endif
