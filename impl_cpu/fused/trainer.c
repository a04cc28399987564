/* trainer.c: the table of cpu:fused. */
#include "fused.h"
#include "impl_cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

/* ---- What it takes ---- */

static cnn_status fused_supports(cnn_context *context, const cnn_trainer_request *r, cnn_error *err)
{
    const cnn_net *net = r->net;
    const cnn_type *t = &net->type;
    (void)context;
    if (t->dtype != CNN_F32 || t->weights != CNN_F32 || t->math != CNN_MATH_F32)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "cpu:fused trains in f32; %s, weights in %s, math %s were asked for",
                        cnn_dtype_name(t->dtype), cnn_dtype_name(t->weights), cnn_math_name(t->math));
    for (int l = 0; l < net->n_layers; l++) {
        const cnn_layer *layer = &net->layers[l];
        const cnn_op op = layer->problem.op;
        const bool last = l == net->n_layers - 1;
        if (op != CNN_OP_CONV && op != CNN_OP_FC && op != CNN_OP_POOL && op != CNN_OP_ACT && op != CNN_OP_LOSS)
            return CNN_FAIL(err, CNN_UNSUPPORTED,
                            "cpu:fused trains conv, fc, pooling and activations; layer %s of network %s is %s",
                            layer->name, net->name, cnn_op_name(op));
        if ((op == CNN_OP_LOSS) != last || layer->inputs[0] != (l > 0 ? net->layers[l - 1].output : 0))
            return CNN_FAIL(err, CNN_UNSUPPORTED,
                            "cpu:fused trains chains, where each layer reads the one before; layer %s of network %s "
                            "does not",
                            layer->name, net->name);
    }
    const cnn_value *logits = &net->values[net->layers[net->n_layers - 1].inputs[0]];
    if (logits->h * logits->w != 1)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "cpu:fused wants one pixel a class before the loss, network %s has %lld",
                        net->name, (long long)(logits->h * logits->w));
    return CNN_OK;
}

/* ---- Memory ---- */

/* Values and gradients of the largest batch; the images need no gradient. */
static void take_values(cnn_trainer *t, cpu_arena *arena)
{
    const cnn_net *net = t->net;
    const int64_t blocks = cpu_ceil_div(net->batch, t->kern->lanes);
    for (int v = 0; v < net->n_values; v++) {
        const cnn_value *value = &net->values[v];
        int64_t pixels;
        if (!cnn_mul4(blocks * t->kern->lanes, value->c, value->h, value->w, &pixels)) arena->overflow = true;
        if (arena->overflow) return;
        t->value[v] = cpu_take(arena, pixels, 1, sizeof(float));
        if (v > 0) t->grad[v] = cpu_take(arena, pixels, 1, sizeof(float));
    }
}

/* What a worker keeps for the largest layer. */
static void take_scratch(cnn_trainer *t, cpu_arena *arena)
{
    const direct_kernels *k = t->kern;
    for (int l = 0; l < t->net->n_layers; l++) {
        const cnn_conv_desc *c = &t->weighted[l].conv;
        const int64_t taps = c->kh * c->kw, os = cpu_max(k->max_os, k->max_os1);
        t->acc_elems = cpu_max(t->acc_elems, taps * os * k->max_cs);
        t->points_each = cpu_max(t->points_each, taps);
    }
    t->acc = cpu_take(arena, t->acc_elems * k->lanes, t->cpu->threads, sizeof *t->acc);
    t->sums = cpu_take(arena, t->acc_elems, t->cpu->threads, sizeof *t->sums);
    t->points = cpu_take(arena, t->points_each, t->cpu->threads, sizeof *t->points);
}

static void take_batch(cnn_trainer *t, cpu_arena *arena)
{
    const cnn_net *net = t->net;
    const cnn_value *x = &net->values[0];
    const cnn_problem *loss = &net->layers[net->n_layers - 1].problem;
    t->images = cpu_take(arena, net->batch * x->c, x->h * x->w, sizeof *t->images);
    t->labels = cpu_take(arena, net->batch, 1, sizeof *t->labels);
    t->plain = cpu_take(arena, net->batch, 1, sizeof *t->plain);
    t->logits = cpu_take(arena, net->batch, net->classes, sizeof *t->logits);
    t->dlogits = cpu_take(arena, net->batch, net->classes, sizeof *t->dlogits);
    t->loss_parts = cpu_take(arena, (int64_t)cpu_loss_workspace(&loss->u.loss, CNN_FWD), 1, 1);
}

static void take_all(cnn_trainer *t, cpu_arena *arena)
{
    const cnn_net *net = t->net;
    t->params = cpu_take(arena, net->param_elems, 1, sizeof *t->params);
    t->grads = cpu_take(arena, net->trained_elems, 1, sizeof *t->grads);
    for (int i = 0; i < cnn_optimizer_states(t->optimizer.kind); i++)
        t->state[i] = cpu_take(arena, net->trained_elems, 1, sizeof(float));
    take_values(t, arena);
    for (int l = 0; l < net->n_layers; l++) {
        const cnn_op op = net->layers[l].problem.op;
        if (op == CNN_OP_CONV || op == CNN_OP_FC) fused_weighted_make(t, &net->layers[l], &t->weighted[l], arena);
    }
    take_scratch(t, arena);
    take_batch(t, arena);
}

/* ---- Opening and closing ---- */

static void fused_close(cnn_context *context, cnn_trainer *t)
{
    (void)context;
    free(t->memory);
    free(t->weighted);
    free(t->value);
    free(t->grad);
    free(t);
}

static cnn_status allocate(cnn_trainer *t, size_t *bytes, cnn_error *err)
{
    cpu_arena arena = {.used = 0};
    t->weighted = calloc((size_t)t->net->n_layers, sizeof *t->weighted);
    t->value = calloc((size_t)t->net->n_values, sizeof *t->value);
    t->grad = calloc((size_t)t->net->n_values, sizeof *t->grad);
    if (t->weighted == NULL || t->value == NULL || t->grad == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for trainer cpu:fused");
    take_all(t, &arena);
    if (arena.overflow) return CNN_FAIL(err, CNN_OVERFLOW, "the memory of cpu:fused is more than can be addressed");
    *bytes = (size_t)arena.used;
    if ((t->memory = aligned_alloc(CNN_ALIGN, *bytes)) == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for trainer cpu:fused: %zu bytes", *bytes);
    memset(t->memory, 0, *bytes);
    arena = (cpu_arena){.base = t->memory};
    take_all(t, &arena);
    for (int64_t i = 0; i < t->net->batch; i++) t->plain[i] = (int32_t)i;
    return CNN_OK;
}

static cnn_status fused_open(cnn_context *context, const cnn_trainer_request *r, cnn_trainer **out,
                             cnn_trainer_facts *facts, cnn_error *err)
{
    cnn_trainer *t = calloc(1, sizeof *t);
    if (t == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for trainer cpu:fused");
    t->cpu = (const cpu_context *)context;
    t->context = context;
    t->net = r->net;
    t->kern = direct_kernels_for(t->cpu, CNN_F32);
    t->optimizer = *r->optimizer;
    t->loss_sum = r->loss_sum;
    t->correct = r->correct;
    while (t->first < t->net->n_layers && t->net->layers[t->first].n_params == 0) t->first++;
    facts->steps = 1;
    const cnn_status status = allocate(t, &facts->bytes, err);
    if (status == CNN_OK)
        *out = t;
    else
        fused_close(context, t);
    return status;
}

/* ---- State and passes ---- */

static cnn_status fused_load(cnn_context *context, cnn_trainer *t, const cnn_train_state *s, cnn_error *err)
{
    const size_t trained = (size_t)t->net->trained_elems * sizeof(float);
    (void)context, (void)err;
    memcpy(t->params, s->params, (size_t)t->net->param_elems * sizeof(float));
    for (int i = 0; i < cnn_optimizer_states(t->optimizer.kind); i++) memcpy(t->state[i], s->state[i], trained);
    t->step = s->step;
    return CNN_OK;
}

static cnn_status fused_save(cnn_context *context, cnn_trainer *t, cnn_train_state *s, cnn_error *err)
{
    const size_t trained = (size_t)t->net->trained_elems * sizeof(float);
    (void)context, (void)err;
    if (s->params != NULL) memcpy(s->params, t->params, (size_t)t->net->param_elems * sizeof(float));
    for (int i = 0; i < cnn_optimizer_states(t->optimizer.kind); i++)
        if (s->state[i] != NULL) memcpy(s->state[i], t->state[i], trained);
    if (s->grads != NULL) memcpy(s->grads, t->grads, trained);
    s->step = t->step;
    return CNN_OK;
}

static cnn_status pass(cnn_trainer *t, const cnn_images *images, int64_t first, int64_t count, int parts)
{
    for (int64_t mb; count > 0; first += mb, count -= mb) {
        mb = cpu_min(count, t->net->batch);
        fused_step(t, images, first, mb, parts);
    }
    return CNN_OK;
}

static cnn_status fused_train(cnn_context *context, cnn_trainer *t, const cnn_images *images, int64_t first,
                              int64_t count, cnn_error *err)
{
    (void)context, (void)err;
    return pass(t, images, first, count, FUSED_FORWARD | FUSED_BACKWARD | FUSED_UPDATE);
}

static cnn_status fused_test(cnn_context *context, cnn_trainer *t, const cnn_images *images, int64_t first,
                             int64_t count, cnn_error *err)
{
    (void)context, (void)err;
    return pass(t, images, first, count, FUSED_FORWARD);
}

static cnn_status fused_gradients(cnn_context *context, cnn_trainer *t, const cnn_images *images, int64_t first,
                                  int64_t count, cnn_error *err)
{
    (void)context, (void)err;
    return pass(t, images, first, count, FUSED_FORWARD | FUSED_BACKWARD);
}

const cnn_trainers fused_trainers = {.supports = fused_supports,
                                     .open = fused_open,
                                     .close = fused_close,
                                     .load = fused_load,
                                     .save = fused_save,
                                     .train = fused_train,
                                     .test = fused_test,
                                     .gradients = fused_gradients};
