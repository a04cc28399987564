/* layers.c: what follows from the network. */
#include "fused.h"

#include <stdlib.h>

static bool is_weighted(cnn_op op) { return op == CNN_OP_CONV || op == CNN_OP_FC; }

/* An image with few channels is gathered with the columns of the kernel as channels, or most lanes would be idle. */
static bool widens(const cnn_net *net, int l, const cnn_conv_desc *c)
{
    return net->layers[l].inputs[0] == 0 && c->g == 1 && c->ic < FUSED_QUAD;
}

/* An activation in place stands behind a layer with weights. Those that take a comparison or two are done there, and
 * their slopes in the layer behind if that has weights as well. */
static void take_in(fused_layer *act, fused_layer *before, fused_layer *behind)
{
    const cnn_act_desc *d = &act->problem->u.act;
    const bool plain = d->kind == CNN_ACT_IDENTITY;
    if (act->in != act->out) return;
    if (!plain && d->kind != CNN_ACT_RELU && d->kind != CNN_ACT_LEAKY_RELU && d->kind != CNN_ACT_CLIPPED_RELU) return;
    act->inside = true;
    before->f = plain ? NULL : d;
    act->slope_inside = plain || behind->op == CNN_OP_CONV;
    if (act->slope_inside) behind->slope = plain ? NULL : d;
}

/* The gradient takes a value's place where only a layer with weights reads it, whose weight gradient comes first. */
static void share_places(cnn_trainer *t)
{
    for (int l = 0; l < t->net->n_layers; l++) {
        const fused_layer *layer = &t->layers[l];
        if (layer->op == CNN_OP_CONV && !layer->late) t->shares[layer->in] = true;
    }
    for (int l = 0; l < t->net->n_layers; l++) {
        const fused_layer *layer = &t->layers[l];
        if (layer->op == CNN_OP_ACT && !layer->slope_inside) t->shares[layer->out] = false;
    }
}

/* Where the numbers of value 0 stand in a row of the data set. */
static cnn_status spread_make(cnn_trainer *t, cnn_error *err)
{
    const cnn_value *x = &t->net->values[0];
    const fused_conv *v = t->layers[0].conv.widened ? &t->layers[0].conv : NULL;
    const int64_t width = v != NULL ? v->plain.ow : x->w, deep = v != NULL ? v->plain.ic * v->plain.kw : x->c;
    const int64_t padded = fused_padded(deep);
    t->spread_elems = x->h * width * padded;
    const cnn_status status = fused_order_make(&t->spread, t->spread_elems, t->kern->lanes, err);
    if (status != CNN_OK) return status;
    for (int64_t i = 0; i < t->spread_elems; i++) {
        const int64_t k = i % padded, q = i / padded % width, h = i / padded / width, c = k % x->c;
        const int64_t w = v != NULL ? q * v->plain.sw - v->plain.pw + k / x->c * (v->plain.dw + 1) : q;
        if (k < deep && w >= 0 && w < x->w)
            t->spread.index[i] = (int32_t)cnn_offset(t->net->type.layout, x->c, x->h, x->w, 0, c, h, w);
    }
    fused_order_done(&t->spread, x->c * x->h * x->w);
    return CNN_OK;
}

static int64_t rounded(int64_t elems, int64_t by) { return cpu_ceil_div(elems, by) * by; }

/* Where parameters stand in the order of the kernels: a cache line, or a cut, for each array to begin with. */
static int64_t place(int64_t *behind, int64_t elems, int64_t by)
{
    const int64_t at = *behind;
    *behind += rounded(elems, by);
    return at;
}

static cnn_status conv_of(cnn_trainer *t, int l, cnn_error *err)
{
    const cnn_layer *from = &t->net->layers[l];
    const cnn_problem *p = &from->problem;
    fused_conv *v = &t->layers[l].conv;
    const cnn_conv_desc c = p->op == CNN_OP_FC ? cnn_fc_as_conv(&p->u.fc) : p->u.conv;
    cnn_status status = fused_conv_make(v, &c, widens(t->net, l, &c), t->kern, err);
    if (status != CNN_OK) return status;
    t->layers[l].late = fused_is_late(t, &t->layers[l]);
    v->w = t->net->params[from->params[0]].offset;
    v->b = c.bias ? t->net->params[from->params[1]].offset : -1;
    v->packed_b = c.bias ? place(&t->packed_elems, fused_padded(c.oc), FUSED_MAX_LANES) : -1;
    if (c.g > 1) t->masked = true;
    if (t->layers[l].late) {
        v->at_once = FUSED_MAX_IMAGES;
        return CNN_OK;
    }
    v->packed_w = place(&t->packed_elems, v->elems, FUSED_MAX_LANES);
    v->turned = place(&t->turned_elems, v->turned_elems, FUSED_MAX_LANES);
    return fused_turn_make(v, t->kern->lanes, err);
}

/* Weights that are late come behind all others. */
static void place_late(cnn_trainer *t)
{
    t->early_elems = t->packed_elems;
    for (int l = 0; l < t->net->n_layers; l++) {
        fused_conv *v = &t->layers[l].conv;
        if (!t->layers[l].late) continue;
        v->placed = rounded(v->elems, FUSED_CUT);
        v->packed_w = place(&t->packed_elems, v->elems, FUSED_CUT);
        v->turned = place(&t->late_turned_elems, v->turned_elems, FUSED_MAX_LANES);
    }
}

cnn_status fused_layers_make(cnn_trainer *t, cnn_error *err)
{
    const cnn_net *net = t->net;
    cnn_status status = CNN_OK;
    t->layers = calloc((size_t)net->n_layers, sizeof *t->layers);
    t->elems = calloc((size_t)net->n_values, sizeof *t->elems);
    t->shares = calloc((size_t)net->n_values, sizeof *t->shares);
    if (t->layers == NULL || t->elems == NULL || t->shares == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for trainer cpu:fused");
    t->masked = t->optimizer.eps == 0;
    for (int l = 0; l < net->n_layers && status == CNN_OK; l++) {
        const cnn_layer *from = &net->layers[l];
        t->layers[l] = (fused_layer){.op = is_weighted(from->problem.op) ? CNN_OP_CONV : from->problem.op,
                                     .in = from->inputs[0],
                                     .out = from->output,
                                     .problem = &from->problem};
        if (is_weighted(from->problem.op)) status = conv_of(t, l, err);
        if (from->problem.op == CNN_OP_ACT && from->problem.u.act.kind == CNN_ACT_SIGMOID) t->masked = true;
    }
    for (int l = 0; l < net->n_layers && status == CNN_OK; l++)
        if (t->layers[l].op == CNN_OP_ACT) take_in(&t->layers[l], &t->layers[l > 0 ? l - 1 : 0], &t->layers[l + 1]);
    if (status == CNN_OK) status = spread_make(t, err);
    if (status != CNN_OK) return status;
    place_late(t);
    share_places(t);
    for (int v = 0; v < net->n_values; v++)
        t->elems[v] = net->values[v].h * net->values[v].w * fused_padded(net->values[v].c);
    t->elems[0] = t->spread_elems;
    while (t->first < net->n_layers && net->layers[t->first].n_params == 0) t->first++;
    return CNN_OK;
}

void fused_layers_free(cnn_trainer *t)
{
    for (int l = 0; t->layers != NULL && l < t->net->n_layers; l++) fused_conv_free(&t->layers[l].conv);
    free(t->layers);
    free(t->elems);
    free(t->shares);
    fused_order_free(&t->spread);
}
