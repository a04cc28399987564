/* fwd_small.cu: the forward convolution of the algorithm `small`: see small.cu. */
#include "impl_cuda_naive/small.h"

const naive_kernel naive_fwd_small = {"fwd_small", small_fit, small_run};
