/* trainer.c: opening (plans and the memory plan), starting (the one allocation, data, parameters), closing. */
#include "harness/base/text.h"
#include "harness/cpu/host_memory.h"
#include "harness/device/call.h"
#include "harness/problem/names.h"
#include "composition/parts.h"

#include <stdlib.h>

static cnn_status check_data(const trainer *t, cnn_error *err)
{
    const dataset *d = t->data;
    const cnn_value *x = &t->net->values[0];
    if (d->c != x->c || d->h != x->h || d->w != x->w)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "network %s takes images of %lld x %lld x %lld, but those of %s are %lld x %lld x %lld",
                        t->net->name, (long long)x->c, (long long)x->h, (long long)x->w, d->name, (long long)d->c,
                        (long long)d->h, (long long)d->w);
    if (d->classes > t->net->classes)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "network %s tells %lld classes apart, but %s has %lld", t->net->name,
                        (long long)t->net->classes, d->name, (long long)d->classes);
    if (t->net->batch > d->train.count)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "batch %lld is larger than the %lld training images of %s",
                        (long long)t->net->batch, (long long)d->train.count, d->name);
    return CNN_OK;
}

static cnn_status check_shift(const trainer *t, cnn_error *err)
{
    const cnn_value *x = &t->net->values[0];
    const int64_t side = x->h < x->w ? x->h : x->w, most = side - 1 < INT16_MAX ? side - 1 : INT16_MAX;
    const cnn_impl *impl = t->session->impl;
    if (t->params.shift < 0 || t->params.shift > most)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--shift %lld: images of %lld x %lld pixels can be moved by 0 to %lld of them",
                        (long long)t->params.shift, (long long)x->h, (long long)x->w, (long long)most);
    if (t->params.shift > 0 && !t->params.host_data && impl->ops->gather == NULL && impl->memory != NULL)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "implementation %s has no gather, which moves images on its device: with --data-on host the "
                        "host does it",
                        impl->name);
    return CNN_OK;
}

/* The implementation's own train step; its workspace counts with the others. */
static cnn_status open_fused(trainer *t, size_t *workspace, cnn_error *err)
{
    const cnn_impl *impl = t->session->impl;
    size_t bytes = 0;
    if (impl->stepping == NULL)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "implementation %s has no train step of its own", impl->name);
    const cnn_status status =
        CNN_CALL(impl, stepping->open, err, t->session->context, t->net, &t->optimizer, &t->stepper, &bytes, err);
    if (status == CNN_OK && bytes > *workspace) *workspace = bytes;
    return status;
}

static cnn_status plan_all(trainer *t, cnn_error *err)
{
    size_t workspace = 0;
    cnn_status status = t->data != NULL ? check_data(t, err) : CNN_OK;
    if (status == CNN_OK) status = check_shift(t, err);
    if (status == CNN_OK) status = trainer_layout(t, err);
    if (status == CNN_OK) status = trainer_schedule(t, err);
    for (int i = 0; status == CNN_OK && i < t->n_plans; i++)
        if (t->plans[i].plan.workspace_bytes > workspace) workspace = t->plans[i].plan.workspace_bytes;
    if (status == CNN_OK && t->params.fused) status = open_fused(t, &workspace, err);
    return status == CNN_OK ? trainer_layout_workspace(t, workspace, err) : status;
}

cnn_status trainer_open(const cnn_session *session, const cnn_network *network, const dataset *data,
                        const trainer_params *params, trainer **out, cnn_error *err)
{
    const cnn_net *net = &network->net;
    int64_t order = net->batch;
    *out = NULL;
    if (data != NULL && data->train.count > order) order = data->train.count;
    if (data != NULL && data->test.count > order) order = data->test.count;
    trainer *t = calloc(1, sizeof *t);
    if (t == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a trainer");
    t->session = session;
    t->network = network;
    t->net = net;
    t->data = data;
    t->params = *params;
    t->params.host_data = params->host_data && data != NULL;
    t->graphs = data != NULL && trainer_uses_graph(session, params);
    t->ahead = 4;
    t->n_lanes = t->params.host_data ? LANES : 1;
    t->optimizer = params->optimizer;
    t->optimizer.t = net->type;
    t->optimizer.count = net->trained_elems;
    t->value_at = calloc((size_t)net->n_values, sizeof *t->value_at);
    t->grad_at = calloc((size_t)net->n_values, sizeof *t->grad_at);
    t->save_at = calloc((size_t)net->n_layers, sizeof *t->save_at);
    t->order = calloc((size_t)order, sizeof *t->order);
    const bool moved = data != NULL && params->shift > 0;
    cnn_status status = CNN_OK;
    if (moved) t->shifts = calloc((size_t)data->train.count, sizeof *t->shifts);
    if (t->value_at == NULL || t->grad_at == NULL || t->save_at == NULL || t->order == NULL ||
        (moved && t->shifts == NULL))
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a trainer");
    if (status == CNN_OK && params->profile) status = trainer_profile_open(t, err);
    if (status == CNN_OK) status = plan_all(t, err);
    if (status == CNN_OK)
        *out = t;
    else
        trainer_close(t);
    return status;
}

static void resolve(const trainer *t, call_list *list)
{
    for (int i = 0; i < list->count; i++) {
        trainer_call *call = &list->calls[i];
        for (int k = 0; k < call->n_operands; k++) call->operands[k] = trainer_at(t, call->at[k]);
        if (call->plan >= 0 && t->plans[call->plan].plan.workspace_bytes > 0)
            call->extra.workspace = trainer_at(t, t->workspace_at);
    }
}

/* What stands in host memory (host_data) counts with the rest where the device is the host. */
static cnn_status check_memory(const trainer *t, cnn_error *err)
{
    const bool on_host = t->session->impl->memory == NULL;
    size_t host = t->bytes.host;
    if (on_host && __builtin_add_overflow(host, t->bytes.total, &host)) host = SIZE_MAX;
    const cnn_status status = on_host ? CNN_OK : cnn_mem_check(t->session, t->bytes.total, err);
    return status == CNN_OK && host > 0 ? cnn_host_check(host, err) : status;
}

static cnn_status allocate(trainer *t, cnn_error *err)
{
    cnn_status status = check_memory(t, err);
    if (status == CNN_OK) status = cnn_mem_alloc(t->session, t->bytes.total, (void **)&t->arena, err);
    return status == CNN_OK ? CNN_OK : trainer_name_error(t, "its memory", err);
}

/* Devices do much when an operation first runs (they load kernels, say): that is set-up, not the first epoch's time. */
static cnn_status prepare_steps(trainer *t, cnn_error *err)
{
    if (!t->graphs && t->session->impl->memory == NULL) return CNN_OK;
    return trainer_capture(t, err) == CNN_OK ? CNN_OK : trainer_name_error(t, "preparing its steps", err);
}

cnn_status trainer_start(trainer *t, cnn_error *err)
{
    cnn_status status = allocate(t, err);
    if (status != CNN_OK) return status;
    for (int lane = 0; lane < t->n_lanes; lane++)
        for (int i = 0; i < t->n_batches; i++) {
            resolve(t, &t->batches[lane][i].forward);
            resolve(t, &t->batches[lane][i].backward);
            resolve(t, &t->batches[lane][i].inference);
        }
    resolve(t, &t->update);
    if (t->data != NULL) status = trainer_feed_start(t, err);
    if (status == CNN_OK) status = trainer_reset(t, err);
    if (t->data != NULL && status == CNN_OK) {
        status = prepare_steps(t, err);
        if (status == CNN_OK) status = trainer_feed_check(t, err);
        if (status == CNN_OK) status = trainer_reset(t, err);
    }
    return status == CNN_OK ? cnn_sync(t->session, err) : status;
}

static void close_batch(trainer_batch *batch)
{
    free(batch->forward.calls);
    free(batch->backward.calls);
    free(batch->inference.calls);
}

void trainer_close(trainer *t)
{
    cnn_error ignored; /* steps may still be under way where an epoch was interrupted */
    if (t == NULL) return;
    if (t->arena != NULL) (void)cnn_sync(t->session, &ignored);
    if (t->stepper != NULL) CNN_CALL_VOID(t->session->impl, stepping->close, t->session->context, t->stepper);
    for (int i = 0; i < t->n_plans; i++) cnn_plan_release(t->session, &t->plans[i].plan);
    trainer_graphs_free(t);
    trainer_profile_close(t);
    trainer_feed_close(t);
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < MAX_BATCHES; i++) close_batch(&t->batches[lane][i]);
    cnn_mem_free(t->session, t->arena);
    free(t->update.calls);
    free(t->plans);
    free(t->value_at);
    free(t->grad_at);
    free(t->save_at);
    free(t->order);
    free(t->shifts);
    free(t);
}

trainer_bytes trainer_memory(const trainer *t) { return t->bytes; }

const char *trainer_algorithm(const trainer *t, int layer, cnn_dir dir)
{
    for (int i = 0; i < t->n_plans; i++) {
        const trainer_plan *p = &t->plans[i];
        if (p->layer == layer && p->plan.dir == dir && p->mb == t->net->batch)
            return p->plan.choice[0] != '\0' ? p->plan.choice : p->plan.algorithm.name;
    }
    return "";
}

char *trainer_choices(const trainer *t)
{
    enum { WORDS_MOST = 3 * CNN_NAME_MAX }; /* of one plan: layer, direction, choice, and what stands between */
    const size_t size = (size_t)t->n_plans * WORDS_MOST + 1;
    char *text = calloc(1, size);
    for (int i = 0; i < t->n_plans && text != NULL; i++) {
        const trainer_plan *p = &t->plans[i];
        const bool training = p->layer >= 0 && p->layer < t->net->n_layers && !p->inference;
        if (training && p->mb == t->net->batch && p->plan.choice[0] != '\0')
            cnn_append(text, size, "%s%s %s %s", text[0] != '\0' ? ", " : "", t->net->layers[p->layer].name,
                       cnn_dir_name(p->plan.dir), p->plan.choice);
    }
    return text;
}
