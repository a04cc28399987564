/* bwd_d_v6.cu: version 6 of the gradient of the input: version 5's, on tensor cores (product_cores.h). */
#include "impl_cuda_naive/product.h"

const naive_kernel naive_bwd_d_v6 = {"bwd_d_v6", product_cores_fit, product_run};
