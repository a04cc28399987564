/* bwd_w_v6.cu: version 6 of the gradient of the weights: version 5's, on tensor cores (product_cores.h). */
#include "impl_cuda_naive/product.h"

const naive_kernel naive_bwd_w_v6 = {"bwd_w_v6", product_cores_weights_fit, product_weights_run};
