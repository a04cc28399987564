/* graph_call.c: making the backend API's descriptors, with cuDNN's own reason for each refusal. */
#include "impl_cudnn/graph_parts.h"

#include <stddef.h>

static cnn_status status_of(cudnnStatus_t status)
{
    if (status == CUDNN_STATUS_SUCCESS) return CNN_OK;
    if (status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
        status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED)
        return CNN_OUT_OF_MEMORY;
    const int category = CUDNN_STATUS_CATEGORY((int)status);
    if (category == CUDNN_STATUS_NOT_SUPPORTED || category == CUDNN_STATUS_BAD_PARAM) return CNN_UNSUPPORTED;
    return category == CUDNN_STATUS_EXECUTION_FAILED ? CNN_DEVICE : CNN_INTERNAL;
}

cnn_status graph_check(cudnnStatus_t status, const char *what, cnn_error *err)
{
    if (status == CUDNN_STATUS_SUCCESS) return CNN_OK;
    char reason[256] = "";
    cudnnGetLastErrorString(reason, sizeof reason);
    reason[sizeof reason - 1] = '\0';
    for (char *c = reason; *c != '\0'; c++) /* one sentence on one line */
        if (*c == '\n' || *c == '\r' || *c == '\t') *c = ' ';
    return CNN_FAIL(err, status_of(status), "cuDNN refuses the %s: %s%s%s", what, cudnnGetErrorString(status),
                    reason[0] != '\0' ? ": " : "", reason);
}

graph_maker graph_make(cudnnBackendDescriptorType_t type, const char *what, cnn_error *err)
{
    graph_maker maker = {.what = what, .err = err};
    maker.status = graph_check(cudnnBackendCreateDescriptor(type, &maker.made), what, err);
    if (maker.status != CNN_OK) maker.made = NULL;
    return maker;
}

void graph_set(graph_maker *maker, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
               const void *values)
{
    if (maker->status != CNN_OK) return;
    char what[CNN_NAME_MAX];
    const cudnnStatus_t status = cudnnBackendSetAttribute(maker->made, name, type, count, values);
    if (status == CUDNN_STATUS_SUCCESS) return;
    snprintf(what, sizeof what, "%s (attribute %d)", maker->what, (int)name);
    maker->status = graph_check(status, what, maker->err);
}

void graph_set_int64(graph_maker *maker, cudnnBackendAttributeName_t name, int64_t value)
{
    graph_set(maker, name, CUDNN_TYPE_INT64, 1, &value);
}

void graph_set_part(graph_maker *maker, cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t part)
{
    graph_set(maker, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &part);
}

cnn_status graph_finish(graph_maker *maker, cudnnBackendDescriptor_t *made)
{
    if (maker->status == CNN_OK)
        maker->status = graph_check(cudnnBackendFinalize(maker->made), maker->what, maker->err);
    if (maker->status != CNN_OK) graph_drop(&maker->made);
    *made = maker->made;
    return maker->status;
}

void graph_drop(cudnnBackendDescriptor_t *descriptor)
{
    if (*descriptor != NULL) cudnnBackendDestroyDescriptor(*descriptor);
    *descriptor = NULL;
}
