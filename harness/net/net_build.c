/* net_build.c: the builder: one pass over the text gives layers, values and parameters with their offsets. */
#include "../names.h"
#include "../shape.h"
#include "net_parse.h"

#include <stdlib.h>
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
    layer->problem.u.type = b->network->net.type;
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
    for (int i = 0; i < b->network->net.n_values; i++) {
        if (b->states[i].name[0] == '\0') continue;
        if (strcmp(b->states[i].name, name) == 0) return i;
        names[count++] = b->states[i].name;
    }
    const char *nearest = cnn_nearest_name(name, names, count);
    NET_FAIL(b->line, err, "nothing is saved as '%.64s'%s%s%s", name, nearest != NULL ? ": did you mean '" : "",
             nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    return -1;
}

/* The trained parameters first, then the running statistics, each one aligned. */
static cnn_status place_params(cnn_network *n, cnn_error *err)
{
    const int64_t unit = (int64_t)(CNN_ALIGN / cnn_dtype_size(n->net.type.dtype));
    int64_t offset = 0;
    for (int kept = 0; kept < 2; kept++) {
        for (int i = 0; i < n->net.n_params; i++) {
            cnn_param *p = &n->params[i];
            if ((p->role >= CNN_RUNNING_MEAN) != (kept == 1)) continue;
            if (p->count > INT64_MAX / 16 - offset)
                return CNN_FAIL(err, CNN_OVERFLOW, "%s: the number of parameters overflows", n->net.name);
            p->offset = offset;
            offset += (p->count + unit - 1) / unit * unit;
        }
        if (kept == 0) n->net.trained_elems = offset;
    }
    n->net.param_elems = offset;
    return CNN_OK;
}

static cnn_status read_lines(net_builder *b, const char *file, const char *text, cnn_error *err)
{
    net_line line;
    b->line = &line;
    for (int number = 1; *text != '\0'; number++) {
        cnn_status status = net_line_take(&text, file, number, &line, err);
        if (status != CNN_OK) return status;
        if (line.count == 0) continue;
        if (b->network->net.n_layers == NET_MAX_LAYERS)
            return NET_FAIL(&line, err, "more than %d layers", NET_MAX_LAYERS);
        const int before = b->network->net.n_layers;
        status = net_read_layer(b, err);
        cnn_error why;
        if (status == CNN_OK && b->network->net.n_layers > before &&
            cnn_problem_check(&b->network->layers[before].problem, &why) != CNN_OK)
            status = NET_FAIL(&line, err, "%s", why.message);
        if (status != CNN_OK) return status;
    }
    if (!b->finished)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: ends without a loss: expected softmax_cross_entropy last", file);
    return CNN_OK;
}

/* The file's name without folder and ending. */
static void name_net(cnn_net *net, const char *file)
{
    const char *base = strrchr(file, '/');
    base = base != NULL ? base + 1 : file;
    const size_t length = strlen(base),
                 stem = length > 4 && strcmp(base + length - 4, ".net") == 0 ? length - 4 : length;
    snprintf(net->name, sizeof net->name, "%.*s", (int)stem, base);
}

static cnn_network *new_network(const char *text)
{
    size_t lines = 1;
    for (const char *p = text; *p != '\0'; p++) lines += *p == '\n';
    cnn_network *n = calloc(1, sizeof *n);
    if (n == NULL) return NULL;
    n->layers = calloc(lines, sizeof *n->layers); /* no line makes more than one layer, one value, four parameters */
    n->values = calloc(lines, sizeof *n->values);
    n->params = calloc(4 * lines, sizeof *n->params);
    n->inits = calloc(lines, sizeof *n->inits);
    if (n->layers != NULL && n->values != NULL && n->params != NULL && n->inits != NULL) return n;
    cnn_net_free(n);
    return NULL;
}

cnn_status cnn_net_build(const char *file, const char *text, const cnn_type *type, int64_t batch, uint64_t seed,
                         cnn_network **network, cnn_error *err)
{
    *network = NULL;
    if (batch < 1) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "batch is %lld, but must be at least 1", (long long)batch);
    cnn_network *n = new_network(text);
    if (n == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%s: no memory for the network's layers", file);
    size_t lines = 1;
    for (const char *p = text; *p != '\0'; p++) lines += *p == '\n';
    net_builder b = {.network = n, .current = -1, .batch = batch, .states = calloc(lines, sizeof *b.states)};
    n->seed = seed;
    n->net.type = *type;
    n->net.batch = batch;
    n->net.layers = n->layers;
    n->net.values = n->values;
    n->net.params = n->params;
    name_net(&n->net, file);
    cnn_status status = b.states != NULL ? read_lines(&b, file, text, err)
                                         : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%s: no memory for its values", file);
    if (status == CNN_OK) status = place_params(n, err);
    free(b.states);
    if (status == CNN_OK)
        *network = n;
    else
        cnn_net_free(n);
    return status;
}

void cnn_net_free(cnn_network *network)
{
    if (network == NULL) return;
    free(network->layers);
    free(network->values);
    free(network->params);
    free(network->inits);
    free(network);
}

cnn_problem cnn_net_problem(const cnn_net *net, int layer, int64_t mb, bool inference)
{
    cnn_problem p = net->layers[layer].problem;
    switch (p.op) {
    case CNN_OP_CONV:
        p.u.conv.mb = mb;
        break;
    case CNN_OP_FC:
        p.u.fc.mb = mb;
        break;
    case CNN_OP_POOL:
        p.u.pool.mb = mb;
        break;
    case CNN_OP_ACT:
        p.u.act.mb = mb;
        break;
    case CNN_OP_LOSS:
        p.u.loss.mb = mb;
        break;
    case CNN_OP_ADD:
        p.u.add.mb = mb;
        break;
    case CNN_OP_CONCAT:
        p.u.concat.mb = mb;
        break;
    case CNN_OP_DROPOUT:
        p.u.dropout.mb = mb;
        p.u.dropout.inference = inference;
        break;
    case CNN_OP_BATCHNORM:
        p.u.batchnorm.mb = mb;
        p.u.batchnorm.inference = inference;
        break;
    case CNN_OP_OPTIMIZER:
    case CNN_OP_COUNT:
        break;
    }
    return p;
}

int64_t cnn_net_value_elems(const cnn_net *net, int value, int64_t mb)
{
    const cnn_value *v = &net->values[value];
    return mb * v->c * v->h * v->w;
}

int64_t cnn_net_trained_count(const cnn_net *net)
{
    int64_t count = 0;
    for (int i = 0; i < net->n_params; i++)
        if (net->params[i].role < CNN_RUNNING_MEAN) count += net->params[i].count;
    return count;
}
