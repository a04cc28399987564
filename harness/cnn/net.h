/* cnn/net.h: a network as plain data. Part of cnn.h. */
#ifndef CNN_NET_H
#define CNN_NET_H

#include "desc.h"

typedef struct cnn_value {
    int64_t c, h, w; /* per image */
} cnn_value;

/* The running statistics are kept, not trained: they stand behind the trained ones. */
#define CNN_PARAM_LIST(X)                                                                                              \
    X(WEIGHT, "weight")                                                                                                \
    X(BIAS, "bias")                                                                                                    \
    X(GAMMA, "gamma")                                                                                                  \
    X(BETA, "beta")                                                                                                    \
    X(RUNNING_MEAN, "running_mean")                                                                                    \
    X(RUNNING_VAR, "running_var")
typedef enum cnn_param_role { CNN_PARAM_LIST(CNN_ID) CNN_PARAM_COUNT } cnn_param_role;

typedef struct cnn_param {
    cnn_param_role role;
    int layer;
    int64_t count, offset; /* elements; offset into the flat parameter vector, a multiple of CNN_ALIGN bytes */
    int64_t fan_in, fan_out;
} cnn_param;

/* inputs and output index cnn_net.values; value 0 is the images. params[i], i < n_params, indexes cnn_net.params;
 * they stand in the order of cnn_param_role, those that the layer has. In-place activations have output == inputs[0].
 */
typedef struct cnn_layer {
    char name[CNN_NAME_MAX];
    cnn_problem problem; /* at the network's batch size */
    int n_inputs, inputs[CNN_MAX_INPUTS], output;
    int n_params, params[4];
} cnn_layer;

/* Layers stand in the order of execution; the last one is the loss. */
typedef struct cnn_net {
    char name[CNN_NAME_MAX];
    cnn_type type;
    int64_t batch, classes;
    int n_layers, n_values, n_params;
    const cnn_layer *layers;
    const cnn_value *values;
    const cnn_param *params;
    int64_t param_elems;   /* the flat vector: trained parameters first, gaps for alignment included (always zero) */
    int64_t trained_elems; /* what the optimizer updates */
} cnn_net;

#endif
