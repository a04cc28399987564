/* sample.c: the state of a training to the host and back, and steps that are run again. */
#include "harness/base/clock.h"
#include "harness/problem/names.h"
#include "trainer_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- States ---- */

static size_t all_bytes(const trainer *t) { return (size_t)t->net->param_elems * trainer_elem(t); }
static size_t trained_bytes(const trainer *t) { return (size_t)t->net->trained_elems * trainer_elem(t); }

cnn_status trainer_state_make(const trainer *t, trainer_state *s, cnn_error *err)
{
    *s = (trainer_state){.own.params = calloc(1, all_bytes(t) + 1), .own.grads = calloc(1, trained_bytes(t) + 1)};
    bool made = s->own.params != NULL && s->own.grads != NULL;
    for (int i = 0; i < cnn_optimizer_states(t->optimizer.kind) && made; i++)
        made = (s->own.state[i] = calloc(1, trained_bytes(t) + 1)) != NULL;
    if (made) return CNN_OK;
    trainer_state_free(s);
    return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the parameters of %s", t->net->name);
}

void trainer_state_free(trainer_state *s)
{
    free(s->own.params);
    free(s->own.grads);
    free(s->own.state[0]);
    free(s->own.state[1]);
    *s = (trainer_state){.loss_sum = 0.0};
}

cnn_status trainer_state_get(trainer *t, trainer_state *s, cnn_error *err)
{
    const cnn_status status = trainer_read_sums(t, &s->loss_sum, &s->correct, err); /* waits for the device */
    return status == CNN_OK ? TRAINER_ASK(t, save, err, &s->own) : status;
}

cnn_status trainer_state_put(trainer *t, const trainer_state *s, cnn_error *err)
{
    const cnn_session *on = t->session;
    cnn_status status = cnn_mem_upload(on, trainer_at(t, t->loss_at), &s->loss_sum, sizeof s->loss_sum, err);
    if (status == CNN_OK)
        status = cnn_mem_upload(on, trainer_at(t, t->correct_at), &s->correct, sizeof s->correct, err);
    return status == CNN_OK ? TRAINER_ASK(t, load, err, &s->own) : status;
}

cnn_status trainer_get_params(trainer *t, void *params, cnn_error *err)
{
    cnn_train_state only = {.params = params};
    const cnn_status status = cnn_sync(t->session, err);
    return status == CNN_OK ? TRAINER_ASK(t, save, err, &only) : status;
}

cnn_status trainer_set_params(trainer *t, const void *params, cnn_error *err)
{
    trainer_state initial;
    cnn_status status = trainer_state_make(t, &initial, err);
    if (status != CNN_OK) return status;
    memcpy(initial.own.params, params, all_bytes(t));
    status = trainer_state_put(t, &initial, err);
    trainer_state_free(&initial);
    return status;
}

cnn_status trainer_reset(trainer *t, cnn_error *err)
{
    trainer_state initial;
    cnn_status status = trainer_state_make(t, &initial, err);
    if (status != CNN_OK) return status;
    cnn_net_init_params(t->network, initial.own.params);
    status = trainer_state_put(t, &initial, err);
    trainer_state_free(&initial);
    return status;
}

/* ---- In an epoch ---- */

/* The clock stands while states are on their way; the wait for what was queued before is the epoch's. */
static cnn_status take(trainer *t, trainer_state *s, cnn_error *err)
{
    cnn_status status = cnn_sync(t->session, err);
    const double start = cnn_now();
    if (status == CNN_OK) status = trainer_state_get(t, s, err);
    t->paused += cnn_now() - start;
    return status;
}

cnn_status trainer_sample_before(trainer *t, const trainer_watch *watch, int set, int64_t first, int64_t steps,
                                 cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; watch != NULL && watch->samples != NULL && i < watch->samples->count && status == CNN_OK; i++) {
        trainer_sample *s = &watch->samples->list[i];
        if (s->test != (set == TEST_SET) || s->wanted < first || s->wanted >= first + steps) continue;
        status = take(t, &s->before, err);
        s->first = first;
        s->left = s->launches;
    }
    return status;
}

cnn_status trainer_sample_after(trainer *t, const trainer_watch *watch, int set, int64_t steps, bool last,
                                cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; watch != NULL && watch->samples != NULL && i < watch->samples->count && status == CNN_OK; i++) {
        trainer_sample *s = &watch->samples->list[i];
        if (s->test != (set == TEST_SET) || s->left == 0 || (--s->left > 0 && !last)) continue;
        s->left = 0;
        status = take(t, &s->after, err);
        s->steps = steps - s->first;
    }
    return status;
}

cnn_status trainer_sample_trained(trainer *t, const trainer_watch *watch, cnn_error *err)
{
    if (watch == NULL || watch->samples == NULL) return CNN_OK;
    const double start = cnn_now();
    const cnn_status status = trainer_get_params(t, watch->samples->trained, err);
    t->paused += cnn_now() - start;
    return status;
}

/* ---- Again ---- */

/* Its images' order as before the sample, and the state. */
static cnn_status go_back(trainer *t, int64_t epoch, const trainer_sample *s, cnn_error *err)
{
    cnn_status status = CNN_OK;
    if (!s->test) {
        trainer_draw_pass(t, TRAIN_SET, epoch);
        status = trainer_feed_order(t, TRAIN_SET, err);
    }
    return status == CNN_OK ? trainer_state_put(t, &s->before, err) : status;
}

static cnn_status repeat_step(trainer *t, const trainer_sample *s, int64_t step, cnn_error *err)
{
    const int set = s->test ? TEST_SET : TRAIN_SET;
    const int64_t batch = t->net->batch, first = step * batch, left = trainer_part(t, set)->count - first;
    return trainer_take(t, set, first, left < batch ? left : batch, err);
}

cnn_status trainer_repeat(trainer *t, int64_t epoch, const trainer_sample *s, int64_t at, trainer_state *one,
                          trainer_state *next, trainer_state *end, cnn_error *err)
{
    trainer_state now;
    cnn_error ignored;
    cnn_status status = trainer_state_make(t, &now, err);
    if (status == CNN_OK) status = trainer_state_get(t, &now, err);
    if (status != CNN_OK) goto cleanup;
    status = go_back(t, epoch, s, err);
    for (int64_t i = 0; i < s->steps && status == CNN_OK; i++) {
        if (i == at) status = trainer_state_get(t, one, err);
        if (status == CNN_OK) status = repeat_step(t, s, s->first + i, err);
        if (i == at && status == CNN_OK) status = trainer_state_get(t, next, err);
    }
    if (status == CNN_OK) status = trainer_feed_end(t, err);
    if (status == CNN_OK) status = trainer_state_get(t, end, err);
    const cnn_status back = trainer_state_put(t, &now, status == CNN_OK ? err : &ignored);
    if (status == CNN_OK) status = back;
cleanup:
    trainer_state_free(&now);
    return status == CNN_OK ? CNN_OK : trainer_name_error(t, "repeating steps", err);
}
