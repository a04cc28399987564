/* mine_trainer.c: a trainer to copy: whole training in your own hands, here of multilayer perceptrons in plain C.
 *
 *   make && benchcnn train --plugin ./libmine_trainer.so --impl mine_trainer:mlp --net FILE --optimizer sgd
 *
 * What to change: the name, mine_trains() so that it lets through what you do and nothing else, and all between open
 * and close: how a step is made is your own affair. Here one image after the other goes through all layers. */
#include <cnn.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct value { /* one of the network's values, of one image; dy is d loss / dy */
    int64_t elems;
    float *y, *dy;
} value;

struct cnn_trainer {
    cnn_trainer_request asked; /* what it points to outlives us, but for the algorithm and the knobs */
    int64_t step;
    float *params, *grads; /* flat, as in cnn_net.params; the gaps are zero and stay so */
    value values[];        /* as many as the network has; the floats themselves stand behind them */
};

static float *param_at(const cnn_trainer *t, float *flat, const cnn_layer *layer, cnn_param_role role)
{
    const int p = layer->params[role];
    return p >= 0 ? flat + t->asked.net->params[p].offset : NULL; /* NULL: a layer without bias */
}

/* ---- One image ---- */

/* A NaN stays one, so that a training that diverges is seen. */
static float activate(cnn_act_kind act, float x)
{
    if (act == CNN_ACT_RELU) return x <= 0 ? 0 : x;
    if (act == CNN_ACT_SIGMOID) return 1 / (1 + expf(-x));
    return act == CNN_ACT_TANH ? tanhf(x) : x;
}

static float slope(cnn_act_kind act, float y) /* the derivative, from the output: x may have stood in its place */
{
    if (act == CNN_ACT_RELU) return y <= 0 ? 0 : 1;
    if (act == CNN_ACT_SIGMOID) return y * (1 - y);
    return act == CNN_ACT_TANH ? (1 - y) * (1 + y) : 1;
}

static void layer_forward(const cnn_trainer *t, const cnn_layer *layer)
{
    const value x = t->values[layer->inputs[0]], y = t->values[layer->output];
    const float *w = param_at(t, t->params, layer, CNN_WEIGHT), *b = param_at(t, t->params, layer, CNN_BIAS);
    for (int64_t k = 0; k < y.elems; k++) {
        if (layer->problem.op == CNN_OP_ACT) {
            y.y[k] = activate(layer->problem.u.act.kind, x.y[k]);
            continue;
        }
        float sum = b != NULL ? b[k] : 0;
        for (int64_t c = 0; c < x.elems; c++) sum += w[k * x.elems + c] * x.y[c];
        y.y[k] = sum;
    }
}

static void layer_backward(const cnn_trainer *t, const cnn_layer *layer) /* adds to the gradients of the batch */
{
    const value x = t->values[layer->inputs[0]], y = t->values[layer->output];
    const float *w = param_at(t, t->params, layer, CNN_WEIGHT);
    float *dw = param_at(t, t->grads, layer, CNN_WEIGHT), *db = param_at(t, t->grads, layer, CNN_BIAS);
    if (layer->problem.op == CNN_OP_FC) memset(x.dy, 0, (size_t)x.elems * sizeof *x.dy);
    for (int64_t k = 0; k < y.elems; k++) {
        const float d = y.dy[k];
        if (layer->problem.op == CNN_OP_ACT) {
            x.dy[k] = d * slope(layer->problem.u.act.kind, y.y[k]);
            continue;
        }
        if (db != NULL) db[k] += d;
        for (int64_t c = 0; c < x.elems; c++) dw[k * x.elems + c] += d * x.y[c];
        for (int64_t c = 0; c < x.elems; c++) x.dy[c] += d * w[k * x.elems + c];
    }
}

/* The loss, and scale * its derivative. Right: the largest score, the first one on a tie, is that of the label. */
static void judge(const cnn_trainer *t, value scores, int32_t label, float scale)
{
    const float *y = scores.y;
    double most = y[0], sum = 0;
    bool right = true;
    for (int64_t c = 0; c < scores.elems; c++) {
        most = y[c] > most ? y[c] : most;
        right = right && (c < label ? y[c] < y[label] : y[c] <= y[label]);
    }
    for (int64_t c = 0; c < scores.elems; c++) sum += exp(y[c] - most);
    for (int64_t c = 0; c < scores.elems; c++) scores.dy[c] = (float)(exp(y[c] - most) / sum - (c == label)) * scale;
    *t->asked.loss_sum += log(sum) - (y[label] - most);
    *t->asked.correct += right;
}

/* ---- Batches ---- */

static void batch(cnn_trainer *t, const cnn_images *images, int64_t first, int64_t mb, bool backward)
{
    const cnn_net *net = t->asked.net;
    const value image = t->values[0];
    const int last = net->n_layers - 1; /* the loss */
    if (backward) memset(t->grads, 0, (size_t)net->trained_elems * sizeof *t->grads);
    for (int64_t i = first; i < first + mb; i++) {
        const int64_t row = images->order != NULL ? images->order[i] : i;
        memcpy(image.y, (const float *)images->rows + row * image.elems, (size_t)image.elems * sizeof *image.y);
        for (int l = 0; l < last; l++) layer_forward(t, &net->layers[l]);
        judge(t, t->values[net->layers[last].inputs[0]], images->labels[row], 1 / (float)mb); /* of the mean */
        for (int l = last - 1; l >= 0 && backward; l--) layer_backward(t, &net->layers[l]);
    }
}

static cnn_status mine_train(cnn_context *context, cnn_trainer *t, const cnn_images *images, int64_t first,
                             int64_t count, cnn_error *err)
{
    const int64_t end = first + count, full = t->asked.net->batch; /* the last batch of a pass may be smaller */
    (void)context, (void)err;
    for (; first < end; first += full, t->step++) {
        batch(t, images, first, end - first < full ? end - first : full, true);
        for (int64_t i = 0; i < t->asked.net->trained_elems; i++)
            t->params[i] = (float)(t->params[i] - t->asked.optimizer->lr * t->grads[i]);
    }
    return CNN_OK;
}

static cnn_status mine_test(cnn_context *context, cnn_trainer *t, const cnn_images *images, int64_t first,
                            int64_t count, cnn_error *err)
{
    (void)context, (void)err;
    batch(t, images, first, count, false); /* sums over images: where a batch ends makes no difference */
    return CNN_OK;
}

static cnn_status mine_gradients(cnn_context *context, cnn_trainer *t, const cnn_images *images, int64_t first,
                                 int64_t count, cnn_error *err)
{
    (void)context, (void)err;
    batch(t, images, first, count, true);
    return CNN_OK;
}

/* ---- The state: SGD has none of its own, so state[0] and state[1] are NULL ---- */

static cnn_status mine_load(cnn_context *context, cnn_trainer *t, const cnn_train_state *from, cnn_error *err)
{
    (void)context, (void)err;
    memcpy(t->params, from->params, (size_t)t->asked.net->param_elems * sizeof *t->params);
    t->step = from->step;
    return CNN_OK;
}

static cnn_status mine_save(cnn_context *context, cnn_trainer *t, cnn_train_state *to, cnn_error *err)
{
    (void)context, (void)err;
    if (to->params != NULL) memcpy(to->params, t->params, (size_t)t->asked.net->param_elems * sizeof *t->params);
    if (to->grads != NULL) memcpy(to->grads, t->grads, (size_t)t->asked.net->trained_elems * sizeof *t->grads);
    to->step = t->step;
    return CNN_OK;
}

/* ---- What it does; opening and closing ---- */

static bool does_layer(const cnn_problem *p)
{
    const cnn_act_kind act = p->op == CNN_OP_ACT ? p->u.act.kind : CNN_ACT_COUNT;
    return p->op == CNN_OP_FC || act == CNN_ACT_IDENTITY || act == CNN_ACT_RELU || act == CNN_ACT_SIGMOID ||
           act == CNN_ACT_TANH || (p->op == CNN_OP_LOSS && p->u.loss.kind == CNN_LOSS_CROSS_ENTROPY);
}

/* The only gate: CNN_OK, or CNN_UNSUPPORTED and why. What it lets through must run, and be right. */
static cnn_status mine_trains(cnn_context *context, const cnn_trainer_request *request, cnn_error *err)
{
    const cnn_net *net = request->net;
    const cnn_optimizer_desc *o = request->optimizer;
    (void)context;
    if (net->type.dtype != CNN_F32 || net->type.weights != CNN_F32 || net->type.math != CNN_MATH_F32 ||
        net->type.layout != CNN_NCHW)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "mine_trainer computes in f32, in layout NCHW, only");
    if (o->kind != CNN_SGD || o->l1 != 0 || o->l2 != 0 || o->decay_steps > 0)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "mine_trainer does sgd, without l1, l2 and decay, only");
    if (request->shifts) return CNN_FAIL(err, CNN_UNSUPPORTED, "mine_trainer does not move images");
    for (int l = 0, end = 0; l < net->n_layers; end = net->layers[l++].output) /* a chain: each reads the one before */
        if (!does_layer(&net->layers[l].problem) || net->layers[l].inputs[0] != end)
            return CNN_FAIL(err, CNN_UNSUPPORTED,
                            "mine_trainer does chains of fc, relu, tanh, sigmoid, identity, with "
                            "softmax_cross_entropy, only: not layer %s",
                            net->layers[l].name);
    return CNN_OK;
}

static void mine_trainer_close(cnn_context *context, cnn_trainer *t)
{
    (void)context;
    free(t);
}

static int64_t elems_of(const cnn_value *v) { return v->c * v->h * v->w; }

/* All that is needed is allocated here, at once. */
static cnn_status mine_trainer_open(cnn_context *context, const cnn_trainer_request *request, cnn_trainer **trainer,
                                    cnn_trainer_facts *facts, cnn_error *err)
{
    const cnn_net *net = request->net;
    int64_t floats = net->param_elems + net->trained_elems;
    (void)context;
    for (int v = 0; v < net->n_values; v++) floats += 2 * elems_of(&net->values[v]);
    const size_t bytes = sizeof(cnn_trainer) + (size_t)net->n_values * sizeof(value) + (size_t)floats * sizeof(float);
    cnn_trainer *t = *trainer = calloc(1, bytes);
    if (t == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %zu bytes", bytes);
    t->asked = *request;
    t->params = (float *)&t->values[net->n_values];
    t->grads = t->params + net->param_elems;
    float *next = t->grads + net->trained_elems;
    for (int v = 0; v < net->n_values; v++) {
        const int64_t elems = elems_of(&net->values[v]);
        t->values[v] = (value){elems, next, next + elems};
        next += 2 * elems;
    }
    *facts = (cnn_trainer_facts){.bytes = bytes, .steps = 1};
    return CNN_OK;
}

/* ---- The implementation around it, which does no single operation: see mine.c ---- */

static cnn_status mine_open(const cnn_open_params *params, cnn_context **context, cnn_error *err)
{
    (void)params;
    *context = malloc(1); /* nothing is in it */
    return *context != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a context");
}

static void mine_close(cnn_context *context) { free(context); }

static cnn_status mine_supports(cnn_context *context, const cnn_request *request, cnn_error *err)
{
    (void)context, (void)request;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "mine_trainer trains, and does no single operation");
}

static const cnn_operations ops = {.struct_size = sizeof(cnn_operations)};
static const cnn_trainers trainers = {.supports = mine_trains,
                                      .open = mine_trainer_open,
                                      .close = mine_trainer_close,
                                      .load = mine_load,
                                      .save = mine_save,
                                      .train = mine_train,
                                      .test = mine_test,
                                      .gradients = mine_gradients};
static const cnn_algorithm algorithms[] = {
    {.name = "mlp", .doc = "one image after the other", .ops = CNN_TRAINS, .flags = CNN_ALGO_DETERMINISTIC},
};

static const cnn_impl impl = {
    .abi_version = CNN_ABI_VERSION,
    .struct_size = sizeof(cnn_impl),
    .name = "mine_trainer",
    .doc = "training of multilayer perceptrons, as plain as can be",
    .device_kind = CNN_DEVICE_CPU,
    .algorithms = algorithms,
    .n_algorithms = sizeof algorithms / sizeof algorithms[0],
    .open = mine_open,
    .close = mine_close,
    .supports = mine_supports,
    .ops = &ops,
    .trainers = &trainers,
};

const cnn_impl *cnn_plugin(void) { return &impl; }
