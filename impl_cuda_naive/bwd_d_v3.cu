/* bwd_d_v3.cu: version 3 of the gradient of the input: a gather in register tiles.
 *
 * What changed: version 2's gather, whose pixels are sorted by their position modulo the stride, so that all threads of
 * a block use the same taps; then it is FWD's version 4 with x and y, input and output channels exchanged (tile.h says
 * how). No search for the taps that divide, no tap that does not, reads of dy side by side.
 * Expected bottleneck: as in FWD's version 4; in NCHW each class writes every sw-th pixel of a row of dx, so that
 * memory traffic for dx is what the L2 cache makes of it. */
#include "impl_cuda_naive/tile.h"

const naive_kernel naive_bwd_d_v3 = {"bwd_d_v3", tile_fit, tile_run};
