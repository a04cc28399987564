/* v2_lanes.h: of v2: how values lie in shared memory, how lanes share a task, and which rows meet. */
#ifndef IMPL_CUDA_FUSED_V2_LANES_H
#define IMPL_CUDA_FUSED_V2_LANES_H

#include "impl_cuda_fused/cluster.h"

__device__ FUSED_INLINE int fused_at(const fused_place &p, int c, int h, int w)
{
    return c * p.cs + h * p.hs + (w % p.sw) * p.ps + w / p.sw;
}

/* COUNT neighbours, as many at once as their count allows: they are aligned to it. */
template <int COUNT> __device__ FUSED_INLINE void fused_load(float (&to)[COUNT], const float *from)
{
    if constexpr (COUNT % 4 == 0) {
#pragma unroll
        for (int k = 0; k < COUNT / 4; k++) {
            const float4 v = reinterpret_cast<const float4 *>(from)[k];
            to[4 * k] = v.x;
            to[4 * k + 1] = v.y;
            to[4 * k + 2] = v.z;
            to[4 * k + 3] = v.w;
        }
    } else {
#pragma unroll
        for (int k = 0; k < COUNT; k++) to[k] = from[k];
    }
}

/* How the lanes of a warp share tasks: pairs of neighbouring lanes have neighbouring tasks, which read the same
 * operand: of 16 bytes a lane, shared memory serves such a warp in half the time. Then come the lanes of a task. */
struct fused_seat {
    int task, lane;
};

__host__ __device__ constexpr int fused_paired(int lanes) { return lanes < 32 ? 2 : 1; }

/* BESIDE: so many neighbouring lanes have a task each. */
template <int LANES, int BESIDE = fused_paired(LANES)> __device__ FUSED_INLINE fused_seat fused_seat_of()
{
    const int t = fused_thread(), rest = t / (LANES * BESIDE);
    return {rest * BESIDE + t % BESIDE, t / BESIDE % LANES};
}

/* How LANES lanes share F x W sums, sum w*F + f, when they are added up by halves: each lane gives one half away and
 * gets the other. First the columns w are halved, as often as they can be; then what is left of them. In the end a lane
 * has columns from `column` on, `columns` of them, and of their sums [base, end), `left` of them at most. */
template <int F, int W, int LANES> struct fused_split {
    __host__ __device__ static constexpr int halves()
    {
        return W % 2 == 0 && LANES > 1 ? 2 * fused_split<F, W / 2, LANES / 2>::halves() : 1;
    }
    static constexpr int by_column = halves(), columns = W / by_column, rest = LANES / by_column;
    __host__ __device__ static constexpr int left_of(int count, int lanes)
    {
        return lanes > 1 ? left_of((count + 1) / 2, lanes / 2) : count;
    }
    static constexpr int left = left_of(F * columns, rest);
};
template <int F, int W> struct fused_split<F, W, 1> {
    __host__ __device__ static constexpr int halves() { return 1; }
    static constexpr int columns = W, rest = 1, left = F * W;
};

struct fused_part {
    int column, base, end;
};

template <int COUNT, int LANES, int BIT, int SIZE>
__device__ FUSED_INLINE void fused_halve(float (&a)[SIZE], int lane, int &base, int &end)
{
    if constexpr (LANES > 1) {
        constexpr int HALF = (COUNT + 1) / 2;
        const bool up = (lane & BIT) != 0;
#pragma unroll
        for (int k = 0; k < HALF; k++) {
            const float low = a[k], high = k + HALF < COUNT ? a[k + HALF < COUNT ? k + HALF : 0] : 0.0f;
            a[k] = (up ? high : low) + __shfl_xor_sync(0xffffffffu, up ? low : high, BIT);
        }
        if (up)
            base += HALF;
        else if (base + HALF < end)
            end = base + HALF;
        fused_halve<HALF, LANES / 2, BIT * 2>(a, lane, base, end);
    }
}

/* All lanes of the warp must come. FIRST: the lowest bit of the thread's index that tells lanes apart. */
template <int F, int W, int LANES, int FIRST, int BIT, int SIZE>
__device__ FUSED_INLINE fused_part fused_sum(float (&a)[SIZE], int lane)
{
    if constexpr (LANES > 1 && W % 2 == 0) {
        const bool up = (lane & BIT) != 0;
#pragma unroll
        for (int k = 0; k < F * W / 2; k++)
            a[k] = (up ? a[k + F * W / 2] : a[k]) +
                   __shfl_xor_sync(0xffffffffu, up ? a[k] : a[k + F * W / 2], FIRST * BIT);
        fused_part part = fused_sum<F, W / 2, LANES / 2, FIRST, BIT * 2>(a, lane);
        part.column += up ? W / 2 : 0;
        return part;
    } else {
        fused_part part = {0, 0, F * W};
        fused_halve<F * W, LANES, FIRST * BIT>(a, lane * FIRST, part.base, part.end);
        return part;
    }
}

/* ... and back. */
template <int COUNT> __device__ FUSED_INLINE void fused_store(float *to, const float (&from)[COUNT])
{
    if constexpr (COUNT % 4 == 0) {
#pragma unroll
        for (int k = 0; k < COUNT / 4; k++)
            reinterpret_cast<float4 *>(to)[k] = {from[4 * k], from[4 * k + 1], from[4 * k + 2], from[4 * k + 3]};
    } else {
#pragma unroll
        for (int k = 0; k < COUNT; k++) to[k] = from[k];
    }
}

/* Which rows of a kernel a row of outputs, or which outputs a row of a kernel, meets: [first, first + count). */
struct fused_span {
    int first, count;
};

/* i with 0 <= start + i*step < size, 0 <= i < most. */
__device__ FUSED_INLINE fused_span fused_inside(int start, int step, int size, int most)
{
    int first = 0, last = most;
    if (start < 0) first = (-start + step - 1) / step;
    if (start + (most - 1) * step >= size) last = (size - start + step - 1) / step;
    return {first, last > first ? last - first : 0};
}

__host__ __device__ constexpr int fused_gcd(int a, int b) { return b == 0 ? a : fused_gcd(b, a % b); }

/* Where image n of the batch has element (c, h, w) of a stage's output, as dropout counts. */
template <class N, int S> __device__ FUSED_INLINE long long fused_drop_index(long long n, int c, int h, int w)
{
    constexpr fused_stage s = N::stages[S];
    const int pixel = h * s.ow + w;
    return n * (s.oc * s.oh * s.ow) + (N::nhwc ? pixel * s.oc + c : c * (s.oh * s.ow) + pixel);
}

/* The image that is at work. */
struct fused_image {
    long long n, step; /* its place in the batch; updates so far */
    bool train;
    unsigned phase = 0; /* v3: 0 or 1 by turns: of the boxes */
};

#endif
