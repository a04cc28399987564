/* net_parts.c: adds a layer, a value or a parameter to the network that is being built, and finds saved values. */
#include "harness/problem/names.h"
#include "net_parse.h"

#include <string.h>

int net_add_value(net_builder *b, int64_t c, int64_t h, int64_t w, cnn_op producer)
{
    const int value = b->network->net.n_values++;
    b->network->values[value] = (cnn_value){c, h, w};
    b->states[value] = (net_value_state){.producer = producer};
    return value;
}

/* "conv2": the kind's word and how many of them there are so far. */
static void name_layer(const net_builder *b, cnn_layer *layer)
{
    const char *kind = b->line->words[0];
    const size_t length = strlen(kind);
    int count = 1;
    for (const cnn_layer *l = b->network->layers; l < layer; l++)
        count += strncmp(l->name, kind, length) == 0 && l->name[length] >= '0' && l->name[length] <= '9';
    snprintf(layer->name, sizeof layer->name, "%s%d", kind, count);
    snprintf(layer->problem.name, sizeof layer->problem.name, "%.40s_%.48s", b->network->net.name, layer->name);
}

cnn_layer *net_add_layer(net_builder *b, cnn_op op)
{
    const int index = b->network->net.n_layers++;
    cnn_layer *layer = &b->network->layers[index];
    layer->problem.op = op;
    layer->problem.u.type = cnn_type_for(op, b->network->net.type);
    layer->n_inputs = 1;
    layer->inputs[0] = b->current;
    for (int i = 0; i < 4; i++) layer->params[i] = -1;
    b->network->inits[index] = b->init;
    name_layer(b, layer);
    return layer;
}

void net_add_output(net_builder *b, cnn_layer *layer, int64_t c, int64_t h, int64_t w)
{
    layer->output = net_add_value(b, c, h, w, layer->problem.op);
    b->current = layer->output;
}

void net_add_param(net_builder *b, cnn_layer *layer, cnn_param_role role, int64_t count, int64_t fan_in,
                   int64_t fan_out)
{
    const int index = b->network->net.n_params++;
    b->network->params[index] = (cnn_param){
        .role = role, .layer = (int)(layer - b->network->layers), .count = count, .fan_in = fan_in, .fan_out = fan_out};
    layer->params[layer->n_params++] = index;
}

int net_find_saved(const net_builder *b, const char *name, cnn_error *err)
{
    const char *names[NET_MAX_LAYERS];
    int count = 0;
    bool forgotten = false;
    for (int i = 0; i < b->network->net.n_values; i++) {
        const net_value_state *state = &b->states[i];
        const bool same = strcmp(state->name, name) == 0;
        forgotten = forgotten || (same && state->forgotten);
        if (state->name[0] == '\0' || state->forgotten) continue;
        if (same) return i;
        names[count++] = state->name;
    }
    if (forgotten) {
        NET_FAIL(b->line, err, "'%.64s' was saved in a repeat, and each pass forgets at its end what it saved", name);
        return -1;
    }
    const char *nearest = cnn_nearest_name(name, names, count);
    NET_FAIL(b->line, err, "nothing is saved as '%.64s'%s%s%s", name, nearest != NULL ? ": did you mean '" : "",
             nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    return -1;
}
