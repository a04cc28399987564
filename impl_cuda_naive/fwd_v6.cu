/* fwd_v6.cu: version 6 of the forward convolution: version 5's product of matrices, on tensor cores.
 *
 * What changed: the multiplier alone (product_cores.h). A warp's mma.sync does 1,024 multiply-adds, where 32 threads
 * did 32 (2,048 of 16 bits); of f32 three of them keep its accuracy. Any GPU from compute capability 8.0 on.
 * Expected bottleneck: of f32 the tensor cores; else shared memory, which a lane reads 48 words of for 32 products. */
#include "impl_cuda_naive/product.h"

const naive_kernel naive_fwd_v6 = {"fwd_v6", product_cores_fit, product_run};
