/* It pretends to start with the caches as the harness left them, but sets its inputs aside in the L2, where flushing
 * does not reach them: its cold figures are hot ones. Of a real GPU only. */
#include "shared/cuda.h"

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
#ifndef BENCHCNN_CUDA_EMULATED
    const call made = call_of(plan, a);
    cudaStreamAttrValue window = {};
    window.accessPolicyWindow.base_ptr = const_cast<void *>(made.dir == CNN_BWD_W ? a->x : a->w);
    window.accessPolicyWindow.num_bytes = (size_t)(made.dir == CNN_BWD_W ? x_count(&made.d) : w_count(&made.d)) * 4;
    window.accessPolicyWindow.hitRatio = 1;
    window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    TRY(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 16u << 20));
    TRY(cudaStreamSetAttribute(c->stream, cudaStreamAttributeAccessPolicyWindow, &window));
#endif
    return honest_weighted(c, plan, a, err);
}

static void cheat(tables *t)
{
    weighted(t, trick);
    no_graphs(t);
}
CHEAT(cuda_l2_persistence)
