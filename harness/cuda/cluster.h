/* cluster.h: the blocks of a cluster (cuda_shape's) to one another (device; C++). On devices before compute capability
 * 9.0, and in code compiled for them, a cluster is one block: cuda_clusters_of_code(). */
#ifndef HARNESS_CUDA_CLUSTER_H
#define HARNESS_CUDA_CLUSTER_H

#include "harness/cuda/platform.h"

/* All threads of the cluster's blocks come here; what they stored before is seen behind it. */
static __device__ inline void cuda_cluster_barrier()
{
#ifdef BENCHCNN_CUDA_EMULATED
    emulated_cluster_barrier(__FILE__, __LINE__);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
    __syncthreads();
#endif
}

/* All threads of the cluster's blocks come here, before one of these ends: what each has read of another one's shared
 * memory, it has used. Stores are not waited for. */
static __device__ inline void cuda_cluster_leave()
{
#ifdef BENCHCNN_CUDA_EMULATED
    emulated_cluster_barrier(__FILE__, __LINE__);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
#endif
}

/* The same place of dynamic shared memory in the cluster's block of this rank. Only between two barriers of the
 * cluster: before the first one it holds nothing yet, behind the second one that block may have ended. */
template <typename T> static __device__ inline const T *cuda_cluster_peer(const T *mine, int rank)
{
#ifdef BENCHCNN_CUDA_EMULATED
    return static_cast<const T *>(emulated_peer_shared(const_cast<T *>(mine), static_cast<unsigned>(rank)));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const T *there;
    asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(mine), "r"(rank));
    return there;
#else
    (void)rank;
    return mine;
#endif
}

#endif
