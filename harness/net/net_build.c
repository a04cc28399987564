/* net_build.c: text -> network: one pass over the lines gives layers, values and parameters, which then get their
 * offsets. */
#include "harness/base/text.h"
#include "harness/cnn/half.h"
#include "harness/problem/names.h"
#include "harness/problem/problem.h"
#include "harness/problem/shape.h"
#include "net_parse.h"

#include <stdlib.h>
#include <string.h>

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

/* A branch that ends in nothing would have no gradient. An activation in place does not use what it replaces. */
static cnn_status check_used(const net_builder *b, const char *file, cnn_error *err)
{
    const cnn_net *net = &b->network->net;
    for (int v = 0; v < net->n_values; v++) {
        bool used = v == net->layers[net->n_layers - 1].output;
        for (int l = 0; l < net->n_layers && !used; l++)
            for (int i = 0; i < net->layers[l].n_inputs; i++)
                used = used || (net->layers[l].inputs[i] == v && net->layers[l].output != v);
        if (!used)
            return CNN_FAIL(err, CNN_BAD_FORMAT,
                            "%s: nothing reads what is saved as '%s' and left by a `from`: add or concat it", file,
                            b->states[v].name);
    }
    return CNN_OK;
}

/* A line that is no comment. */
static cnn_status read_line(net_builder *b, cnn_error *err)
{
    const net_line *line = b->line;
    if (b->network->net.n_layers == NET_MAX_LAYERS) return NET_FAIL(line, err, "more than %d layers", NET_MAX_LAYERS);
    const int before = b->network->net.n_layers;
    cnn_status status = net_repeat_count(b, err);
    if (status == CNN_OK) status = net_read_layer(b, err);
    cnn_error why;
    if (status == CNN_OK && b->network->net.n_layers > before &&
        cnn_problem_check(&b->network->layers[before].problem, &why) != CNN_OK)
        status = NET_FAIL(line, err, "%s", why.message);
    return status;
}

/* `line`: room for one, which b->line shows to those who read it. */
static cnn_status read_lines(net_builder *b, net_line *line, const char *file, cnn_error *err)
{
    line->repeats = &b->repeats;
    while (*b->text != '\0') {
        cnn_status status = net_line_take(&b->text, file, b->number++, line, err);
        if (status == CNN_OK && line->count > 0) status = read_line(b, err);
        if (status != CNN_OK) return status;
    }
    const cnn_status status = net_repeat_finish(b, file, err);
    if (status != CNN_OK) return status;
    if (!b->finished)
        return CNN_FAIL(err, CNN_BAD_FORMAT,
                        "%s: ends without a loss: expected softmax_cross_entropy, quadratic or softmax_quadratic last",
                        file);
    return check_used(b, file, err);
}

/* The file's name without folder and ending. */
static void name_net(cnn_net *net, const char *file)
{
    const char *base = strrchr(file, '/');
    base = base != NULL ? base + 1 : file;
    const size_t length = strlen(base),
                 stem = length > 4 && strcmp(base + length - 4, ".net") == 0 ? length - 4 : length;
    char name[4 * CNN_NAME_MAX];
    snprintf(name, sizeof name, "%.*s", stem < sizeof name ? (int)stem : (int)sizeof name - 1, base);
    cnn_visible(name, net->name, sizeof net->name);
}

/* Lines that make something: no line makes more than one layer, one value, four parameters, and the input's makes a
 * value and no layer. */
enum { ROOM = NET_MAX_LAYERS + 1 };

static cnn_network *new_network(void)
{
    cnn_network *n = calloc(1, sizeof *n);
    if (n == NULL) return NULL;
    n->layers = calloc(ROOM, sizeof *n->layers);
    n->values = calloc(ROOM, sizeof *n->values);
    n->params = calloc((size_t)4 * ROOM, sizeof *n->params);
    n->inits = calloc(ROOM, sizeof *n->inits);
    if (n->layers != NULL && n->values != NULL && n->params != NULL && n->inits != NULL) return n;
    cnn_net_free(n);
    return NULL;
}

cnn_status cnn_net_build(const char *file, const char *text, const cnn_type *type, int64_t batch, uint64_t seed,
                         cnn_network **network, cnn_error *err)
{
    *network = NULL;
    if (batch < 1) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "batch is %lld, but must be at least 1", (long long)batch);
    if (type->dtype >= CNN_DTYPE_COUNT || cnn_is_joined(type->dtype))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "%s: a network in %s: its arrays are of one type, f32, f64, f16 or bf16",
                        file, cnn_dtype_name(type->dtype));
    cnn_network *n = new_network();
    if (n == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%s: no memory for the network's layers", file);
    net_line line;
    net_builder b = {.network = n,
                     .current = -1,
                     .batch = batch,
                     .states = calloc(ROOM, sizeof *b.states),
                     .line = &line,
                     .text = text,
                     .number = 1};
    n->seed = seed;
    n->net.type = cnn_type_for(CNN_OP_OPTIMIZER, *type);
    n->net.batch = batch;
    n->net.layers = n->layers;
    n->net.values = n->values;
    n->net.params = n->params;
    name_net(&n->net, file);
    cnn_status status = b.states != NULL ? read_lines(&b, &line, file, err)
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
    cnn_problem_set_batch(&p, mb);
    if (p.op == CNN_OP_DROPOUT) p.u.dropout.inference = inference;
    if (p.op == CNN_OP_BATCHNORM) p.u.batchnorm.inference = inference;
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
