/* fwd_v4.cu: version 4 of the forward convolution: register tiles.
 *
 * What changed: a thread computes up to 20 output channels of up to 4 pixels instead of one output (tile.cu): for 80
 * multiply-adds it loads 4 pixels and 5 quadruples of weights, where version 3 loaded 160 numbers. x is no longer
 * staged: neighbouring threads read neighbouring pixels, and the L1 cache holds them; only the weights are. So there is
 * no barrier in the loop over a whole problem of the thesis's size. The bias is added where the result is written.
 * Expected bottleneck: the multiply-adds (20 or more channels); at few images, the latency of a launch. */
#include "impl_cuda_naive/tile.h"

static cnn_status check(const cuda_context *context, const cnn_conv_desc *d, cnn_error *err)
{
    return tile_check(context, d, CNN_FWD, "fwd_v4", err);
}

static cnn_status run(cuda_context *context, const cnn_conv_desc *d, const cnn_weighted_args *a, cnn_error *err)
{
    return tile_run(context, d, CNN_FWD, "fwd_v4", a->x, a->w, a->b, a->y, a->beta != 0, err);
}

const naive_kernel naive_fwd_v4 = {run, check, NULL};
