/* fwd_v5.cu: version 5 of the forward convolution: a product of matrices.
 *
 * What changed: version 4 reads x from the cache for each thread's own sums, 4 pixels for 80 multiply-adds, and each
 * of its loads waits for memory. Here a block shares what it reads, pixels and weights both, through shared memory,
 * and loads the next step while it multiplies (product.cu): 16 numbers of shared memory and some 2 of the cache for 64
 * multiply-adds. Weights are laid out first, by a launch of their own.
 * Expected bottleneck: the multiply-adds, from some 64 channels on; with fewer, tiles are not full, and version 4 or
 * the algorithm `small` are faster. */
#include "impl_cuda_naive/product.h"

const naive_kernel naive_fwd_v5 = {"fwd_v5", product_fit, product_run};
