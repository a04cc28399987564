/* tensor.h: the descriptors that nearly every call to cuDNN takes, and the factors alpha and beta that come with them:
 * output = alpha * result + beta * what the output holds. */
#ifndef IMPL_CUDNN_TENSOR_H
#define IMPL_CUDNN_TENSOR_H

#include "impl_cudnn/context.h"

/* The cuDNN type of the numbers, and the factors that its calls take: float for f32, double for f64. */
static inline cudnnDataType_t cudnn_data_type(cnn_dtype dtype)
{
    return dtype == CNN_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}
typedef union cudnn_factor {
    float f32;
    double f64;
} cudnn_factor;
static inline cudnn_factor cudnn_factor_of(cnn_dtype dtype, double value)
{
    cudnn_factor factor;
    if (dtype == CNN_F64)
        factor.f64 = value;
    else
        factor.f32 = (float)value;
    return factor;
}

/* A tensor (n, c, h, w) in the type's layout; NULL on failure. CNN_UNSUPPORTED when a size or the whole is more than
 * cuDNN's 32-bit integers count. */
cnn_status cudnn_tensor_open(cudnn_context *, const cnn_type *, int64_t n, int64_t c, int64_t h, int64_t w,
                             cudnnTensorDescriptor_t *, cnn_error *);
void cudnn_tensor_close(cudnnTensorDescriptor_t *); /* NULL is fine, and becomes so */

#endif
