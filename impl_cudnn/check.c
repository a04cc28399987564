/* check.c: what a cuDNN status means for us, and tensors' descriptors, which nearly every call needs. */
#include "impl_cudnn/cudnn.h"

#include "harness/shape.h"

#include <limits.h>
#include <string.h>

static cnn_status status_of(cudnnStatus_t status)
{
    if (status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
        status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED)
        return CNN_OUT_OF_MEMORY;
    const int category = CUDNN_STATUS_CATEGORY((int)status);
    if (category == CUDNN_STATUS_NOT_SUPPORTED || category == CUDNN_STATUS_BAD_PARAM) return CNN_UNSUPPORTED;
    return category == CUDNN_STATUS_EXECUTION_FAILED ? CNN_DEVICE : CNN_INTERNAL;
}

/* cuDNN's own reason, on one line; "" when it gives none. */
static void read_reason(char *reason, size_t size)
{
    reason[0] = '\0';
    cudnnGetLastErrorString(reason, size);
    reason[size - 1] = '\0';
    for (char *c = reason; *c != '\0'; c++)
        if (*c == '\n' || *c == '\r' || *c == '\t') *c = ' ';
}

cnn_status cudnn_check(cudnn_context *context, cudnnStatus_t status, const char *call, const char *file, int line,
                       cnn_error *err)
{
    char reason[256];
    if (status == CUDNN_STATUS_SUCCESS && !context->cuda.dead) return CNN_OK;
    /* cuDNN hides the CUDA error that made an execution fail; a sticky one must still kill the context. */
    if (context->cuda.dead || CUDNN_STATUS_CATEGORY((int)status) == CUDNN_STATUS_EXECUTION_FAILED) {
        const cnn_status cuda = cuda_check(&context->cuda, cudaGetLastError(), call, file, line, err);
        if (cuda != CNN_OK) return cuda;
    }
    read_reason(reason, sizeof reason);
    return cnn_error_set(err, status_of(status), file, line, "%.*s: %s%s%s", (int)strcspn(call, "("), call,
                         cudnnGetErrorString(status), reason[0] != '\0' ? ": " : "", reason);
}

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
