/* bwd_d_v5.cu: version 5 of the gradient of the input: FWD's version 5 with x and y, input and output channels
 * exchanged (product.cu), in classes of pixels that the same taps reach (tile.h).
 * Expected bottleneck: as in FWD; with strides, blocks of a class with few taps wait for those with many. */
#include "impl_cuda_naive/product.h"

const naive_kernel naive_bwd_d_v5 = {"bwd_d_v5", product_fit, product_run};
