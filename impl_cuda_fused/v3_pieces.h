/* v3_pieces.h: of v3: stage 0 by pieces of rows. With few inputs, to share a sum among lanes would take longer than the
 * sum itself; a task is some columns of a row, and beside the image's rows stand zeros for what a tap reads there. */
#ifndef IMPL_CUDA_FUSED_V3_PIECES_H
#define IMPL_CUDA_FUSED_V3_PIECES_H

#include "impl_cuda_fused/laps.h"
#include "impl_cuda_fused/v2_feed.h"
#include "impl_cuda_fused/v2_forward.h"

/* The column that stands at `pos` of a row. */
__host__ __device__ constexpr int fused_column(const fused_place &p, int pos) { return pos % p.ps * p.sw + pos / p.ps; }
__host__ __device__ constexpr int fused_pos(const fused_place &p, int column)
{
    return column % p.sw * p.ps + column / p.sw;
}

/* Channels of its output that a block's stage makes, whole or in part. */
template <class N, int S> __host__ __device__ constexpr int fused_outs()
{
    return S == 0 ? fused_owned<N, 1>() : N::stages[S].oc;
}

/* Of the taps that read a plane of the image's rows, the least and the most of their steps from an output's column. */
struct fused_steps {
    int least, most;
};
template <class N> __host__ __device__ constexpr fused_steps fused_steps_of(int plane)
{
    constexpr fused_stage s = N::stages[0];
    fused_steps steps = {1 << 20, -(1 << 20)};
    for (int j = 0; j < s.kw; j++) {
        const int from = j * s.dw - s.pw, at = ((from % s.sw) + s.sw) % s.sw, step = (from - at) / s.sw;
        if (at != plane) continue;
        if (step < steps.least) steps.least = step;
        if (step > steps.most) steps.most = step;
    }
    return steps;
}

/* Row i of the kernel: what the plane's taps of it add to the piece that begins at `column`. */
template <class N, int PLANE, int SIZE, int WEIGHTS>
__device__ FUSED_INLINE void fused_add_plane(const float *row, int column, const float (&w)[WEIGHTS],
                                             float (&sum)[SIZE])
{
    constexpr fused_stage s = N::stages[0];
    constexpr fused_place in = N::places[0];
    constexpr fused_tile k = N::tiles[0];
    constexpr fused_steps steps = fused_steps_of<N>(PLANE);
    if constexpr (steps.most >= steps.least) {
        constexpr int begin = (steps.least - 3 * (steps.least < 0)) / 4 * 4, end = steps.most + k.piece;
        float x[(end - begin + 3) / 4 * 4];
        fused_load(x, row + PLANE * in.ps + column + begin);
#pragma unroll
        for (int j = 0; j < s.kw; j++) {
            const int from = j * s.dw - s.pw, step = (from - PLANE) / s.sw;
            if (((from % s.sw) + s.sw) % s.sw != PLANE) continue;
#pragma unroll
            for (int o = 0; o < k.piece; o++)
#pragma unroll
                for (int f = 0; f < k.fc; f++) sum[o * k.fc + f] += w[j * k.fc + f] * x[o + step - begin];
        }
    }
    if constexpr (PLANE + 1 < s.sw) fused_add_plane<N, PLANE + 1>(row, column, w, sum);
}

/* A piece of channel c, row h, from `column` on: a plane's columns are neighbours, and stored together. */
template <class N>
__device__ FUSED_INLINE void fused_put_piece(const fused_pass &p, float *sm, const fused_image &im, int c, int h,
                                             int column, const float (&sum)[N::tiles[0].piece])
{
    constexpr fused_place out = N::places[1];
    constexpr int piece = N::tiles[0].piece, count = piece / out.sw;
    constexpr bool even = piece % out.sw == 0 && count % 2 == 0 && (out.cs | out.hs | out.ps) % 2 == 0;
    float y[piece];
#pragma unroll
    for (int o = 0; o < piece; o++) y[o] = fused_made<N, 0>(p, im, c, h, column + o, sum[o]);
    float *to = sm + out.at + c * out.cs + h * out.hs;
#pragma unroll
    for (int o = 0; o < piece; o++) {
        float *at = to + (column + o) % out.sw * out.ps + (column + o) / out.sw;
        if constexpr (!even)
            *at = y[o];
        else if (o / out.sw % 2 == 0)
            *reinterpret_cast<float2 *>(at) = {y[o], y[(o + out.sw) % piece]};
    }
}

/* Which task is a thread's. Pairs of threads have neighbouring groups of channels and read the same pixels; those
 * beside them have other pieces and read the same weights: of 16 bytes a lane, shared memory serves either in half the
 * time. */
struct fused_piece {
    int group, h, column;
};
template <class N> __host__ __device__ constexpr fused_piece fused_piece_of(int task)
{
    constexpr fused_tile k = N::tiles[0];
    constexpr int groups = fused_outs<N, 0>() / k.fc, pieces = N::stages[0].ow / k.piece;
    constexpr int pair = groups % 2 == 0 ? 2 : 1;
    return {task / (pair * pieces) % (groups / pair) * pair + task % pair, task / (pieces * groups),
            task / pair % pieces * k.piece};
}

template <class N> __device__ FUSED_INLINE void fused_pieces(const fused_pass &p, float *sm, const fused_image &im)
{
    constexpr fused_stage s = N::stages[0];
    constexpr fused_place in = N::places[0];
    constexpr fused_tile k = N::tiles[0];
    constexpr int tasks = fused_outs<N, 0>() / k.fc * s.oh * (s.ow / k.piece);
#pragma unroll 1
    for (int task = fused_thread(); task < tasks; task += N::threads) {
        const fused_piece mine = fused_piece_of<N>(task);
        float sum[k.fc * k.piece];
#pragma unroll
        for (int e = 0; e < k.fc * k.piece; e++) sum[e] = k.b >= 0 ? sm[k.b + mine.group * k.fc + e % k.fc] : 0.0f;
#pragma unroll 1
        for (int c = 0; c < s.ic; c++)
#pragma unroll
            for (int i = 0; i < s.kh; i++) {
                const int row = mine.h * s.sh - s.ph + i * s.dh;
                float w[k.fc * s.kw];
                if (row < 0 || row >= s.ih) continue;
                fused_load(w, sm + k.w + c * k.cs + i * k.is + mine.group * (s.kw * k.fc));
                fused_add_plane<N, 0>(sm + in.at + c * in.cs + row * in.hs, mine.column, w, sum);
            }
#pragma unroll
        for (int f = 0; f < k.fc; f++) {
            float y[k.piece];
#pragma unroll
            for (int o = 0; o < k.piece; o++) y[o] = sum[o * k.fc + f];
            fused_put_piece<N>(p, sm, im, mine.group * k.fc + f, mine.h, mine.column, y);
        }
    }
}

#endif
