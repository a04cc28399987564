/* chunk.c: a chunk of images, by one worker: forward, loss, backward. */
#include "fused.h"

#include <string.h>

/* ---- Layers. */

static void conv_forward(const cnn_trainer *t, const fused_worker *w, const fused_layer *layer, int64_t n)
{
    const fused_conv *v = &layer->conv;
    const fused_gather_run run = {.in = w->value[layer->in],
                                  .w = t->params + v->packed_w,
                                  .bias = v->b >= 0 ? t->params + v->packed_b : NULL,
                                  .out = w->value[layer->out],
                                  .in_image = t->elems[layer->in],
                                  .out_image = t->elems[layer->out],
                                  .images = n,
                                  .end = layer->f != NULL ? FUSED_F : FUSED_PLAIN,
                                  .act = layer->f != NULL ? layer->f->kind : CNN_ACT_IDENTITY,
                                  .alpha = layer->f != NULL ? (float)layer->f->alpha : 0};
    t->kern->gather(&v->forward, &run);
}

static void conv_data(const cnn_trainer *t, const fused_worker *w, const fused_layer *layer, int64_t n)
{
    const fused_conv *v = &layer->conv;
    const fused_gather_run run = {.in = w->grad[layer->out],
                                  .w = (layer->late ? t->turned : w->turned) + v->turned,
                                  .out = w->grad[layer->in],
                                  .in_image = t->elems[layer->out],
                                  .out_image = t->elems[layer->in],
                                  .images = n,
                                  .end = layer->slope != NULL ? FUSED_SLOPE : FUSED_PLAIN,
                                  .act = layer->slope != NULL ? layer->slope->kind : CNN_ACT_IDENTITY,
                                  .alpha = layer->slope != NULL ? (float)layer->slope->alpha : 0};
    /* The slope is that of what stands in the gradient's place. */
    if (layer->slope != NULL && !t->shares[layer->in])
        memcpy(run.out, w->value[layer->in], (size_t)(n * run.out_image) * sizeof(float));
    t->kern->gather(&v->backward, &run);
}

/* Images [a, b) of the chunk, whose gradients `leaf` gets: a few at a time, for their pixels are read once a tap. */
static void conv_weights(const cnn_trainer *t, const fused_worker *w, const fused_layer *layer, const fused_leaf *leaf,
                         int64_t a, int64_t b)
{
    const fused_conv *v = &layer->conv;
    const int64_t parts = cpu_ceil_div(b - a, v->at_once), x = t->elems[layer->in], dy = t->elems[layer->out];
    float *slot = t->slots + leaf->slot * t->early_elems;
    if (layer->late) fused_late_keep(t, w, layer, leaf, a, b);
    for (int64_t i = 0; i < parts; i++) {
        const int64_t first = a + (b - a) * i / parts, end = a + (b - a) * (i + 1) / parts;
        const bool last = i == parts - 1, together = v->outer.whole;
        const float *bias_from = i > 0 ? w->scratch + v->elems : NULL;
        float *bias_to = last ? slot + v->packed_b : w->scratch + v->elems;
        const fused_outer_run run = {.x = w->value[layer->in] + first * x,
                                     .dy = w->grad[layer->out] + first * dy,
                                     .from = i > 0 ? w->scratch : NULL,
                                     .to = last ? slot + v->packed_w : w->scratch,
                                     .bias_from = bias_from,
                                     .bias = v->b >= 0 && together ? bias_to : NULL,
                                     .x_image = x,
                                     .dy_image = dy,
                                     .images = end - first,
                                     .add = last && leaf->add};
        const fused_bias_run bias = {.dy = run.dy,
                                     .from = bias_from,
                                     .to = bias_to,
                                     .channels = fused_padded(v->c.oc),
                                     .pixels = v->c.oh * v->c.ow,
                                     .image = dy,
                                     .images = run.images,
                                     .add = run.add};
        if (!layer->late) t->kern->outer(&v->outer, &run);
        if (v->b >= 0 && !together) t->kern->bias(&bias);
    }
}

/* A layer without weights is the operation of impl_cpu that it is on pixels of channels. */
static cnn_plan plan_of(const cnn_trainer *t, const fused_layer *layer, cnn_dir dir, int64_t n)
{
    cnn_plan plan = {.problem = *layer->problem, .dir = dir};
    if (layer->op == CNN_OP_ACT) {
        cnn_act_desc *d = &plan.problem.u.act;
        d->mb = n;
        d->ic = t->elems[layer->in];
        d->ih = d->iw = 1;
    } else {
        cnn_pool_desc *d = &plan.problem.u.pool;
        d->t.layout = CNN_NHWC;
        d->mb = n;
        d->ic = fused_padded(d->ic);
    }
    return plan;
}

void fused_forward(const cnn_trainer *t, fused_worker *w, const cnn_images *images, int64_t first, int64_t n,
                   int64_t next)
{
    cnn_error ignored; /* here and below: none of these can fail */
    fused_images_take(t, w, images, first, n, next);
    fused_lap(w, FUSED_LAP_IMAGES);
    for (int l = 0; l < t->net->n_layers - 1; l++) {
        const fused_layer *layer = &t->layers[l];
        const cnn_map_fwd_args args = {.x = w->value[layer->in], .y = w->value[layer->out]};
        if (layer->op == CNN_OP_CONV) {
            conv_forward(t, w, layer, n);
        } else if (layer->op == CNN_OP_DROPOUT) {
            fused_drop_run(t, w, layer, CNN_FWD, n);
        } else if (!layer->inside) {
            const cnn_plan plan = plan_of(t, layer, CNN_FWD, n);
            (void)(layer->op == CNN_OP_ACT ? cpu_act_fwd : cpu_pool_fwd)((cnn_context *)&w->serial, &plan, &args,
                                                                         &ignored);
        }
        fused_image_fetch(t, w);
        if (!layer->inside) fused_lap_of(w, l, CNN_FWD);
    }
}

/* ---- Loss: of [image][class], without the rounding up of channels. */

fused_part fused_loss(const cnn_trainer *t, fused_worker *w, int64_t a, int64_t b, double scale, bool gradient)
{
    const fused_layer *layer = &t->layers[t->net->n_layers - 1];
    const int64_t classes = t->net->classes, padded = t->elems[layer->in];
    fused_part part = {0, 0};
    cnn_plan plan = {.problem = *layer->problem, .dir = CNN_FWD};
    const cnn_loss_args args = {.x = w->logits,
                                .labels = w->labels + a,
                                .y = w->logits,
                                .loss_sum = &part.loss,
                                .correct = &part.correct,
                                .dx = w->dlogits,
                                .scale = scale,
                                .workspace = w->loss_parts};
    cnn_error ignored;
    plan.problem.u.loss.mb = b - a;
    for (int64_t i = a; i < b; i++)
        memcpy(w->logits + (i - a) * classes, w->value[layer->in] + i * padded, (size_t)classes * sizeof(float));
    (void)cpu_loss_fwd((cnn_context *)&w->serial, &plan, &args, &ignored);
    if (!gradient) return part;
    (void)cpu_loss_bwd((cnn_context *)&w->serial, &plan, &args, &ignored);
    for (int64_t i = a; i < b; i++)
        memcpy(w->grad[layer->in] + i * padded, w->dlogits + (i - a) * classes, (size_t)classes * sizeof(float));
    return part;
}

/* ---- Backward. */

void fused_turn(const cnn_trainer *t, fused_worker *w)
{
    for (int l = t->first + 1; l < t->net->n_layers; l++) {
        const fused_conv *v = &t->layers[l].conv;
        const int64_t from = v->forward.m.elems, to = v->backward.m.elems;
        if (t->layers[l].op != CNN_OP_CONV || t->layers[l].late) continue;
        for (int64_t tap = 0; tap < v->turned_elems / to; tap++)
            t->kern->order(&v->turn, t->params + v->packed_w + tap * from, w->turned + v->turned + tap * to);
    }
}

void fused_backward(const cnn_trainer *t, fused_worker *w, int64_t leaf, int64_t leaf_end, int64_t mb)
{
    const fused_leaf *leaves = t->plan.leaf;
    const int64_t at = leaves[leaf].first, n = cpu_min(leaves[leaf_end].first, mb) - at;
    cnn_error ignored;
    for (int l = t->net->n_layers - 2; l >= t->first; l--) {
        const fused_layer *layer = &t->layers[l];
        if (layer->op == CNN_OP_CONV) {
            for (int64_t i = leaf; i < leaf_end && leaves[i].first < mb; i++)
                conv_weights(t, w, layer, &leaves[i], leaves[i].first - at, cpu_min(leaves[i + 1].first, mb) - at);
            fused_image_fetch(t, w);
            fused_lap_of(w, l, CNN_BWD_W);
            if (l == t->first) continue;
            conv_data(t, w, layer, n);
            fused_image_fetch(t, w);
            fused_lap_of(w, l, CNN_BWD_D);
        } else if (layer->op == CNN_OP_DROPOUT) {
            fused_drop_run(t, w, layer, CNN_BWD_D, n);
            fused_lap_of(w, l, CNN_BWD_D);
        } else if (!layer->slope_inside) {
            const cnn_plan plan = plan_of(t, layer, CNN_BWD_D, n);
            const cnn_map_bwd_args args = {.x = layer->in == layer->out ? NULL : w->value[layer->in],
                                           .y = w->value[layer->out],
                                           .dy = w->grad[layer->out],
                                           .dx = w->grad[layer->in]};
            (void)(layer->op == CNN_OP_ACT ? cpu_act_bwd : cpu_pool_bwd)((cnn_context *)&w->serial, &plan, &args,
                                                                         &ignored);
            fused_lap_of(w, l, CNN_BWD_D);
        }
    }
}
