/* step.c: a whole training step of a chain of layers, of the honest operations. */
#include "cheat.h"

/* Of value v: its offset in the workspace, in floats; the gradients stand behind the last value. */
static int64_t value_at(const cnn_net *net, int v)
{
    int64_t at = 0;
    for (int i = 0; i < v; i++) {
        const cnn_value *p = &net->values[i % net->n_values];
        at += (net->batch * p->c * p->h * p->w + 15) / 16 * 16;
    }
    return at;
}

static cnn_status step_open(cnn_context *c, const cnn_net *net, const cnn_optimizer_desc *o, cnn_stepper **out,
                            size_t *bytes, cnn_error *err)
{
    for (int i = 0; i < net->n_layers; i++) {
        const cnn_status status = honest_supports(c, &(cnn_request){.problem = &net->layers[i].problem}, err);
        if (status != CNN_OK) return status;
        if (net->layers[i].n_inputs != 1) return CNN_FAIL(err, CNN_UNSUPPORTED, "only chains of layers");
    }
    *out = calloc(1, sizeof **out);
    if (*out == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a stepper");
    (*out)->net = net;
    (*out)->optimizer = *o;
    (*out)->optimizer.count = net->trained_elems;
    *bytes = (size_t)value_at(net, 2 * net->n_values) * sizeof(float);
    return CNN_OK;
}

static void step_close(cnn_context *c, cnn_stepper *s) { (void)c, free(s); }

static void step_layer(const cnn_net *net, const cnn_layer *l, cnn_dir dir, const cnn_step_args *a)
{
    float *all = a->workspace, *params = a->params, *grads = a->grads;
    const float *x = l->inputs[0] == 0 ? a->x : all + value_at(net, l->inputs[0]);
    float *y = all + value_at(net, l->output), *dy = all + value_at(net, l->output + net->n_values);
    float *dx = all + value_at(net, l->inputs[0] + net->n_values);
    const int64_t w = l->n_params > 0 ? net->params[l->params[0]].offset : 0;
    const bool bias = l->n_params > 1 && l->params[1] >= 0;
    const int64_t b = bias ? net->params[l->params[1]].offset : 0;
    const cnn_weighted_args wa = {.x = x,
                                  .w = params + w,
                                  .b = bias ? params + b : NULL,
                                  .dy = dy,
                                  .y = y,
                                  .dx = dx,
                                  .dw = grads + w,
                                  .db = bias ? grads + b : NULL};
    const cnn_loss_args la = {.x = x,
                              .labels = a->labels,
                              .y = y,
                              .dx = dx,
                              .loss_sum = a->loss_sum,
                              .correct = a->correct,
                              .scale = 1.0 / (double)a->mb};
    cnn_plan plan = {.problem = l->problem, .dir = dir};
    cnn_error err;
    switch (l->problem.op) { /* the last batch may be smaller */
    case CNN_OP_CONV:
        plan.problem.u.conv.mb = a->mb;
        break;
    case CNN_OP_FC:
        plan.problem.u.fc.mb = a->mb;
        break;
    case CNN_OP_ACT:
        plan.problem.u.act.mb = a->mb;
        break;
    case CNN_OP_DROPOUT:
        plan.problem.u.dropout.mb = a->mb;
        break;
    default:
        plan.problem.u.loss.mb = a->mb;
        break;
    }
    if (l->problem.op == CNN_OP_CONV || l->problem.op == CNN_OP_FC)
        honest_weighted(NULL, &plan, &wa, &err);
    else if (l->problem.op == CNN_OP_ACT && dir == CNN_FWD)
        honest_relu(&plan.problem.u.act, x, y);
    else if (l->problem.op == CNN_OP_ACT)
        honest_relu_bwd(&plan.problem.u.act, y, dy, dx);
    else if (l->problem.op == CNN_OP_DROPOUT)
        honest_drop(&plan.problem.u.dropout, dir == CNN_FWD ? x : dy, dir == CNN_FWD ? y : dx, *a->step);
    else if (dir == CNN_FWD)
        honest_loss_fwd(NULL, &plan, &la, &err);
    else
        honest_loss_bwd(NULL, &plan, &la, &err);
}

void step_parts(cnn_stepper *s, const cnn_step_args *a, int parts)
{
    const cnn_net *net = s->net;
    for (int i = 0; (parts & STEP_FORWARD) != 0 && i < net->n_layers; i++) step_layer(net, &net->layers[i], CNN_FWD, a);
    for (int i = net->n_layers; (parts & STEP_BACKWARD) != 0 && i-- > 0;) {
        const cnn_layer *l = &net->layers[i];
        if (l->n_params > 0) step_layer(net, l, CNN_BWD_W, a);
        if (l->inputs[0] != 0) step_layer(net, l, CNN_BWD_D, a);
    }
    if ((parts & STEP_UPDATE) != 0)
        honest_update(&s->optimizer, &(cnn_optimizer_args){.w = a->params, .grad = a->grads, .step = a->step});
}

cnn_status honest_step_run(cnn_context *c, cnn_stepper *s, const cnn_step_args *a, cnn_error *err)
{
    (void)c, (void)err;
    step_parts(s, a, STEP_ALL);
    return CNN_OK;
}

void trainer(tables *t, step_fn *f) { t->stepping = (cnn_stepping){step_open, f, step_close}; }
