/* graph_call.c: making the backend API's descriptors, with cuDNN's own reason for each refusal. */
#include "impl_cudnn/graph.h"

cnn_status graph_check(cudnnStatus_t status, const char *what, cnn_error *err)
{
    if (status == CUDNN_STATUS_SUCCESS) return CNN_OK;
    char reason[CUDNN_REASON_MAX];
    cudnn_reason(reason);
    return CNN_FAIL(err, cudnn_status_of(status), "cuDNN refuses the %s: %s%s%s", what, cudnnGetErrorString(status),
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

cnn_status graph_read(cudnnBackendDescriptor_t from, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                      int64_t capacity, int64_t *count, void *values, cnn_error *err)
{
    char what[CNN_NAME_MAX];
    snprintf(what, sizeof what, "question for attribute %d", (int)name);
    return graph_check(cudnnBackendGetAttribute(from, name, type, capacity, count, values), what, err);
}

cnn_status graph_read_one(cudnnBackendDescriptor_t from, cudnnBackendAttributeName_t name,
                          cudnnBackendAttributeType_t type, void *value, cnn_error *err)
{
    int64_t count;
    return graph_read(from, name, type, 1, &count, value, err);
}

void graph_drop(cudnnBackendDescriptor_t *descriptor)
{
    if (*descriptor != NULL) cudnnBackendDestroyDescriptor(*descriptor);
    *descriptor = NULL;
}
