/* conv.c: from a plan to a kernel. An algorithm is a version; a direction with fewer versions runs its latest one. */
#include "impl_cuda_naive/naive.h"

const naive_kernel *naive_conv_kernel(int64_t version, cnn_dir dir)
{
    static const naive_kernel *const kernels[CNN_DIR_COUNT][NAIVE_V4] = {
        [CNN_FWD] = {&naive_fwd_v1, &naive_fwd_v2, &naive_fwd_v3, &naive_fwd_v4},
        [CNN_BWD_D] = {&naive_bwd_d_v1, &naive_bwd_d_v2, &naive_bwd_d_v3, &naive_bwd_d_v3},
        [CNN_BWD_W] = {&naive_bwd_w_v1, &naive_bwd_w_v2, &naive_bwd_w_v3, &naive_bwd_w_v3},
    };
    return kernels[dir][version - NAIVE_V1];
}

const naive_fc_kernel *naive_fc_kernel_of(int64_t id, cnn_dir dir)
{
    return id == NAIVE_FC_NAIVE ? &naive_fc_naive[dir] : &naive_fc_tiled[dir];
}

cnn_status naive_conv_run(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    const naive_kernel *kernel = naive_conv_kernel(plan->algorithm.id, plan->dir);
    return kernel->run((cuda_context *)context, &plan->problem.u.conv, args, err);
}

cnn_status naive_fc_run(cnn_context *context, const cnn_plan *plan, const cnn_weighted_args *args, cnn_error *err)
{
    const naive_fc_kernel *kernel = naive_fc_kernel_of(plan->algorithm.id, plan->dir);
    return kernel->run((cuda_context *)context, &plan->problem.u.fc, args, err);
}
