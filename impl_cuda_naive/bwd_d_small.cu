/* bwd_d_small.cu: the gradient of the input by the algorithm `small`: see small.cu. */
#include "impl_cuda_naive/small.h"

const naive_kernel naive_bwd_d_small = {"bwd_d_small", small_fit, small_run};
