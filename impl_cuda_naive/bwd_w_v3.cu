/* bwd_w_v3.cu: version 3 of the gradient of the weights: register tiles, and parts of the batch added up in order.
 *
 * What changed: a thread computes up to 20 output channels of up to 4 weights at once (weights.cu), so that x and dy
 * are read some dozen times less often than by version 2, and the pixels are cut among as many blocks as a GPU has room
 * for, however few the weights. db costs nothing: it is one more column. */
#include "impl_cuda_naive/weights.h"

static cnn_status fit(const cuda_context *, const cnn_request *r, naive_launch *l, cnn_error *err)
{
    return weights_fit(&r->problem->u.conv, r->knobs, "v2", l, err);
}

const naive_kernel naive_bwd_w_v3 = {"bwd_w_v3", fit, weights_run};
