/* laps.h: of v3: where the time of a pass goes. Block 0's first thread reads its clock where one part ends and the next
 * begins, and adds the clocks between to the part's lap. Other blocks do the same at the same time, and other warps
 * nearly: what one waits for the others is a lap, too. Only a kernel that is compiled for it has any (N::laps, where a
 * block keeps its latest clock; 0: none). */
#ifndef IMPL_CUDA_FUSED_LAPS_H
#define IMPL_CUDA_FUSED_LAPS_H

#ifdef BENCHCNN_CUDA_EMULATED
#include "harness/base/clock.h"
#endif
#include "impl_cuda_fused/cluster.h"

__device__ FUSED_INLINE unsigned long long fused_nanoseconds()
{
#ifdef __CUDA_ARCH__
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
#else
    return (unsigned long long)(cnn_now() * 1e9);
#endif
}

__device__ FUSED_INLINE unsigned fused_clock()
{
#ifdef __CUDA_ARCH__
    unsigned now;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
    return now;
#else
    return (unsigned)fused_nanoseconds();
#endif
}

__device__ FUSED_INLINE bool fused_has_laps(const fused_pass &p)
{
    return p.laps != nullptr && blockIdx.x == 0 && threadIdx.x == 0;
}

/* The part that ends here. */
template <class N> __device__ FUSED_INLINE void fused_lap(const fused_pass &p, float *sm, int lap)
{
    if constexpr (N::laps > 0) {
        if (!fused_has_laps(p)) return;
        unsigned *latest = reinterpret_cast<unsigned *>(sm + N::laps);
        const unsigned now = fused_clock();
        atomicAdd(p.laps + lap, (unsigned long long)(now - *latest));
        *latest = now;
    }
}
template <class N, int S> __device__ FUSED_INLINE void fused_lap_of(const fused_pass &p, float *sm, int lap)
{
    fused_lap<N>(p, sm, FUSED_LAP_STAGES + S * FUSED_LAPS_A_STAGE + lap);
}

/* Before the first part, and behind the last. */
template <class N> __device__ FUSED_INLINE void fused_laps_begin(const fused_pass &p, float *sm)
{
    if constexpr (N::laps > 0) {
        if (!fused_has_laps(p)) return;
        *reinterpret_cast<unsigned *>(sm + N::laps) = fused_clock();
        atomicAdd(p.laps + FUSED_LAPS_NS, 0 - fused_nanoseconds());
    }
}
template <class N> __device__ FUSED_INLINE void fused_laps_end(const fused_pass &p)
{
    if constexpr (N::laps > 0)
        if (fused_has_laps(p)) atomicAdd(p.laps + FUSED_LAPS_NS, fused_nanoseconds());
}

#endif
