/* tensor.c: tensors' descriptors. */
#include "impl_cudnn/context.h"

#include "harness/cnn/shape.h"

#include <limits.h>

/* cuDNN counts sizes and strides in int. */
static cnn_status fits(int64_t n, int64_t c, int64_t h, int64_t w, cnn_error *err)
{
    int64_t count;
    if (cnn_mul4(n, c, h, w, &count) && count <= INT_MAX) return CNN_OK;
    return CNN_FAIL(err, CNN_UNSUPPORTED,
                    "a tensor of %lld x %lld x %lld x %lld elements is more than cuDNN's legacy calls can count (%d)",
                    (long long)n, (long long)c, (long long)h, (long long)w, INT_MAX);
}

cnn_status cudnn_tensor_open(cudnn_context *context, const cnn_type *t, int64_t n, int64_t c, int64_t h, int64_t w,
                             cudnnTensorDescriptor_t *tensor, cnn_error *err)
{
    const cudnnTensorFormat_t format = t->layout == CNN_NHWC ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
    *tensor = NULL;
    cnn_status status = fits(n, c, h, w, err);
    if (status == CNN_OK) status = CUDNN_CHECK(context, cudnnCreateTensorDescriptor(tensor), err);
    if (status != CNN_OK) return status;
    status = CUDNN_CHECK(
        context, cudnnSetTensor4dDescriptor(*tensor, format, cudnn_data_type(t->dtype), (int)n, (int)c, (int)h, (int)w),
        err);
    if (status != CNN_OK) cudnn_tensor_close(tensor);
    return status;
}

void cudnn_tensor_close(cudnnTensorDescriptor_t *tensor)
{
    if (*tensor != NULL) (void)cudnnDestroyTensorDescriptor(*tensor);
    *tensor = NULL;
}
