/* step.c: one batch: gathered and packed, forward, loss, backward, update. */
#include "fused.h"
#include "impl_cpu/cpu.h"

/* ---- In and out of the packed layout ---- */

typedef struct pack_job {
    const cnn_trainer *t;
    direct_side side;
    float *tensor, *packed;
    bool out;
} pack_job;

static void pack_task(void *arg, int64_t block, int worker)
{
    const pack_job *p = arg;
    const direct_side *s = &p->side;
    const direct_part part = {.block = block, .c1 = s->c, .h1 = s->h, .rows = s->h};
    float *packed = p->packed + block * s->c * s->h * s->w * p->t->kern->lanes;
    (void)worker;
    if (p->out)
        p->t->kern->unpack(s, p->tensor, &part, packed, false);
    else
        p->t->kern->pack(s, p->tensor, &part, packed);
}

/* Between mb images of value `value` and its blocks; lanes that hold no image become zeros. */
static void pack(const cnn_trainer *t, int value, cnn_layout layout, int64_t mb, float *tensor, float *packed, bool out)
{
    const cnn_value *v = &t->net->values[value];
    pack_job p = {.t = t, .tensor = tensor, .packed = packed, .out = out};
    p.side = (direct_side){.layout = layout,
                           .n = mb,
                           .c = v->c,
                           .h = v->h,
                           .w = v->w,
                           .tiles_h = 1,
                           .tiles_w = 1,
                           .th = v->h,
                           .tw = v->w,
                           .step_h = v->h,
                           .step_w = v->w};
    parallel_for(t->cpu->pool, cpu_ceil_div(mb, t->kern->lanes), pack_task, &p);
}

static void gather(cnn_trainer *t, const cnn_images *images, int64_t first, int64_t mb)
{
    const cnn_value *x = &t->net->values[0];
    const bool planes = t->net->type.layout == CNN_NCHW, ordered = images->order != NULL;
    const int64_t row = x->c * x->h * x->w, from = ordered ? 0 : first;
    const cnn_gather_args args = {.dtype = CNN_F32,
                                  .count = mb,
                                  .row_elems = row,
                                  .rows = (const float *)images->rows + from * row,
                                  .labels = images->labels + from,
                                  .index = ordered ? images->order + first : t->plain,
                                  .y = t->images,
                                  .y_labels = t->labels,
                                  .shifts = images->shifts != NULL ? images->shifts + first : NULL,
                                  .planes = planes ? x->c : 1,
                                  .h = x->h,
                                  .w = x->w,
                                  .pixel_elems = planes ? 1 : x->c};
    cnn_error ignored; /* here and below: none of these can fail */
    (void)cpu_gather(t->context, &args, &ignored);
    pack(t, 0, t->net->type.layout, mb, t->images, t->value[0], false);
}

/* ---- Layers ---- */

/* A layer without weights, as the operation of impl_cpu that it is on packed blocks. */
static cnn_plan packed_plan(const cnn_trainer *t, const cnn_layer *layer, cnn_dir dir, int64_t blocks)
{
    cnn_plan plan = {.problem = layer->problem, .dir = dir};
    if (layer->problem.op == CNN_OP_ACT) {
        plan.problem.u.act.mb = blocks;
        plan.problem.u.act.iw *= t->kern->lanes;
    } else {
        cnn_pool_desc *d = &plan.problem.u.pool;
        d->t.layout = CNN_NHWC;
        d->mb = blocks * d->ic;
        d->ic = t->kern->lanes;
    }
    return plan;
}

static void forward(cnn_trainer *t, int l, int64_t blocks)
{
    const cnn_layer *layer = &t->net->layers[l];
    const cnn_map_fwd_args args = {.x = t->value[layer->inputs[0]], .y = t->value[layer->output]};
    const cnn_op op = layer->problem.op;
    cnn_error ignored;
    if (op == CNN_OP_CONV || op == CNN_OP_FC) {
        fused_weighted_gather(t, &t->weighted[l], true, args.x, args.y, blocks);
        return;
    }
    const cnn_plan plan = packed_plan(t, layer, CNN_FWD, blocks);
    (void)(op == CNN_OP_ACT ? cpu_act_fwd : cpu_pool_fwd)(t->context, &plan, &args, &ignored);
}

static void backward(cnn_trainer *t, int l, bool data, int64_t blocks)
{
    const cnn_layer *layer = &t->net->layers[l];
    const int in = layer->inputs[0], out = layer->output;
    const cnn_op op = layer->problem.op;
    cnn_error ignored;
    if (op == CNN_OP_CONV || op == CNN_OP_FC) {
        fused_weighted_weights(t, &t->weighted[l], t->value[in], t->grad[out], blocks);
        if (data) fused_weighted_gather(t, &t->weighted[l], false, t->grad[out], t->grad[in], blocks);
        return;
    }
    const cnn_plan plan = packed_plan(t, layer, CNN_BWD_D, blocks);
    const cnn_map_bwd_args args = {
        .x = in == out ? NULL : t->value[in], .y = t->value[out], .dy = t->grad[out], .dx = t->grad[in]};
    (void)(op == CNN_OP_ACT ? cpu_act_bwd : cpu_pool_bwd)(t->context, &plan, &args, &ignored);
}

/* The loss, on [mb][classes]; its gradient goes back into blocks. */
static void loss(cnn_trainer *t, int64_t mb, bool gradient)
{
    const cnn_layer *layer = &t->net->layers[t->net->n_layers - 1];
    const int in = layer->inputs[0];
    cnn_plan plan = {.problem = layer->problem, .dir = CNN_FWD};
    cnn_loss_args args = {.x = t->logits,
                          .labels = t->labels,
                          .y = t->logits,
                          .loss_sum = t->loss_sum,
                          .correct = t->correct,
                          .dx = t->dlogits,
                          .scale = 1.0 / (double)mb,
                          .workspace = t->loss_parts};
    cnn_error ignored;
    plan.problem.u.loss.mb = mb;
    pack(t, in, CNN_NHWC, mb, t->logits, t->value[in], true);
    (void)cpu_loss_fwd(t->context, &plan, &args, &ignored);
    if (!gradient) return;
    (void)cpu_loss_bwd(t->context, &plan, &args, &ignored);
    pack(t, in, CNN_NHWC, mb, t->dlogits, t->grad[in], false);
}

static void update(cnn_trainer *t)
{
    const cnn_optimizer_args args = {
        .w = t->params, .grad = t->grads, .state = {t->state[0], t->state[1]}, .step = &t->step};
    cnn_plan plan = {.problem.op = CNN_OP_OPTIMIZER};
    cnn_error ignored;
    plan.problem.u.optimizer = t->optimizer;
    (void)cpu_optimizer_step(t->context, &plan, &args, &ignored);
}

void fused_step(cnn_trainer *t, const cnn_images *images, int64_t first, int64_t mb, int parts)
{
    const int last = t->net->n_layers - 1;
    const int64_t blocks = cpu_ceil_div(mb, t->kern->lanes);
    gather(t, images, first, mb);
    for (int l = 0; l < last; l++) forward(t, l, blocks);
    loss(t, mb, parts & FUSED_BACKWARD);
    for (int l = last - 1; l >= t->first && parts & FUSED_BACKWARD; l--) backward(t, l, l > t->first, blocks);
    if (parts & FUSED_UPDATE) update(t);
}
