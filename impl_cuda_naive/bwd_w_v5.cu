/* bwd_w_v5.cu: version 5 of the gradient of the weights: a product of matrices over pixels.
 *
 * What changed: version 3 reads x from the cache, a number for up to 20 multiply-adds, with five instructions for its
 * address. Here x goes through shared memory like dy, and a thread finds a pixel once for 16 numbers
 * (product_weights.cu).
 * Expected bottleneck: the multiply-adds; of few weights and many pixels, the second launch, which adds up parts. */
#include "impl_cuda_naive/product.h"

const naive_kernel naive_bwd_w_v5 = {"bwd_w_v5", product_weights_fit, product_weights_run};
