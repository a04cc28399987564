/* composition.c: the table of the composition: opening, starting, its state in and out, passes, closing. */
#include "harness/base/text.h"
#include "harness/cpu/half.h"
#include "harness/problem/names.h"
#include "parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- Opening and closing ---- */

/* The most that a call of a list takes, by its stream. */
static void find_workspace(const cnn_trainer *t, const call_list *list, size_t most[STREAMS])
{
    for (int i = 0; i < list->count; i++) {
        const step_call *call = &list->calls[i];
        const size_t bytes = call->plan >= 0 ? t->plans[call->plan].plan.workspace_bytes : 0;
        if (bytes > most[call->stream]) most[call->stream] = bytes;
    }
}

/* Calls of one stream share it. */
static void place_workspace(cnn_trainer *t)
{
    size_t most[STREAMS] = {0};
    for (int i = 0; i < t->n_batches; i++)
        for (int mode = 0; mode < PASSES; mode++) find_workspace(t, &t->batches[0][i].calls[mode], most);
    find_workspace(t, &t->update, most);
    for (int s = 0; s < STREAMS; s++)
        t->workspace_at[s] =
            most[s] > 0 ? trainer_place(t->loop, &t->loop->bytes.workspace, (int64_t)most[s], 1) : NOWHERE;
}

static cnn_status plan_all(cnn_trainer *t, cnn_error *err)
{
    cnn_status status = step_layout(t, err);
    if (status == CNN_OK && !t->loop->overflow) status = step_schedule(t, err);
    if (status == CNN_OK && !t->loop->overflow) status = step_recompute(t, err);
    if (status == CNN_OK && !t->loop->overflow) status = step_offload(t, err);
    if (status == CNN_OK && !t->loop->overflow) status = step_streams(t, err);
    if (status == CNN_OK && !t->loop->overflow) status = step_share(t, err);
    if (status == CNN_OK && !t->loop->overflow) status = step_buckets(t, err);
    if (status == CNN_OK) place_workspace(t);
    return status;
}

static void free_batch(const cnn_trainer *t, step_batch *batch)
{
    step_forget(t, batch);
    for (int mode = 0; mode < PASSES; mode++) free(batch->calls[mode].calls);
}

static void composition_close(cnn_context *context, cnn_trainer *t)
{
    (void)context;
    for (int i = 0; i < t->n_plans; i++) cnn_plan_release(t->session, &t->plans[i].plan);
    for (int list = 0; list < LANES; list++)
        for (int i = 0; i < MAX_BATCHES; i++) free_batch(t, &t->batches[list][i]);
    step_offload_close(t);
    step_second_close(t);
    cnn_group_close(&t->group); /* behind the graphs that hold its sums */
    free(t->update.calls);
    free(t->plans);
    free(t->value_at);
    free(t->grad_at);
    free(t->save_at);
    free(t->scratch_at);
    free(t->again_at);
    free(t->back_at);
    free(t->buffers);
    free(t->buckets);
    free(t);
}

cnn_status composition_open(trainer *loop, cnn_error *err)
{
    const cnn_net *net = loop->net;
    cnn_trainer *t = loop->own = calloc(1, sizeof *t);
    if (t == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a trainer");
    t->loop = loop;
    t->session = loop->session;
    t->net = net;
    t->gathers = loop->n_lanes == 0;
    t->graphs = loop->data != NULL && trainer_uses_graph(loop->session, &loop->params);
    t->n_lists = t->gathers ? 1 : loop->n_lanes;
    t->cursor = -1;
    t->value_at = calloc((size_t)net->n_values, sizeof *t->value_at);
    t->grad_at = calloc((size_t)net->n_values, sizeof *t->grad_at);
    t->save_at = calloc((size_t)net->n_layers, sizeof *t->save_at);
    t->scratch_at = calloc((size_t)net->n_layers, sizeof *t->scratch_at);
    if (loop->params.recompute) t->again_at = calloc((size_t)net->n_values, sizeof *t->again_at);
    if (loop->params.offload) t->back_at = calloc((size_t)net->n_values, sizeof *t->back_at);
    const bool made = t->value_at != NULL && t->grad_at != NULL && t->save_at != NULL && t->scratch_at != NULL &&
                      (t->again_at != NULL || !loop->params.recompute) && (t->back_at != NULL || !loop->params.offload);
    return made ? plan_all(t, err) : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a trainer");
}

/* ---- Starting ---- */

static void *address(const cnn_trainer *t, int list, size_t place)
{
    const trainer *loop = t->loop;
    return trainer_at(loop, place == LANE_IMAGES    ? loop->images_at[list]
                            : place == LANE_LABELS  ? loop->batch_labels_at[list]
                            : step_is_buffer(place) ? t->buffers[place - BUFFER].at
                                                    : place);
}

static void resolve(const cnn_trainer *t, int list, call_list *calls)
{
    for (int i = 0; i < calls->count; i++) {
        step_call *call = &calls->calls[i];
        for (int k = 0; k < call->n_operands; k++) call->operands[k] = address(t, list, call->at[k]);
        if (call->plan >= 0 && t->plans[call->plan].plan.workspace_bytes > 0)
            call->extra.workspace = trainer_at(t->loop, t->workspace_at[call->stream]);
    }
}

/* Devices do much when an operation first runs (they load kernels, say): that is set-up, not the first epoch's time. */
cnn_status composition_start(trainer *loop, cnn_error *err)
{
    cnn_trainer *t = loop->own;
    for (int list = 0; list < t->n_lists; list++)
        for (int i = 0; i < t->n_batches; i++)
            for (int mode = 0; mode < PASSES; mode++) resolve(t, list, &t->batches[list][i].calls[mode]);
    resolve(t, 0, &t->update);
    const bool several = step_gathers_by_cursor(t) && t->loop->profile == NULL;
    loop->facts.steps = several ? STEPS_A_GRAPH : 1;
    const bool at_once = !t->graphs && t->session->impl->memory == NULL;
    cnn_status status = step_offload_open(t, err);
    if (status == CNN_OK) status = step_second_open(t, err);
    if (status == CNN_OK) status = step_sums_open(t, err);
    if (status == CNN_OK && loop->data != NULL && !at_once) {
        status = trainer_set_params(loop, NULL, err); /* what runs before training reads nothing that is not there */
        if (status == CNN_OK) status = step_prepare(t, err);
    }
    return status == CNN_OK && t->gathers ? step_check_gather(t, err) : status;
}

/* ---- The state ---- */

/* The copy of 16 bits is what the parameters are, rounded; gradients have no scale yet, or the one there was. */
static cnn_status load_mixed(const cnn_trainer *t, const cnn_train_state *s, cnn_error *err)
{
    const trainer *loop = t->loop;
    const size_t bytes = (size_t)t->net->trained_elems * trainer_elem(loop), one = sizeof(double);
    const float *params = s->params;
    uint16_t *copy = malloc(bytes + 1);
    if (copy == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %zu bytes of parameters", bytes);
    for (int64_t i = 0; i < t->net->trained_elems; i++)
        copy[i] = t->net->type.dtype == CNN_F16 ? half_float_to_f16(params[i]) : half_float_to_bf16(params[i]);
    cnn_status status = cnn_mem_upload(t->session, trainer_at(loop, t->copy_at), copy, bytes, err);
    free(copy);
    if (status == CNN_OK)
        status = cnn_mem_upload(t->session, trainer_at(loop, t->scaling_at), s->scaling, CNN_SCALING_COUNT * one, err);
    return status == CNN_OK ? cnn_mem_upload(t->session, trainer_at(loop, t->scale_at), s->scaling, one, err) : status;
}

static cnn_status composition_load(cnn_context *context, cnn_trainer *t, const cnn_train_state *s, cnn_error *err)
{
    const cnn_session *on = t->session;
    const trainer *loop = t->loop;
    const size_t all = trainer_param_bytes(loop), trained = trainer_trained_bytes(loop);
    (void)context;
    /* No operation writes the gaps between parameters, but the update reads them. */
    cnn_status status = cnn_mem_fill(on, trainer_at(loop, t->grads_at), 0, trained, err);
    if (status == CNN_OK) status = cnn_mem_upload(on, trainer_at(loop, t->step_at), &s->step, sizeof s->step, err);
    if (status == CNN_OK) status = cnn_mem_upload(on, trainer_at(loop, t->params_at), s->params, all, err);
    for (int i = 0; i < 2 && status == CNN_OK; i++)
        if (t->state_at[i] != NOWHERE)
            status = cnn_mem_upload(on, trainer_at(loop, t->state_at[i]), s->state[i], trained, err);
    return status == CNN_OK && t->copy_at != NOWHERE ? load_mixed(t, s, err) : status;
}

/* Gradients without the scale that they were computed with. */
static cnn_status save_mixed(const cnn_trainer *t, cnn_train_state *s, cnn_error *err)
{
    const size_t scaling = CNN_SCALING_COUNT * sizeof(double);
    double scale = 1.0;
    float *grads = s->grads;
    cnn_status status = CNN_OK;
    if (s->scaling != NULL)
        status = cnn_mem_download(t->session, s->scaling, trainer_at(t->loop, t->scaling_at), scaling, err);
    if (grads == NULL || status != CNN_OK) return status;
    status = cnn_mem_download(t->session, &scale, trainer_at(t->loop, t->scale_at), sizeof scale, err);
    for (int64_t i = 0; i < t->net->trained_elems && status == CNN_OK; i++)
        grads[i] = (float)((double)grads[i] / scale);
    return status;
}

static cnn_status composition_save(cnn_context *context, cnn_trainer *t, cnn_train_state *s, cnn_error *err)
{
    const cnn_session *on = t->session;
    const trainer *loop = t->loop;
    const size_t all = trainer_param_bytes(loop), trained = trainer_trained_bytes(loop);
    (void)context;
    cnn_status status = cnn_sync(on, err);
    if (status == CNN_OK) status = cnn_mem_download(on, &s->step, trainer_at(loop, t->step_at), sizeof s->step, err);
    if (status == CNN_OK && s->params != NULL)
        status = cnn_mem_download(on, s->params, trainer_at(loop, t->params_at), all, err);
    if (status == CNN_OK && s->grads != NULL)
        status = cnn_mem_download(on, s->grads, trainer_at(loop, t->grads_at), trained, err);
    for (int i = 0; i < 2 && status == CNN_OK; i++)
        if (t->state_at[i] != NOWHERE && s->state[i] != NULL)
            status = cnn_mem_download(on, s->state[i], trainer_at(loop, t->state_at[i]), trained, err);
    return status == CNN_OK && t->copy_at != NOWHERE ? save_mixed(t, s, err) : status;
}

/* ---- Passes ---- */

static int list_of(const cnn_trainer *t, const cnn_images *images)
{
    return t->gathers ? 0 : (int)(images - t->loop->lanes);
}

static cnn_status one_step(cnn_trainer *t, const cnn_images *images, int mode, int64_t first, int64_t mb,
                           cnn_error *err)
{
    step_batch *batch = step_find_batch(t, list_of(t, images), mb, mode, err);
    if (batch == NULL) return err->status;
    cnn_status status = step_laps_begin(t, batch, mode, err);
    if (status == CNN_OK && t->gathers && !step_gathers_by_cursor(t)) status = step_gather(t, images, first, mb, err);
    if (status != CNN_OK) return status;
    if (!t->graphs)
        status = step_run_mode(t, batch, mode, err);
    else
        status = CNN_CALL(t->session->impl, capture->run, err, t->session->context, batch->step[mode], err);
    return status == CNN_OK ? step_laps_end(t, err) : status;
}

static cnn_status pass(cnn_trainer *t, const cnn_images *images, int mode, int64_t first, int64_t count, cnn_error *err)
{
    const cnn_impl *impl = t->session->impl;
    const int64_t full = t->net->batch, many = STEPS_A_GRAPH * full;
    cnn_graph *const steps = t->batches[0][0].steps[mode];
    cnn_status status = step_seek(t, first, err);
    while (count > 0 && status == CNN_OK) {
        const int64_t mb = count < full ? count : full, taken = steps != NULL && count >= many ? many : mb;
        status = taken == many ? CNN_CALL(impl, capture->run, err, t->session->context, steps, err)
                               : one_step(t, images, mode, first, mb, err);
        first += taken;
        count -= taken;
        if (step_gathers_by_cursor(t)) t->cursor = first;
    }
    return status;
}

static cnn_status composition_train(cnn_context *context, cnn_trainer *t, const cnn_images *images, int64_t first,
                                    int64_t count, cnn_error *err)
{
    (void)context;
    return pass(t, images, TRAIN, first, count, err);
}

static cnn_status composition_test(cnn_context *context, cnn_trainer *t, const cnn_images *images, int64_t first,
                                   int64_t count, cnn_error *err)
{
    (void)context;
    return pass(t, images, TEST, first, count, err);
}

/* Sets the running statistics aside, or (back) brings them back: a forward in training mode changes them. */
static cnn_status keep_running(const cnn_trainer *t, bool back, cnn_error *err)
{
    const size_t bytes = trainer_param_bytes(t->loop) - trainer_trained_bytes(t->loop);
    char *running = (char *)trainer_at(t->loop, t->params_at) + trainer_trained_bytes(t->loop);
    char *kept = trainer_at(t->loop, t->kept_at);
    return bytes == 0 ? CNN_OK : cnn_mem_copy(t->session, back ? running : kept, back ? kept : running, bytes, err);
}

static cnn_status composition_gradients(cnn_context *context, cnn_trainer *t, const cnn_images *images, int64_t first,
                                        int64_t count, cnn_error *err)
{
    const step_batch *batch = step_find_batch(t, list_of(t, images), count, TRAIN, err);
    (void)context;
    if (batch == NULL) return err->status;
    cnn_status status = t->gathers ? step_gather(t, images, first, count, err) : CNN_OK;
    if (status == CNN_OK) status = keep_running(t, false, err);
    if (status == CNN_OK) status = step_run(t, &batch->calls[TRAIN], err);
    if (status == CNN_OK && t->copy_at != NOWHERE)
        status = cnn_mem_copy(t->session, trainer_at(t->loop, t->scale_at), trainer_at(t->loop, t->scaling_at),
                              sizeof(double), err);
    return status == CNN_OK ? keep_running(t, true, err) : status;
}

const cnn_trainers composition_trainers = {.close = composition_close,
                                           .load = composition_load,
                                           .save = composition_save,
                                           .train = composition_train,
                                           .test = composition_test,
                                           .gradients = composition_gradients};

/* ---- What was chosen ---- */

const char *composition_algorithm(const cnn_trainer *t, int layer, cnn_dir dir)
{
    for (int i = 0; i < t->n_plans; i++) {
        const step_plan *p = &t->plans[i];
        if (p->layer == layer && p->plan.dir == dir && p->mb == t->net->batch)
            return p->plan.choice[0] != '\0' ? p->plan.choice : p->plan.algorithm.name;
    }
    /* An activation may be the epilogue of the layer before it. */
    const bool within = dir == CNN_FWD && layer > 0 && t->net->layers[layer].problem.op == CNN_OP_ACT;
    return within ? composition_algorithm(t, layer - 1, dir) : "";
}

char *composition_choices(const cnn_trainer *t)
{
    enum { WORDS_MOST = 3 * CNN_NAME_MAX }; /* of one plan: layer, direction, choice, and what stands between */
    const size_t size = (size_t)t->n_plans * WORDS_MOST + 1;
    char *text = calloc(1, size);
    for (int i = 0; i < t->n_plans && text != NULL; i++) {
        const step_plan *p = &t->plans[i];
        const bool training = p->layer >= 0 && p->layer < t->net->n_layers && !p->inference;
        if (training && p->mb == t->net->batch && p->plan.choice[0] != '\0')
            cnn_append(text, size, "%s%s %s %s", text[0] != '\0' ? ", " : "", t->net->layers[p->layer].name,
                       cnn_dir_name(p->plan.dir), p->plan.choice);
    }
    return text;
}
