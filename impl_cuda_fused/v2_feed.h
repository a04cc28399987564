/* v2_feed.h: of v2: which images are a block's, and their way into shared memory: the next one is on its way while this
 * one is at work; its place in the data set is known one image earlier still. */
#ifndef IMPL_CUDA_FUSED_V2_FEED_H
#define IMPL_CUDA_FUSED_V2_FEED_H

#include "impl_cuda_fused/v2_lanes.h"

/* Which images of a pass are this block's, one after another: image n of the batch that begins at `done`. */
struct fused_turn {
    long long done, n, mb;
};

template <class N> __device__ FUSED_INLINE fused_turn fused_batch_at(const fused_pass &p, long long done)
{
    const long long left = p.count - done;
    return {done, (long long)fused_cluster<N>(), left < p.batch ? left : p.batch};
}

/* The next image; behind the last one, done >= count. */
template <class N> __device__ FUSED_INLINE fused_turn fused_next(const fused_pass &p, fused_turn t)
{
    t.n += fused_clusters<N>();
    while (t.n >= t.mb && t.done < p.count) t = fused_batch_at<N>(p, t.done + t.mb);
    return t;
}

/* A number on its way from memory, for which only its use waits. It is the same for all threads, and a compiler that
 * knows this puts it into a register of the whole warp at once: 1,000 clocks an image, twice. */
__device__ FUSED_INLINE int fused_later(const int *from)
{
#ifdef __CUDA_ARCH__
    int number;
    asm volatile("ld.global.nc.s32 %0, [%1];" : "=r"(number) : "l"(from));
    return number;
#else
    return *from;
#endif
}

/* An int: to widen it would be to wait for it. */
__device__ FUSED_INLINE int fused_row(const fused_pass &p, const fused_turn &t)
{
    if (t.done >= p.count) return 0;
    const long long i = p.first + t.done + t.n;
    return p.order != nullptr ? fused_later(p.order + i) : (int)i;
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define FUSED_ASYNC /* older devices, and emulated ones, copy and wait */
#endif

/* Copies one float, or four, behind the back of the threads. fused_sent() closes a group of copies; after
 * fused_arrived<LATER>() all groups have come but for that many of the latest. */
template <int FLOATS> __device__ FUSED_INLINE void fused_send(float *to, const float *from)
{
#ifndef FUSED_ASYNC
    for (int k = 0; k < FLOATS; k++) to[k] = from[k];
#else
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    if constexpr (FLOATS == 4)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from) : "memory");
#endif
}

__device__ FUSED_INLINE void fused_sent()
{
#ifdef FUSED_ASYNC
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int LATER> __device__ FUSED_INLINE void fused_arrived()
{
#ifdef FUSED_ASYNC
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
#endif
}

template <class N> struct fused_feed {
    fused_turn turn, after; /* of the image on its way; of the one whose row is known */
    int row, label;

    __device__ FUSED_INLINE void fetch(const fused_pass &p, float *sm)
    {
        constexpr int floats = N::image % 4 == 0 ? 4 : 1;
        for (int k = fused_thread(); k < N::image / floats && turn.done < p.count; k += N::threads)
            fused_send<floats>(sm + N::staged + k * floats, p.rows + (long long)row * N::image + k * floats);
        fused_sent();
        if (turn.done < p.count) label = fused_later(p.labels + row);
    }
    __device__ FUSED_INLINE void begin(const fused_pass &p, float *sm)
    {
        turn = fused_batch_at<N>(p, 0);
        if (turn.n >= turn.mb) turn = fused_next<N>(p, turn);
        row = fused_row(p, turn);
        label = 0;
        fetch(p, sm);
        after = fused_next<N>(p, turn);
        row = fused_row(p, after);
    }
    /* Into its place, moved by its shift; other threads see it behind the next barrier. Returns the label. `behind`:
     * one group of copies was sent behind the image. */
    __device__ FUSED_INLINE int take(const fused_pass &p, float *sm, bool behind = false)
    {
        constexpr fused_stage s = N::stages[0];
        constexpr fused_place in = N::places[0];
        const long long i = p.first + turn.done + turn.n;
        const int dy = p.shifts != nullptr ? p.shifts[2 * i] : 0, dx = p.shifts != nullptr ? p.shifts[2 * i + 1] : 0;
        const int taken = label;
        if (behind)
            fused_arrived<1>();
        else
            fused_arrived<0>();
        __syncthreads();
        constexpr int rows = s.ic * s.ih, warps = N::threads / 32, together = 4;
        for (int w = fused_thread() % 32; w < s.iw; w += 32) {
            const int x = w - dx, column = w % in.sw * in.ps + w / in.sw;
#pragma unroll 1
            for (int first = fused_thread() / 32; first < rows; first += together * warps) {
                float v[together]; /* all of them before the first store: a load behind it would wait for it */
#pragma unroll
                for (int u = 0; u < together; u++) {
                    const int r = first + u * warps, c = s.ic > 1 ? r / s.ih : 0, y = r - c * s.ih - dy;
                    const bool inside = r < rows && y >= 0 && y < s.ih && x >= 0 && x < s.iw;
                    const int from = N::nhwc ? (y * s.iw + x) * s.ic + c : (c * s.ih + y) * s.iw + x;
                    v[u] = inside ? sm[N::staged + from] : 0.0f;
                }
#pragma unroll
                for (int u = 0; u < together; u++) {
                    const int r = first + u * warps, c = s.ic > 1 ? r / s.ih : 0, h = r - c * s.ih;
                    if (r < rows) sm[in.at + c * in.cs + h * in.hs + column] = v[u];
                }
            }
        }
        return taken;
    }
    /* Behind that barrier: sends for the next one. */
    __device__ FUSED_INLINE void go_on(const fused_pass &p, float *sm)
    {
        turn = after;
        fetch(p, sm);
        after = fused_next<N>(p, after);
        row = fused_row(p, after);
    }
};

#endif
