/* A .net file: what is accepted has layers that are valid problems, and values and parameters that they point to. */
#include "target.h"

#include "harness/net/net.h"
#include "harness/problem/shape.h"

static void check_layer(const cnn_net *net, const cnn_layer *layer)
{
    cnn_error err;
    require(cnn_problem_check(&layer->problem, &err) == CNN_OK, "every layer is a valid problem");
    require(layer->output >= 0 && layer->output < net->n_values, "a layer's output is a value");
    for (int i = 0; i < layer->n_inputs; i++)
        require(layer->inputs[i] >= 0 && layer->inputs[i] < net->n_values, "a layer's inputs are values");
    for (int i = 0; i < layer->n_params; i++)
        require(layer->params[i] >= 0 && layer->params[i] < net->n_params, "a layer's parameters exist");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const cnn_type type = {CNN_F32, CNN_F32, CNN_NCHW, CNN_MATH_F32};
    cnn_network *network = NULL;
    cnn_error err = {.message = ""};
    char *text = text_make(data, size);
    const cnn_status status = cnn_net_build("input.net", text, &type, 4, 1, &network, &err);
    if (status == CNN_OK) {
        const cnn_net *net = &network->net;
        for (int i = 0; i < net->n_layers; i++) check_layer(net, &net->layers[i]);
        require(cnn_net_trained_count(net) <= net->trained_elems, "parameters fit the flat vector");
        cnn_net_free(network);
    } else {
        require_refusal(status, &err);
    }
    free(text);
    return 0;
}
