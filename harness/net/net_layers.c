/* net_layers.c: one line of a network's text -> one layer. A kind of layer is a function and a row of the table. */
#include "harness/problem/names.h"
#include "harness/problem/problem.h"
#include "harness/problem/shape.h"
#include "net_parse.h"

#include <string.h>

static cnn_status read_input(net_builder *b, cnn_error *err)
{
    static const char *const names[] = {"channels", "height", "width"};
    int64_t size[3];
    for (int i = 0; i < 3; i++) {
        const cnn_status status = net_word_int(b->line, names[i], b->line->words[1 + i], 1, &size[i], err);
        if (status != CNN_OK) return status;
    }
    b->current = net_add_value(b, size[0], size[1], size[2], CNN_OP_COUNT);
    return CNN_OK;
}

static cnn_status read_fc(net_builder *b, cnn_error *err)
{
    int64_t oc, bias = 1;
    const net_option options[] = {{.key = "bias", .integer = &bias}};
    cnn_status status = net_word_int(b->line, "outputs", b->line->words[1], 1, &oc, err);
    if (status == CNN_OK) status = net_read_options(b->line, 2, options, NET_COUNT(options), err);
    if (status != CNN_OK) return status;
    if (bias > 1) return NET_FAIL(b->line, err, "bias is %lld, but must be 0 or 1", (long long)bias);
    const cnn_value x = *net_current(b);
    int64_t weights;
    if (!cnn_mul4(oc, x.c, x.h, x.w, &weights))
        return NET_FAIL(b->line, err, "%lld outputs from %lld x %lld x %lld overflow", (long long)oc, (long long)x.c,
                        (long long)x.h, (long long)x.w);
    cnn_layer *layer = net_add_layer(b, CNN_OP_FC);
    cnn_fc_desc *d = &layer->problem.u.fc;
    *d = (cnn_fc_desc){.t = d->t, .mb = b->batch, .ic = x.c, .ih = x.h, .iw = x.w, .oc = oc, .bias = bias != 0};
    net_add_param(b, layer, CNN_WEIGHT, weights, x.c * x.h * x.w, oc);
    if (d->bias) net_add_param(b, layer, CNN_BIAS, oc, x.c * x.h * x.w, oc);
    net_add_output(b, layer, oc, 1, 1);
    return CNN_OK;
}

/* An activation overwrites its input where the layer before does not need its own output in the backward pass. */
static cnn_status read_act(net_builder *b, cnn_error *err)
{
    double alpha = cnn_act_default_alpha((cnn_act_kind)b->variant);
    if (b->line->count > 1) {
        const cnn_status status = net_word_real(b->line, b->line->words[0], b->line->words[1], &alpha, err);
        if (status != CNN_OK) return status;
        if (alpha < 0.0) return NET_FAIL(b->line, err, "%s %g: must not be negative", b->line->words[0], alpha);
    }
    const cnn_value x = *net_current(b);
    const net_value_state *state = &b->states[b->current];
    const bool recomputes = state->producer == CNN_OP_CONV || state->producer == CNN_OP_FC ||
                            state->producer == CNN_OP_BATCHNORM || state->producer == CNN_OP_ADD;
    cnn_layer *layer = net_add_layer(b, CNN_OP_ACT);
    cnn_act_desc *d = &layer->problem.u.act;
    *d = (cnn_act_desc){
        .t = d->t, .kind = (cnn_act_kind)b->variant, .alpha = alpha, .mb = b->batch, .ic = x.c, .ih = x.h, .iw = x.w};
    if (recomputes && !state->saved) {
        layer->output = b->current;
        b->states[b->current].producer = CNN_OP_ACT;
    } else {
        net_add_output(b, layer, x.c, x.h, x.w);
    }
    return CNN_OK;
}

static cnn_status read_dropout(net_builder *b, cnn_error *err)
{
    double rate;
    const cnn_status status = net_word_real(b->line, "the dropout rate", b->line->words[1], &rate, err);
    if (status != CNN_OK) return status;
    if (rate < 0.0 || rate >= 1.0)
        return NET_FAIL(b->line, err, "the dropout rate is %g, but must be at least 0 and below 1", rate);
    const cnn_value x = *net_current(b);
    cnn_layer *layer = net_add_layer(b, CNN_OP_DROPOUT);
    cnn_dropout_desc *d = &layer->problem.u.dropout;
    const uint64_t seed = b->network->seed + ((uint64_t)b->network->net.n_layers << 32);
    *d = (cnn_dropout_desc){.t = d->t, .rate = rate, .seed = seed, .mb = b->batch, .ic = x.c, .ih = x.h, .iw = x.w};
    net_add_output(b, layer, x.c, x.h, x.w);
    return CNN_OK;
}

static cnn_status read_batch_norm(net_builder *b, cnn_error *err)
{
    double eps = CNN_BATCHNORM_EPS, momentum = CNN_BATCHNORM_MOMENTUM;
    const net_option options[] = {{.key = "eps", .real = &eps}, {.key = "momentum", .real = &momentum}};
    const cnn_status status = net_read_options(b->line, 1, options, NET_COUNT(options), err);
    if (status != CNN_OK) return status;
    if (eps <= 0.0) return NET_FAIL(b->line, err, "eps is %g, but must be greater than 0", eps);
    if (momentum < 0.0 || momentum > 1.0)
        return NET_FAIL(b->line, err, "momentum is %g, but must be from 0 to 1", momentum);
    const cnn_value x = *net_current(b);
    cnn_layer *layer = net_add_layer(b, CNN_OP_BATCHNORM);
    cnn_batchnorm_desc *d = &layer->problem.u.batchnorm;
    *d = (cnn_batchnorm_desc){
        .t = d->t, .eps = eps, .momentum = momentum, .mb = b->batch, .ic = x.c, .ih = x.h, .iw = x.w};
    for (int role = CNN_GAMMA; role <= CNN_RUNNING_VAR; role++)
        net_add_param(b, layer, (cnn_param_role)role, x.c, 1, 1);
    net_add_output(b, layer, x.c, x.h, x.w);
    return CNN_OK;
}

static cnn_status read_save(net_builder *b, cnn_error *err)
{
    const char *name = b->line->words[1];
    net_value_state *state = &b->states[b->current];
    for (int i = 0; i < b->network->net.n_values; i++)
        if (!b->states[i].forgotten && strcmp(b->states[i].name, name) == 0)
            return NET_FAIL(b->line, err, "'%.64s' is already saved", name);
    if (state->name[0] != '\0' && !state->forgotten)
        return NET_FAIL(b->line, err, "this value is already saved, as '%s'", state->name);
    if (strlen(name) >= sizeof state->name) return NET_FAIL(b->line, err, "the name '%.64s...' is too long", name);
    snprintf(state->name, sizeof state->name, "%s", name);
    state->saved = true;
    state->forgotten = false;
    state->depth = b->repeats.depth;
    return CNN_OK;
}

/* What follows reads the saved value: the start of another branch. */
static cnn_status read_from(net_builder *b, cnn_error *err)
{
    const int saved = net_find_saved(b, b->line->words[1], err);
    if (saved < 0) return err->status;
    if (!b->states[b->current].saved)
        return NET_FAIL(b->line, err,
                        "nothing could read the value so far any more: save it before going back to '%.64s'",
                        b->line->words[1]);
    b->current = saved;
    return CNN_OK;
}

/* `add NAME` and `concat NAME`: the value so far first, then the saved one. */
static cnn_status read_join(net_builder *b, cnn_error *err)
{
    const bool add = b->variant == CNN_OP_ADD;
    const int other = net_find_saved(b, b->line->words[1], err);
    if (other < 0) return err->status;
    const cnn_value x = *net_current(b), y = b->network->values[other];
    if (x.h != y.h || x.w != y.w || (add && x.c != y.c))
        return NET_FAIL(b->line, err, "'%s' is %lld x %lld x %lld, but the value so far is %lld x %lld x %lld",
                        b->line->words[1], (long long)y.c, (long long)y.h, (long long)y.w, (long long)x.c,
                        (long long)x.h, (long long)x.w);
    cnn_layer *layer = net_add_layer(b, (cnn_op)b->variant);
    layer->n_inputs = 2;
    layer->inputs[1] = other;
    const cnn_type t = layer->problem.u.type;
    if (add) {
        layer->problem.u.add = (cnn_add_desc){.t = t, .mb = b->batch, .ic = x.c, .ih = x.h, .iw = x.w};
    } else {
        layer->problem.u.concat =
            (cnn_concat_desc){.t = t, .mb = b->batch, .ih = x.h, .iw = x.w, .n_inputs = 2, .ic = {x.c, y.c}};
    }
    net_add_output(b, layer, add ? x.c : x.c + y.c, x.h, x.w);
    return CNN_OK;
}

static cnn_status read_loss(net_builder *b, cnn_error *err)
{
    const cnn_value x = *net_current(b);
    if (x.h != 1 || x.w != 1)
        return NET_FAIL(b->line, err,
                        "the loss needs one number a class, but the value so far is %lld x %lld x %lld: "
                        "put an fc or a global_avg_pool before it",
                        (long long)x.c, (long long)x.h, (long long)x.w);
    cnn_layer *layer = net_add_layer(b, CNN_OP_LOSS);
    const cnn_type t = layer->problem.u.type;
    layer->problem.u.loss = (cnn_loss_desc){.t = t, .kind = (cnn_loss_kind)b->variant, .mb = b->batch, .ic = x.c};
    net_add_output(b, layer, x.c, 1, 1);
    b->network->net.classes = x.c;
    b->finished = true;
    return CNN_OK;
}

/* words: the least and the most that a line has, options included. */
static const struct layer_kind {
    const char *name, *usage;
    int min_words, max_words;
    net_layer_reader *read;
    int variant;
} kinds[] = {
    {"input", "input C H W", 4, 4, read_input, 0},
    {"conv", "conv OC kernel=K [stride=] [dilation=] [pad=] [groups=] [bias=]", 2, 8, net_read_conv, 0},
    {"fc", "fc N [bias=]", 2, 3, read_fc, 0},
    {"relu", "relu", 1, 1, read_act, CNN_ACT_RELU},
    {"leaky_relu", "leaky_relu [A]", 1, 2, read_act, CNN_ACT_LEAKY_RELU},
    {"clipped_relu", "clipped_relu [A]", 1, 2, read_act, CNN_ACT_CLIPPED_RELU},
    {"elu", "elu [A]", 1, 2, read_act, CNN_ACT_ELU},
    {"selu", "selu", 1, 1, read_act, CNN_ACT_SELU},
    {"scale", "scale A", 2, 2, read_act, CNN_ACT_SCALE},
    {"sigmoid", "sigmoid", 1, 1, read_act, CNN_ACT_SIGMOID},
    {"tanh", "tanh", 1, 1, read_act, CNN_ACT_TANH},
    {"identity", "identity", 1, 1, read_act, CNN_ACT_IDENTITY},
    {"max_pool", "max_pool kernel=K [stride=] [pad=]", 1, 4, net_read_pool, CNN_POOL_MAX},
    {"avg_pool", "avg_pool kernel=K [stride=] [pad=]", 1, 4, net_read_pool, CNN_POOL_AVG},
    {"global_avg_pool", "global_avg_pool", 1, 1, net_read_pool, CNN_POOL_GLOBAL_AVG},
    {"dropout", "dropout RATE", 2, 2, read_dropout, 0},
    {"batch_norm", "batch_norm [eps=] [momentum=]", 1, 3, read_batch_norm, 0},
    {"save", "save NAME", 2, 2, read_save, 0},
    {"from", "from NAME", 2, 2, read_from, 0},
    {"add", "add NAME", 2, 2, read_join, CNN_OP_ADD},
    {"concat", "concat NAME", 2, 2, read_join, CNN_OP_CONCAT},
    {"init", "init default|kaiming|kaiming_uniform|xavier|uniform A|uniform LOW HIGH [bias=]", 2, 5, net_read_init, 0},
    {"repeat", "repeat N", 2, 2, net_read_repeat, 0},
    {"end", "end", 1, 1, net_read_end, 0},
    {"softmax_cross_entropy", "softmax_cross_entropy", 1, 1, read_loss, CNN_LOSS_CROSS_ENTROPY},
    {"quadratic", "quadratic", 1, 1, read_loss, CNN_LOSS_QUADRATIC},
    {"softmax_quadratic", "softmax_quadratic", 1, 1, read_loss, CNN_LOSS_SOFTMAX_QUADRATIC},
};

static cnn_status unknown_kind(const net_line *line, cnn_error *err)
{
    const char *names[NET_COUNT(kinds)];
    for (int i = 0; i < NET_COUNT(kinds); i++) names[i] = kinds[i].name;
    const char *nearest = cnn_nearest_name(line->words[0], names, NET_COUNT(kinds));
    return NET_FAIL(line, err, "expected a layer, got '%.64s'%s%s%s", line->words[0],
                    nearest != NULL ? ": did you mean " : ", which is none", nearest != NULL ? nearest : "",
                    nearest != NULL ? "?" : "");
}

cnn_status net_read_layer(net_builder *b, cnn_error *err)
{
    const net_line *line = b->line;
    const struct layer_kind *kind = NULL;
    for (int i = 0; i < NET_COUNT(kinds); i++)
        if (strcmp(kinds[i].name, line->words[0]) == 0) kind = &kinds[i];
    if (kind == NULL) return unknown_kind(line, err);
    if (line->count < kind->min_words || line->count > kind->max_words)
        return NET_FAIL(line, err, "expected %s, got %d word%s after '%s'", kind->usage, line->count - 1,
                        line->count == 2 ? "" : "s", kind->name);
    if (b->finished && kind->read != net_read_end)
        return NET_FAIL(line, err, "'%s' after the loss, which must be last", kind->name);
    const bool input = kind->read == read_input;
    if (input && b->current >= 0) return NET_FAIL(line, err, "a second input");
    if (!input && b->current < 0 && kind->read != net_read_init)
        return NET_FAIL(line, err, "expected input C H W first, got '%s'", kind->name);
    b->variant = kind->variant;
    return kind->read(b, err);
}
