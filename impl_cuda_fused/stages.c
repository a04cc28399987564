/* stages.c: from a network to stages. */
#include "impl_cuda_fused/fused.h"

#include <string.h>

static cnn_status refused(const cnn_net *net, const cnn_layer *layer, const char *why, cnn_error *err)
{
    return CNN_FAIL(err, CNN_UNSUPPORTED,
                    "cuda_fused trains chains of conv, fc, pooling, activations and dropout: "
                    "layer %s of network %s %s",
                    layer->name, net->name, why);
}

/* A stage without an operation of its own: pooling over one pixel. */
static fused_stage *new_stage(fused_net *n, const cnn_value *v)
{
    if (n->n_stages == FUSED_STAGES) return NULL;
    fused_stage *s = &n->stages[n->n_stages++];
    *s = (fused_stage){.op = FUSED_AVG, .ic = (int)v->c, .ih = (int)v->h, .iw = (int)v->w};
    s->oc = s->ic, s->oh = s->ih, s->ow = s->iw;
    s->kh = s->kw = s->sh = s->sw = s->dh = s->dw = 1;
    s->w = s->b = -1;
    return s;
}

static void take_conv(fused_stage *s, const cnn_conv_desc *c)
{
    s->op = FUSED_CONV;
    s->oc = (int)c->oc, s->oh = (int)c->oh, s->ow = (int)c->ow;
    s->kh = (int)c->kh, s->kw = (int)c->kw, s->sh = (int)c->sh, s->sw = (int)c->sw;
    s->ph = (int)c->ph, s->pw = (int)c->pw, s->dh = (int)c->dh + 1, s->dw = (int)c->dw + 1;
}

static void take_fc(fused_stage *s, const cnn_fc_desc *f)
{
    s->op = FUSED_CONV;
    s->oc = (int)f->oc, s->oh = s->ow = 1;
    s->kh = (int)f->ih, s->kw = (int)f->iw;
}

static void take_pool(fused_stage *s, const cnn_pool_desc *p)
{
    s->op = p->kind == CNN_POOL_MAX ? FUSED_MAX : p->kind == CNN_POOL_AVG_PAD ? FUSED_AVG_PAD : FUSED_AVG;
    s->oh = (int)p->oh, s->ow = (int)p->ow;
    s->kh = (int)p->kh, s->kw = (int)p->kw, s->sh = (int)p->sh, s->sw = (int)p->sw;
    s->ph = (int)p->ph, s->pw = (int)p->pw, s->dh = (int)p->dh + 1, s->dw = (int)p->dw + 1;
}

/* Whether y / (1 - rate) of the dropout behind it still says on which side of its kinks x was. */
static bool survives_dropout(int act) { return act == FUSED_IDENTITY || act == FUSED_RELU || act == FUSED_LEAKY; }

/* The stage that a pointwise layer joins, or one of its own. */
static fused_stage *pointwise_stage(fused_net *n, const cnn_value *v, bool dropout)
{
    fused_stage *s = n->n_stages > 0 ? &n->stages[n->n_stages - 1] : NULL;
    const bool joins = s != NULL && s->rate == 0 && (dropout ? survives_dropout(s->act) : s->act == FUSED_IDENTITY);
    return joins ? s : new_stage(n, v);
}

static const int acts[CNN_ACT_COUNT] = {[CNN_ACT_IDENTITY] = FUSED_IDENTITY, [CNN_ACT_RELU] = FUSED_RELU,
                                        [CNN_ACT_LEAKY_RELU] = FUSED_LEAKY,  [CNN_ACT_CLIPPED_RELU] = FUSED_CLIPPED,
                                        [CNN_ACT_ELU] = FUSED_ELU,           [CNN_ACT_SIGMOID] = FUSED_SIGMOID,
                                        [CNN_ACT_TANH] = FUSED_TANH};

static void take_params(const cnn_net *net, const cnn_layer *layer, fused_stage *s)
{
    for (int i = 0; i < layer->n_params; i++) {
        const cnn_param *p = &net->params[layer->params[i]];
        if (p->role == CNN_WEIGHT) s->w = (int)p->offset;
        if (p->role == CNN_BIAS) s->b = (int)p->offset;
    }
}

static cnn_status take_layer(const cnn_net *net, const cnn_layer *layer, fused_net *n, cnn_error *err)
{
    const cnn_problem *p = &layer->problem;
    const cnn_value *in = &net->values[layer->inputs[0]];
    const bool pointwise = p->op == CNN_OP_ACT || p->op == CNN_OP_DROPOUT;
    if (p->op == CNN_OP_ACT && p->u.act.kind != CNN_ACT_IDENTITY && acts[p->u.act.kind] == FUSED_IDENTITY)
        return refused(net, layer, "is an activation that it has not", err);
    if (p->op == CNN_OP_CONV && (p->u.conv.g != 1 || p->u.conv.flip))
        return refused(net, layer, p->u.conv.flip ? "flips its kernel" : "has groups", err);
    if (!pointwise && p->op != CNN_OP_CONV && p->op != CNN_OP_FC && p->op != CNN_OP_POOL)
        return refused(net, layer, "is something else", err);
    fused_stage *s = pointwise ? pointwise_stage(n, in, p->op == CNN_OP_DROPOUT) : new_stage(n, in);
    if (s == NULL) return refused(net, layer, "is one too many", err);
    if (p->op == CNN_OP_CONV) take_conv(s, &p->u.conv);
    if (p->op == CNN_OP_FC) take_fc(s, &p->u.fc);
    if (p->op == CNN_OP_POOL) take_pool(s, &p->u.pool);
    if (p->op == CNN_OP_ACT) s->act = acts[p->u.act.kind], s->alpha = (float)p->u.act.alpha;
    if (p->op == CNN_OP_DROPOUT) s->rate = p->u.dropout.rate, s->seed = p->u.dropout.seed;
    take_params(net, layer, s);
    return CNN_OK;
}

/* Numbers inside a kernel are int. */
static cnn_status check_sizes(const cnn_net *net, cnn_error *err)
{
    int64_t elems;
    for (int v = 0; v < net->n_values; v++)
        if (!cnn_mul4(net->values[v].c, net->values[v].h, net->values[v].w, 4, &elems) || elems > INT32_MAX)
            return CNN_FAIL(err, CNN_UNSUPPORTED,
                            "cuda_fused: an image's value of network %s has more elements than fit", net->name);
    if (net->param_elems > INT32_MAX)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "cuda_fused: network %s has %lld parameters, more than fit", net->name,
                        (long long)net->param_elems);
    return CNN_OK;
}

cnn_status fused_stages(const cnn_net *net, fused_net *n, cnn_error *err)
{
    const cnn_layer *last = &net->layers[net->n_layers - 1];
    cnn_status status = check_sizes(net, err);
    memset(n, 0, sizeof *n);
    n->params = net->param_elems;
    n->classes = (int)net->classes;
    n->loss = net->n_layers - 1;
    n->nhwc = net->type.layout == CNN_NHWC;
    n->quadratic = last->problem.u.loss.kind == CNN_LOSS_QUADRATIC;
    for (int l = 0; l < net->n_layers - 1 && status == CNN_OK; l++) {
        const cnn_layer *layer = &net->layers[l];
        const int stages = n->n_stages;
        status = layer->inputs[0] != (l > 0 ? net->layers[l - 1].output : 0)
                     ? refused(net, layer, "does not read the one before", err)
                     : take_layer(net, layer, n, err);
        if (n->n_stages > stages) n->layers[stages] = l;
    }
    if (status != CNN_OK) return status;
    if (last->problem.op == CNN_OP_LOSS && last->problem.u.loss.kind == CNN_LOSS_SOFTMAX_QUADRATIC)
        return refused(net, last, "is a loss that it has not", err);
    if (last->problem.op != CNN_OP_LOSS || n->n_stages == 0 || n->stages[n->n_stages - 1].rate > 0)
        return refused(net, last, "must be a loss, behind a layer that is no dropout", err);
    const fused_stage *s = n->stages;
    n->elems[0] = (int64_t)s->ic * s->ih * s->iw;
    for (int i = 0; i < n->n_stages; i++) n->elems[i + 1] = (int64_t)s[i].oc * s[i].oh * s[i].ow;
    if (n->elems[n->n_stages] != net->classes) return refused(net, last, "has more than one pixel a class", err);
    return CNN_OK;
}
