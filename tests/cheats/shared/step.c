/* step.c: a trainer of a chain of layers, made of the honest operations. */
#include "cheat.h"

/* Of value v: its offset in floats; the gradients stand behind the last value. */
static int64_t value_at(const cnn_net *net, int v)
{
    int64_t at = 0;
    for (int i = 0; i < v; i++) {
        const cnn_value *p = &net->values[i % net->n_values];
        at += (net->batch * p->c * p->h * p->w + 15) / 16 * 16;
    }
    return at;
}

/* ---- Opening, the state. */
static cnn_status chain_supports(cnn_context *c, const cnn_trainer_request *r, cnn_error *err)
{
    const cnn_problem update = {.op = CNN_OP_OPTIMIZER, .u.optimizer = *r->optimizer};
    cnn_status status = honest_supports(c, &(cnn_request){.problem = &update}, err);
    for (int i = 0; i < r->net->n_layers && status == CNN_OK; i++) {
        const cnn_layer *l = &r->net->layers[i];
        status = l->n_inputs == 1 ? honest_supports(c, &(cnn_request){.problem = &l->problem}, err)
                                  : CNN_FAIL(err, CNN_UNSUPPORTED, "only chains of layers");
    }
    if (status != CNN_OK || !r->shifts) return status;
    return CNN_FAIL(err, CNN_UNSUPPORTED, "it takes images as they are, and moves none");
}

static cnn_status chain_open(cnn_context *c, const cnn_trainer_request *r, cnn_trainer **out, cnn_trainer_facts *facts,
                             cnn_error *err)
{
    const cnn_net *net = r->net;
    const int64_t values = value_at(net, 2 * net->n_values);
    const size_t bytes = (size_t)(values + net->param_elems + net->trained_elems + net->batch) * sizeof(float);
    cnn_trainer *t = calloc(1, sizeof *t + bytes);
    if (t == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a trainer");
    t->net = net;
    t->optimizer = r->optimizer;
    t->loss_sum = r->loss_sum;
    t->correct = r->correct;
    t->values = (float *)(t + 1);
    t->params = t->values + values;
    t->grads = t->params + net->param_elems;
    t->labels = (int32_t *)(t->grads + net->trained_elems);
    *out = t;
    *facts = (cnn_trainer_facts){.bytes = bytes, .steps = 1};
    return CNN_OK;
}

static void chain_close(cnn_context *c, cnn_trainer *t) { free(t); }

/* SGD has no state. */
static cnn_status chain_load(cnn_context *c, cnn_trainer *t, const cnn_train_state *s, cnn_error *err)
{
    memcpy(t->params, s->params, (size_t)t->net->param_elems * sizeof *t->params);
    t->step = s->step;
    return CNN_OK;
}

static cnn_status chain_save(cnn_context *c, cnn_trainer *t, cnn_train_state *s, cnn_error *err)
{
    if (s->params != NULL) memcpy(s->params, t->params, (size_t)t->net->param_elems * sizeof *t->params);
    if (s->grads != NULL) memcpy(s->grads, t->grads, (size_t)t->net->trained_elems * sizeof *t->grads);
    s->step = t->step;
    return CNN_OK;
}

/* ---- Steps. */
static cnn_problem problem_of(const cnn_layer *l, int64_t mb, bool inference)
{
    cnn_problem p = l->problem;
    switch (p.op) { /* the last batch may be smaller */
    case CNN_OP_CONV:
        p.u.conv.mb = mb;
        break;
    case CNN_OP_FC:
        p.u.fc.mb = mb;
        break;
    case CNN_OP_ACT:
        p.u.act.mb = mb;
        break;
    case CNN_OP_DROPOUT:
        p.u.dropout.mb = mb;
        p.u.dropout.inference = inference;
        break;
    default:
        p.u.loss.mb = mb;
        break;
    }
    return p;
}

static void step_layer(cnn_trainer *t, const cnn_layer *l, cnn_dir dir, int64_t mb, bool inference)
{
    const cnn_net *net = t->net;
    const cnn_plan plan = {.problem = problem_of(l, mb, inference), .dir = dir};
    float *x = t->values + value_at(net, l->inputs[0]), *dx = t->values + value_at(net, l->inputs[0] + net->n_values);
    float *y = t->values + value_at(net, l->output), *dy = t->values + value_at(net, l->output + net->n_values);
    const int64_t w = l->n_params > 0 ? net->params[l->params[0]].offset : 0;
    const bool bias = l->n_params > 1 && l->params[1] >= 0;
    const int64_t b = bias ? net->params[l->params[1]].offset : 0;
    const cnn_weighted_args wa = {.x = x,
                                  .w = t->params + w,
                                  .b = bias ? t->params + b : NULL,
                                  .dy = dy,
                                  .y = y,
                                  .dx = dx,
                                  .dw = t->grads + w,
                                  .db = bias ? t->grads + b : NULL};
    const cnn_loss_args la = {.x = x,
                              .labels = t->labels,
                              .y = y,
                              .dx = dx,
                              .loss_sum = t->loss_sum,
                              .correct = t->correct,
                              .scale = 1.0 / (double)mb};
    cnn_error err;
    if (l->problem.op == CNN_OP_CONV || l->problem.op == CNN_OP_FC)
        honest_weighted(NULL, &plan, &wa, &err);
    else if (l->problem.op == CNN_OP_ACT && dir == CNN_FWD)
        honest_relu(&plan.problem.u.act, x, y);
    else if (l->problem.op == CNN_OP_ACT)
        honest_relu_bwd(&plan.problem.u.act, y, dy, dx);
    else if (l->problem.op == CNN_OP_DROPOUT)
        honest_drop(&plan.problem.u.dropout, dir == CNN_FWD ? x : dy, dir == CNN_FWD ? y : dx, t->step);
    else if (dir == CNN_FWD)
        honest_loss_fwd(NULL, &plan, &la, &err);
    else
        honest_loss_bwd(NULL, &plan, &la, &err);
}

void step_parts(cnn_trainer *t, int64_t mb, int parts)
{
    const cnn_net *net = t->net;
    for (int i = 0; (parts & (STEP_FORWARD | STEP_INFERENCE)) != 0 && i < net->n_layers; i++)
        step_layer(t, &net->layers[i], CNN_FWD, mb, (parts & STEP_INFERENCE) != 0);
    for (int i = net->n_layers; (parts & STEP_BACKWARD) != 0 && i-- > 0;) {
        const cnn_layer *l = &net->layers[i];
        if (l->n_params > 0) step_layer(t, l, CNN_BWD_W, mb, false);
        if (l->inputs[0] != 0) step_layer(t, l, CNN_BWD_D, mb, false);
    }
    if ((parts & STEP_UPDATE) != 0)
        honest_update(t->optimizer, &(cnn_optimizer_args){.w = t->params, .grad = t->grads, .step = &t->step});
}

void honest_step(cnn_trainer *t, int64_t mb) { step_parts(t, mb, STEP_FORWARD | STEP_BACKWARD | STEP_UPDATE); }
static void honest_test(cnn_trainer *t, int64_t mb) { step_parts(t, mb, STEP_INFERENCE); }
static void honest_gradients(cnn_trainer *t, int64_t mb) { step_parts(t, mb, STEP_FORWARD | STEP_BACKWARD); }

/* ---- Passes. */
static cnn_status pass(cnn_trainer *t, step_fn *step, const cnn_images *images, int64_t first, int64_t count)
{
    const int64_t batch = t->net->batch, end = first + count;
    const cnn_value *v = &t->net->values[0];
    const size_t row = (size_t)(v->c * v->h * v->w);
    for (int64_t at = first; at < end; at += batch) {
        const int64_t mb = end - at < batch ? end - at : batch;
        for (int64_t i = 0; i < mb; i++) {
            const int64_t from = images->order != NULL ? images->order[at + i] : at + i;
            memcpy(t->values + (size_t)i * row, (const float *)images->rows + (size_t)from * row, row * sizeof(float));
            t->labels[i] = images->labels[from];
        }
        step(t, mb);
    }
    return CNN_OK;
}

static step_fn *own_step; /* what the plug-in does to train */

static cnn_status chain_train(cnn_context *c, cnn_trainer *t, const cnn_images *images, int64_t first, int64_t count,
                              cnn_error *err)
{
    return pass(t, own_step, images, first, count);
}

static cnn_status chain_test(cnn_context *c, cnn_trainer *t, const cnn_images *images, int64_t first, int64_t count,
                             cnn_error *err)
{
    return pass(t, honest_test, images, first, count);
}

static cnn_status chain_gradients(cnn_context *c, cnn_trainer *t, const cnn_images *images, int64_t first,
                                  int64_t count, cnn_error *err)
{
    return pass(t, honest_gradients, images, first, count);
}

void trainer(tables *t, step_fn *f)
{
    static cnn_algorithm rows[2];
    rows[0] = honest_algorithms[0];
    rows[1] = (cnn_algorithm){.name = "steps", .doc = "a chain of layers, step by step", .ops = CNN_TRAINS};
    own_step = f;
    t->impl.algorithms = rows;
    t->impl.n_algorithms = 2;
    t->trainers = (cnn_trainers){.supports = chain_supports,
                                 .open = chain_open,
                                 .close = chain_close,
                                 .load = chain_load,
                                 .save = chain_save,
                                 .train = chain_train,
                                 .test = chain_test,
                                 .gradients = chain_gradients};
}
