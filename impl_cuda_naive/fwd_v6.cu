/* fwd_v6.cu: version 6 of the forward convolution: version 5's product of matrices, on tensor cores.
 *
 * What changed: the multiplier alone (product_cores.h). A warp's mma.sync does 1,024 multiply-adds, where 32 threads
 * did 32; of f32 three of them keep its accuracy. Any GPU from compute capability 8.0 on.
 * Expected bottleneck: shared memory, which a warp reads 24 numbers a lane of for 16 products, 48 of f32. */
#include "impl_cuda_naive/product.h"

const naive_kernel naive_fwd_v6 = {"fwd_v6", product_cores_fit, product_run};
