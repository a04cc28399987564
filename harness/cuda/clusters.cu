/* clusters.cu: how many clusters of blocks a device holds at once. A cluster lies within a group of multiprocessors,
 * and groups differ from one device to the next: an H100 with 132 multiprocessors held 15 clusters of 8, not 16. So the
 * runtime is asked. */
#include "harness/cuda/cuda.h"

#ifndef BENCHCNN_CUDA_EMULATED
namespace
{

/* With all of a multiprocessor's shared memory: one block each. */
__global__ void fills_a_multiprocessor() {}

cudaError_t count(const cuda_context *c, int blocks, int *clusters)
{
    cudaLaunchAttribute size = {};
    size.id = cudaLaunchAttributeClusterDimension;
    size.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(32);
    config.dynamicSmemBytes = c->properties.sharedMemPerBlockOptin;
    config.attrs = &size;
    config.numAttrs = 1;
    return cudaOccupancyMaxActiveClusters(clusters, fills_a_multiprocessor, &config);
}

} // namespace

cudaError_t cuda_clusters_count(cuda_context *c)
{
    cudaFuncAttributes code;
    if (c->properties.major < 9) return cudaSuccess;
    cudaError_t error = cudaFuncGetAttributes(&code, fills_a_multiprocessor);
    c->cluster_code = error == cudaSuccess && code.ptxVersion >= 90;
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(fills_a_multiprocessor, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(c->properties.sharedMemPerBlockOptin));
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(fills_a_multiprocessor, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    for (int blocks = 2; error == cudaSuccess && blocks <= CUDA_CLUSTER_MOST; blocks++)
        if (count(c, blocks, &c->clusters[blocks]) != cudaSuccess) { /* none of this size */
            c->clusters[blocks] = 0;
            (void)cudaGetLastError();
        }
    return error;
}
#else
cudaError_t cuda_clusters_count(cuda_context *c)
{
    for (int blocks = 2; blocks <= CUDA_CLUSTER_MOST; blocks++)
        c->clusters[blocks] = c->properties.multiProcessorCount / blocks;
    c->cluster_code = true;
    return cudaSuccess;
}
#endif
