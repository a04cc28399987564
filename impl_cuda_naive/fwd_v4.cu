/* fwd_v4.cu: version 4 of the forward convolution: register tiles.
 *
 * What changed: a thread computes up to 20 output channels of up to 4 pixels instead of one output (tile.cu): for 80
 * multiply-adds it loads 4 pixels and 5 quadruples of weights, where version 3 loaded 160 numbers. x is no longer
 * staged: neighbouring threads read neighbouring pixels, and the L1 cache holds them; only the weights are. So there is
 * no barrier in the loop over a whole problem of the thesis's size. The bias is added where the result is written.
 * Expected bottleneck: the multiply-adds (20 or more channels); at few images, the latency of a launch. */
#include "impl_cuda_naive/tile.h"

const naive_kernel naive_fwd_v4 = {"fwd_v4", tile_fit, tile_run};
