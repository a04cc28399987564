/* cluster.h: of v3: the blocks of a cluster share an image. Which channels are whose, and mail among them.
 *
 * A block owns an equal share of each value's channels, but for the image and the scores, which each block has whole.
 * It makes what its channels of a stage's input contribute: the first convolution by its output channels; the others by
 * their input channels, so that partial sums of the outputs go to their owners, and the gradient of the outputs comes
 * to all blocks before it goes on to the inputs. So a block needs its share of the weights alone, and makes its share
 * of their gradients.
 *
 * Mail is stores into another block's shared memory, which a barrier there counts in bytes (st.async, mbarrier):
 * nothing else waits for them. v2 is of clusters of one block, and none of this is there. */
#ifndef IMPL_CUDA_FUSED_CLUSTER_H
#define IMPL_CUDA_FUSED_CLUSTER_H

#include "impl_cuda_fused/common.h"

#ifdef BENCHCNN_CUDA_EMULATED
#define FUSED_INLINE inline
#else
#define FUSED_INLINE __forceinline__
#endif

/* threadIdx.x, asked for anew each time: else the compiler works out once, before all images, what each stage makes of
 * it, and keeps all of that in registers, of which the gradients leave too few. */
__device__ FUSED_INLINE int fused_thread()
{
#ifdef __CUDA_ARCH__
    int thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    __builtin_assume(thread >= 0); /* so that its quotients are shifts */
    return thread;
#else
    return (int)threadIdx.x;
#endif
}

/* The block's rank in its cluster, the cluster's place in the grid, and how many there are. */
template <class N> __device__ FUSED_INLINE int fused_rank()
{
    return N::cluster > 1 ? (int)blockIdx.x % N::cluster : 0;
}
template <class N> __device__ FUSED_INLINE int fused_cluster() { return (int)blockIdx.x / N::cluster; }
template <class N> __device__ FUSED_INLINE int fused_clusters() { return (int)gridDim.x / N::cluster; }

/* Channels of value V that a block owns. */
template <class N, int V> __host__ __device__ constexpr int fused_owned()
{
    constexpr bool last = V == N::n;
    constexpr int all = last ? N::stages[N::n - 1].oc : N::stages[last ? 0 : V].ic;
    return V == 0 || last ? all : all / N::cluster;
}
/* The first of them, among all. */
template <class N, int V> __device__ FUSED_INLINE int fused_first()
{
    return V == 0 || V == N::n ? 0 : fused_rank<N>() * fused_owned<N, V>();
}
/* Whether blocks add partial sums of stage S, and whether each block gets the gradient of value V whole. */
template <class N, int S> __host__ __device__ constexpr bool fused_partial()
{
    return N::cluster > 1 && S > 0 && N::stages[S].op == FUSED_CONV;
}
template <class N, int V> __host__ __device__ constexpr bool fused_gathered()
{
    return N::cluster > 1 && V > 1 && V < N::n && N::stages[V > 0 ? V - 1 : 0].op == FUSED_CONV;
}

/* ---- Mail. A box is 8 bytes of shared memory; its contents lie where the stores put them. There is one for the
 * partial sums of each stage, and one for the gradient of each value. */

template <class N, int S> __device__ FUSED_INLINE float *fused_box_of_stage(float *sm) { return sm + N::mail + 2 * S; }
template <class N, int V> __device__ FUSED_INLINE float *fused_box_of_value(float *sm)
{
    return sm + N::mail + 2 * (N::n + V);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define FUSED_MAIL
__device__ FUSED_INLINE unsigned fused_address(const float *at) { return (unsigned)__cvta_generic_to_shared(at); }
__device__ FUSED_INLINE unsigned fused_address_of(const float *at, int rank)
{
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(fused_address(at)), "r"(rank));
    return there;
}
#endif

#ifdef BENCHCNN_CUDA_EMULATED
struct fused_count {
    unsigned expected, come;
};
#endif

__device__ FUSED_INLINE void fused_box_make(float *box)
{
#ifdef FUSED_MAIL
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(fused_address(box)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#elif defined(BENCHCNN_CUDA_EMULATED)
    *reinterpret_cast<fused_count *>(box) = {0, 0};
#endif
    (void)box;
}

/* By one thread, once for each use of the box. */
__device__ FUSED_INLINE void fused_expect(float *box, int floats)
{
#ifdef FUSED_MAIL
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(fused_address(box)), "r"(floats * 4)
                 : "memory");
#elif defined(BENCHCNN_CUDA_EMULATED)
    reinterpret_cast<fused_count *>(box)->expected += (unsigned)floats;
#endif
    (void)box, (void)floats;
}

/* Where `to` is, in the block of that rank. */
__device__ FUSED_INLINE void fused_push(float *to, int rank, float v, float *box)
{
#ifdef FUSED_MAIL
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                     fused_address_of(to, rank)),
                 "r"(__float_as_uint(v)), "r"(fused_address_of(box, rank))
                 : "memory");
#elif defined(BENCHCNN_CUDA_EMULATED)
    *static_cast<float *>(emulated_peer_shared(to, (unsigned)rank)) = v;
    static_cast<fused_count *>(emulated_peer_shared(box, (unsigned)rank))->come++;
#endif
    (void)to, (void)rank, (void)v, (void)box;
}

/* All threads of the cluster's blocks come here; `phase`: how often the box has been used, its lowest bit. */
__device__ FUSED_INLINE void fused_receive(float *box, unsigned phase)
{
#ifdef FUSED_MAIL
    asm volatile("{\n"
                 ".reg .pred come;\n"
                 "again%=:\n"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 come, [%0], %1;\n"
                 "@!come bra again%=;\n"
                 "}" ::"r"(fused_address(box)),
                 "r"(phase)
                 : "memory");
#elif defined(BENCHCNN_CUDA_EMULATED)
    emulated_cluster_barrier(__FILE__, __LINE__);
    const fused_count *count = reinterpret_cast<const fused_count *>(box);
    if (count->come != count->expected) emulated_hangs(count->expected, count->come, __FILE__, __LINE__);
#endif
    (void)box, (void)phase;
}

/* Before the first mail: all boxes are made. */
__device__ FUSED_INLINE void fused_cluster_barrier()
{
#ifdef FUSED_MAIL
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#elif defined(BENCHCNN_CUDA_EMULATED)
    emulated_cluster_barrier(__FILE__, __LINE__);
#endif
}

#endif
