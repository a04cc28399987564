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

/* Dimensions in the order of the memory, the last one first: cuDNN's own functions know no layout of five. */
cnn_status cudnn_tensor_open_deep(cudnn_context *context, const cnn_type *t, const int64_t sizes[5],
                                  cudnnTensorDescriptor_t *tensor, cnn_error *err)
{
    static const int channels_first[] = {4, 3, 2, 1, 0}, channels_last[] = {1, 4, 3, 2, 0};
    const int *order = t->layout == CNN_NHWC ? channels_last : channels_first;
    int dims[5], strides[5];
    int64_t count = 1;
    *tensor = NULL;
    for (int i = 0; i < 5; i++) {
        const int k = order[i];
        strides[k] = (int)count;
        if (!cnn_mul(count, sizes[k], &count) || count > INT_MAX)
            return CNN_FAIL(err, CNN_UNSUPPORTED, "a tensor has more elements than cuDNN's legacy calls can count (%d)",
                            INT_MAX);
        dims[k] = (int)sizes[k];
    }
    cnn_status status = CUDNN_CHECK(context, cudnnCreateTensorDescriptor(tensor), err);
    if (status != CNN_OK) return status;
    status =
        CUDNN_CHECK(context, cudnnSetTensorNdDescriptor(*tensor, cudnn_data_type(t->dtype), 5, dims, strides), err);
    if (status != CNN_OK) cudnn_tensor_close(tensor);
    return status;
}

void cudnn_tensor_close(cudnnTensorDescriptor_t *tensor)
{
    if (*tensor != NULL) (void)cudnnDestroyTensorDescriptor(*tensor);
    *tensor = NULL;
}
