/* trainer.c: the table of cpu:fused. */
#include "fused.h"

#include <stdlib.h>
#include <string.h>

/* ---- What it takes ---- */

/* Lists of where numbers stand, in an image and in the weights of a tap, hold 32 bits. */
static cnn_status check_sizes(const cnn_net *net, cnn_error *err)
{
    const cnn_value *x = &net->values[0];
    int64_t elems;
    if (!cnn_mul4(x->c, x->h, x->w, 1, &elems) || elems > INT32_MAX)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "cpu:fused trains on images of up to %d numbers; those of network %s have %lld x %lld x %lld",
                        INT32_MAX, net->name, (long long)x->c, (long long)x->h, (long long)x->w);
    for (int l = 1; l < net->n_layers; l++) {
        const cnn_value *in = &net->values[net->layers[l].inputs[0]], *out = &net->values[net->layers[l].output];
        const int64_t pixels = out->h * out->w == 1 ? in->h * in->w : 1; /* a tap of a layer that is flat */
        const int64_t ic = in->c, oc = out->c;
        if (net->layers[l].n_params > 0 &&
            (!cnn_mul4(ic + FUSED_MAX_LANES, oc + FUSED_MAX_LANES, pixels, 1, &elems) || elems > INT32_MAX))
            return CNN_FAIL(
                err, CNN_UNSUPPORTED,
                "cpu:fused trains layers of up to %d weights a pixel; layer %s of network %s has %lld x %lld",
                INT32_MAX, net->layers[l].name, net->name, (long long)ic, (long long)oc);
    }
    return CNN_OK;
}

static bool is_taken(cnn_op op)
{
    static const cnn_op taken[] = {CNN_OP_CONV, CNN_OP_FC, CNN_OP_POOL, CNN_OP_ACT, CNN_OP_DROPOUT, CNN_OP_LOSS};
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (op == taken[i]) return true;
    return false;
}

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
        if (!is_taken(op))
            return CNN_FAIL(err, CNN_UNSUPPORTED,
                            "cpu:fused trains conv, fc, pooling, activations and dropout; layer %s of network %s is %s",
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
    return check_sizes(net, err);
}

/* ---- Parameters between the network's order and the kernels'. ---- */

static void pack(const cnn_trainer *t, float *plain, float *packed, bool back)
{
    for (int l = 0; l < t->net->n_layers; l++) {
        const fused_conv *v = &t->layers[l].conv;
        const size_t bias = (size_t)v->c.oc * sizeof(float);
        if (t->layers[l].op != CNN_OP_CONV) continue;
        fused_conv_pack(v, t->kern->lanes, plain + v->w, packed + v->packed_w, back);
        if (v->b < 0) continue;
        memcpy(back ? plain + v->b : packed + v->packed_b, back ? packed + v->packed_b : plain + v->b, bias);
    }
}

/* Ones where a parameter is, by way of params. */
static cnn_status make_mask(cnn_trainer *t, cnn_error *err)
{
    if (!t->masked) return CNN_OK;
    float *plain = calloc((size_t)t->net->param_elems + 1, sizeof *plain);
    if (plain == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for trainer cpu:fused");
    for (int64_t i = 0; i < t->net->param_elems; i++) plain[i] = 1;
    pack(t, plain, t->params, false);
    for (int64_t i = 0; i < t->packed_elems; i++) t->mask[i] = t->params[i] != 0;
    free(plain);
    return CNN_OK;
}

/* ---- Opening and closing ---- */

static void fused_close(cnn_context *context, cnn_trainer *t)
{
    (void)context;
    fused_layers_free(t);
    free(t->plan.leaf);
    free(t->memory);
    free(t);
}

/* Images that a worker's second-level cache has room for; or more, where weights of layers that are late outweigh the
 * values of a few images: each chunk reads all of them, twice. */
static int64_t chunk_of(const cnn_trainer *t)
{
    enum { L2_BYTES = 1 << 20, LEAST = 4 };
    const int64_t weights = (t->packed_elems - t->early_elems) * (int64_t)sizeof(float);
    int64_t bytes = 0;
    for (int v = 0; v < t->net->n_values; v++) bytes += t->elems[v] * (int64_t)sizeof(float) * (t->shares[v] ? 1 : 2);
    const int64_t least = weights > LEAST * bytes ? FUSED_MAX_IMAGES : LEAST;
    return cpu_min(cpu_clamp(L2_BYTES / bytes, least, FUSED_MAX_IMAGES), t->net->batch);
}

/* Calls of so many images: a hand-over to sleeping threads costs little beside them, and an interrupted or repeated
 * step not much. */
static int64_t steps_at_once(int64_t batch)
{
    enum { IMAGES = 1024 };
    return cpu_max(1, IMAGES / batch);
}

static cnn_status fused_open(cnn_context *context, const cnn_trainer_request *r, cnn_trainer **out,
                             cnn_trainer_facts *facts, cnn_error *err)
{
    enum { SPINS = 2000 };
    cnn_trainer *t = calloc(1, sizeof *t);
    if (t == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for trainer cpu:fused");
    t->head.table = &fused_trainers;
    t->cpu = (const cpu_context *)context;
    t->net = r->net;
    t->kern = fused_kernels_for(t->cpu->isa);
    t->optimizer = *r->optimizer;
    t->loss_sum = r->loss_sum;
    t->correct = r->correct;
    t->ranks = r->ranks > 1 ? r->ranks : 1;
    t->rank = r->rank;
    t->sum = r->sum;
    t->sum_user = r->sum_user;
    t->profiled = r->profile;
    t->workers_n = t->cpu->threads;
    t->spins = t->workers_n <= cpu_count() ? SPINS : 1;
    facts->steps = steps_at_once(r->net->batch);
    cnn_status status = fused_layers_make(t, err);
    if (status == CNN_OK) {
        t->chunk = chunk_of(t);
        status = fused_plan_make(t, err);
    }
    if (status == CNN_OK) status = fused_allocate(t, &facts->bytes, err);
    if (status == CNN_OK) status = make_mask(t, err);
    if (status == CNN_OK)
        *out = t;
    else
        fused_close(context, t);
    return status;
}

/* ---- State and passes ---- */

static cnn_status fused_load(cnn_context *context, cnn_trainer *t, const cnn_train_state *s, cnn_error *err)
{
    const size_t bytes = (size_t)t->packed_elems * sizeof(float);
    (void)context, (void)err;
    memset(t->params, 0, bytes);
    pack(t, s->params, t->params, false);
    for (int i = 0; i < cnn_optimizer_states(t->optimizer.kind); i++) {
        memset(t->state[i], 0, bytes);
        pack(t, s->state[i], t->state[i], false);
    }
    fused_late_turn_all(t);
    t->step = s->step;
    return CNN_OK;
}

/* `plain` gets zeros where no parameter is. */
static void unpack(const cnn_trainer *t, float *packed, void *plain)
{
    if (plain == NULL) return;
    memset(plain, 0, (size_t)t->net->trained_elems * sizeof(float));
    pack(t, plain, packed, true);
}

static cnn_status fused_save(cnn_context *context, cnn_trainer *t, cnn_train_state *s, cnn_error *err)
{
    (void)context, (void)err;
    unpack(t, t->params, s->params);
    for (int i = 0; i < cnn_optimizer_states(t->optimizer.kind); i++) unpack(t, t->state[i], s->state[i]);
    unpack(t, t->grads, s->grads);
    s->step = t->step;
    return CNN_OK;
}

static cnn_status fused_train(cnn_context *context, cnn_trainer *t, const cnn_images *images, int64_t first,
                              int64_t count, cnn_error *err)
{
    fused_call call = {t, images, first, count, true, CNN_OK, err};
    (void)context;
    parallel_for(t->cpu->pool, t->workers_n, fused_steps, &call);
    t->step += cpu_ceil_div(count, t->net->batch);
    return call.status;
}

static cnn_status fused_gradients(cnn_context *context, cnn_trainer *t, const cnn_images *images, int64_t first,
                                  int64_t count, cnn_error *err)
{
    fused_call call = {t, images, first, count, false, CNN_OK, err};
    (void)context;
    parallel_for(t->cpu->pool, t->workers_n, fused_steps, &call);
    return call.status;
}

static cnn_status fused_test(cnn_context *context, cnn_trainer *t, const cnn_images *images, int64_t first,
                             int64_t count, cnn_error *err)
{
    (void)context;
    for (int64_t n; count > 0; first += n, count -= n) {
        n = cpu_min(count, FUSED_TEST_PARTS * t->chunk);
        fused_call call = {t, images, first, n, false, CNN_OK, err};
        parallel_for(t->cpu->pool, t->workers_n, fused_test_share, &call);
        for (int64_t i = 0; i < cpu_ceil_div(n, t->chunk); i++) {
            *t->loss_sum += t->parts[i].loss;
            *t->correct += t->parts[i].correct;
        }
    }
    return CNN_OK;
}

static cnn_status fused_profile(cnn_context *context, cnn_trainer *t, const cnn_trainer_lap **list, int *count,
                                cnn_error *err)
{
    (void)context, (void)err;
    *count = fused_profile_read(t);
    *list = t->lap_list;
    return CNN_OK;
}

const cnn_trainers fused_trainers = {.supports = fused_supports,
                                     .open = fused_open,
                                     .close = fused_close,
                                     .load = fused_load,
                                     .save = fused_save,
                                     .train = fused_train,
                                     .test = fused_test,
                                     .gradients = fused_gradients,
                                     .profile = fused_profile};
