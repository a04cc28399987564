/* graph_call.h: making the backend API's descriptors.
 *
 * Every object of that API is an opaque descriptor with attributes: it is made, filled, then finalized. A finalized one
 * no longer needs the descriptors that it was made from. */
#ifndef IMPL_CUDNN_GRAPH_CALL_H
#define IMPL_CUDNN_GRAPH_CALL_H

#include "impl_cudnn/context.h"

#include <cudnn_graph.h>

/* CNN_OK, or cuDNN's status and its own reason behind `what`, the step that failed: CNN_UNSUPPORTED where cuDNN refuses
 * the problem, CNN_OUT_OF_MEMORY, CNN_DEVICE. */
cnn_status graph_check(cudnnStatus_t status, const char *what, cnn_error *err);

/* A descriptor being made. The first failure stays in `status`; what follows it is passed over. */
typedef struct graph_maker {
    cudnnBackendDescriptor_t made;
    const char *what;
    cnn_status status;
    cnn_error *err;
} graph_maker;

graph_maker graph_make(cudnnBackendDescriptorType_t type, const char *what, cnn_error *err);
void graph_set(graph_maker *maker, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
               const void *values);
void graph_set_int64(graph_maker *maker, cudnnBackendAttributeName_t name, int64_t value);
void graph_set_part(graph_maker *maker, cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t part);
/* Finalizes: *made is the descriptor, or NULL on failure. */
cnn_status graph_finish(graph_maker *maker, cudnnBackendDescriptor_t *made);
void graph_drop(cudnnBackendDescriptor_t *descriptor); /* NULL is fine, and becomes so */

#endif
