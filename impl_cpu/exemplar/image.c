/* image.c: one image through the network, by one worker. */
#include "exemplar.h"

#include "harness/cnn/shape.h"
#include "harness/cpu/gather.h"

void exemplar_take(const exemplar *t, exemplar_worker *w, const cnn_images *images, int64_t at)
{
    const cnn_value *x = &t->net->values[0];
    const int64_t row = x->c * x->h * x->w, from = images->order != NULL ? images->order[at] : at;
    const int32_t none = 0;
    const cnn_gather_args args = {.dtype = t->net->type.dtype,
                                  .count = 1,
                                  .row_elems = row,
                                  .rows = cpu_at_const(t->net->type.dtype, images->rows, from * row),
                                  .labels = images->labels + from,
                                  .index = &none,
                                  .y = w->value[0],
                                  .y_labels = &w->label,
                                  .shifts = images->shifts != NULL ? images->shifts + at : NULL,
                                  .planes = x->c,
                                  .h = x->h,
                                  .w = x->w,
                                  .pixel_elems = 1};
    cnn_gather_row(&args, 0);
}

/* ---- Layers */

static void *param(const exemplar *t, void *params, const cnn_layer *layer, int which)
{
    if (params == NULL || which >= layer->n_params) return NULL;
    return cpu_at(t->net->type.dtype, params, t->net->params[layer->params[which]].offset);
}

/* `params`: those that are used; `grads`: where gradients are added, or NULL. */
static exemplar_fc fc_of(const exemplar *t, const exemplar_worker *w, const cnn_layer *layer, void *params, void *grads)
{
    const cnn_fc_desc *d = &layer->problem.u.fc;
    const bool first = layer == &t->net->layers[t->first];
    return (exemplar_fc){.in = d->ic * d->ih * d->iw,
                         .out = d->oc,
                         .x = w->value[layer->inputs[0]],
                         .y = w->value[layer->output],
                         .dy = w->grad[layer->output],
                         .dx = first ? NULL : w->grad[layer->inputs[0]],
                         .w = param(t, params, layer, 0),
                         .b = param(t, params, layer, 1),
                         .dw = param(t, grads, layer, 0),
                         .db = param(t, grads, layer, 1)};
}

/* A layer without weights is the operation of impl_cpu that it is, on one image. */
static cnn_plan plan_of(const exemplar *t, int layer, cnn_dir dir)
{
    cnn_plan plan = {.problem = t->net->layers[layer].problem, .dir = dir};
    if (plan.problem.op == CNN_OP_ACT)
        plan.problem.u.act.mb = 1;
    else
        plan.problem.u.loss.mb = 1;
    return plan;
}

/* ---- Forward, with the loss */

static void judge(const exemplar *t, exemplar_worker *w)
{
    const int last = t->net->n_layers - 1;
    const cnn_layer *layer = &t->net->layers[last];
    const cnn_plan plan = plan_of(t, last, CNN_FWD);
    const cnn_loss_args args = {.x = w->value[layer->inputs[0]],
                                .labels = &w->label,
                                .y = w->value[layer->output],
                                .loss_sum = &w->loss,
                                .correct = &w->correct,
                                .workspace = w->loss_room};
    cnn_error ignored; /* here and below: none of these can fail */
    (void)cpu_loss_fwd((cnn_context *)&w->serial, &plan, &args, &ignored);
}

void exemplar_forward(const exemplar *t, exemplar_worker *w, void *params)
{
    cnn_error ignored;
    for (int l = 0; l < t->net->n_layers - 1; l++) {
        const cnn_layer *layer = &t->net->layers[l];
        const cnn_map_fwd_args args = {.x = w->value[layer->inputs[0]], .y = w->value[layer->output]};
        if (layer->problem.op == CNN_OP_FC) {
            exemplar_fc f = fc_of(t, w, layer, params, NULL);
            exemplar_fc_forward(t->cpu, t->net->type.dtype, &f);
        } else {
            const cnn_plan plan = plan_of(t, l, CNN_FWD);
            (void)cpu_act_fwd((cnn_context *)&w->serial, &plan, &args, &ignored);
        }
    }
    judge(t, w);
}

/* ---- Backward */

static void loss_backward(const exemplar *t, exemplar_worker *w, double scale)
{
    const int last = t->net->n_layers - 1;
    const cnn_layer *layer = &t->net->layers[last];
    const cnn_plan plan = plan_of(t, last, CNN_BWD_D);
    const cnn_loss_args args = {
        .labels = &w->label, .y = w->value[layer->output], .dx = w->grad[layer->inputs[0]], .scale = scale};
    cnn_error ignored;
    (void)cpu_loss_bwd((cnn_context *)&w->serial, &plan, &args, &ignored);
}

static void act_backward(const exemplar *t, exemplar_worker *w, int l)
{
    const cnn_layer *layer = &t->net->layers[l];
    const cnn_plan plan = plan_of(t, l, CNN_BWD_D);
    const cnn_map_bwd_args args = {.x = layer->inputs[0] == layer->output ? NULL : w->value[layer->inputs[0]],
                                   .y = w->value[layer->output],
                                   .dy = w->grad[layer->output],
                                   .dx = w->grad[layer->inputs[0]]};
    cnn_error ignored;
    (void)cpu_act_bwd((cnn_context *)&w->serial, &plan, &args, &ignored);
}

void exemplar_train(const exemplar *t, exemplar_worker *w, double lr)
{
    loss_backward(t, w, 1.0);
    for (int l = t->net->n_layers - 2; l >= t->first; l--) {
        if (t->net->layers[l].problem.op != CNN_OP_FC) {
            act_backward(t, w, l);
            continue;
        }
        exemplar_fc f = fc_of(t, w, &t->net->layers[l], w->params, NULL);
        f.lr = lr, f.l1 = t->optimizer.l1, f.l2 = t->optimizer.l2;
        exemplar_fc_train(t->cpu, t->net->type.dtype, &f);
    }
}

void exemplar_gradients(const exemplar *t, exemplar_worker *w, double scale)
{
    loss_backward(t, w, scale);
    for (int l = t->net->n_layers - 2; l >= t->first; l--) {
        if (t->net->layers[l].problem.op != CNN_OP_FC) {
            act_backward(t, w, l);
            continue;
        }
        exemplar_fc f = fc_of(t, w, &t->net->layers[l], t->params, t->grads);
        exemplar_fc_gradient(t->cpu, t->net->type.dtype, &f);
    }
}
