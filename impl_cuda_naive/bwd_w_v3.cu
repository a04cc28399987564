/* bwd_w_v3.cu: version 3 of the gradient of the weights: register tiles, and parts of the batch added up in order.
 *
 * What changed: a thread computes up to 20 output channels of up to 4 weights at once (weights.cu), so that x and dy
 * are read some dozen times less often than by version 2, and the pixels are cut among as many blocks as a GPU has room
 * for, however few the weights. db costs nothing: it is one more column. */
#include "impl_cuda_naive/weights.h"

static cnn_status check(const cuda_context *context, const cnn_conv_desc *d, cnn_error *err)
{
    return weights_check(context, d, "bwd_w_v3", "v2", err);
}

static cnn_status run(cuda_context *context, const cnn_conv_desc *d, const cnn_weighted_args *a, cnn_error *err)
{
    return weights_run(context, d, a, "bwd_w_v3", err);
}

const naive_kernel naive_bwd_w_v3 = {run, check, weights_workspace};
