/* sample.c: states before and after some steps, and these steps once more. */
#include "harness/base/clock.h"
#include "harness/problem/names.h"
#include "trainer_parts.h"

#include <stdlib.h>
#include <string.h>

/* The clock stands while states are on their way; the wait for what was queued before is the epoch's. */
static cnn_status take(trainer *t, trainer_state *s, cnn_error *err)
{
    cnn_status status = cnn_sync(t->session, err);
    const double start = cnn_now();
    if (status == CNN_OK) status = trainer_state_get(t, s, err);
    t->paused += cnn_now() - start;
    return status;
}

/* A look under way ends where the next one begins, which takes it up: no step is run again for both. What it ends with
 * is brought already. A look that judges nothing neither ends nor ends others. */
static void end_others(trainer *t, trainer_samples *samples, const trainer_sample *s)
{
    const double start = cnn_now();
    const size_t states = (size_t)cnn_optimizer_states(t->optimizer.kind) + 1; /* and the gradients */
    for (int i = 0; i < samples->count && !s->idle; i++) {
        trainer_sample *o = &samples->list[i];
        if (o->idle || o->test != s->test || o->left == 0 || o->first >= s->first) continue;
        memcpy(o->after.own.params, s->before.own.params, trainer_param_bytes(t) + states * trainer_trained_bytes(t));
        o->after.own.step = s->before.own.step;
        o->after.loss_sum = s->before.loss_sum;
        o->after.correct = s->before.correct;
        o->steps = s->first - o->first;
        o->left = 0;
    }
    t->paused += cnn_now() - start; /* copies of the judge's are none of the epoch's time */
}

bool trainer_sample_single(const trainer_samples *samples, bool test, int64_t first, int64_t steps)
{
    for (int i = 0; samples != NULL && i < samples->count; i++) {
        const trainer_sample *s = &samples->list[i];
        if (!s->single || s->test != test) continue;
        if (s->left > 0 || (s->wanted >= first && s->wanted - first < steps)) return true;
    }
    return false;
}

cnn_status trainer_sample_before(trainer *t, trainer_samples *samples, int set, int64_t first, int64_t steps,
                                 cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; samples != NULL && i < samples->count && status == CNN_OK; i++) {
        trainer_sample *s = &samples->list[i];
        if (s->test != (set == TEST) || s->wanted < first || s->wanted >= first + steps) continue;
        status = take(t, &s->before, err);
        s->first = first;
        s->left = s->launches;
        if (status == CNN_OK) end_others(t, samples, s);
    }
    return status;
}

cnn_status trainer_sample_after(trainer *t, trainer_samples *samples, int set, int64_t steps, bool last, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0; samples != NULL && i < samples->count && status == CNN_OK; i++) {
        trainer_sample *s = &samples->list[i];
        if (s->test != (set == TEST) || s->left == 0 || (--s->left > 0 && !last)) continue;
        s->left = 0;
        status = take(t, &s->after, err);
        s->steps = steps - s->first;
    }
    return status;
}

cnn_status trainer_sample_trained(trainer *t, trainer_samples *samples, cnn_error *err)
{
    if (samples == NULL) return CNN_OK;
    const double start = cnn_now();
    const cnn_status status = trainer_get_params(t, samples->trained, err);
    t->paused += cnn_now() - start;
    return status;
}

/* ---- Again ---- */

/* Its images' order as before the sample, and the state. */
static cnn_status go_back(trainer *t, int64_t epoch, const trainer_sample *s, cnn_error *err)
{
    cnn_status status = CNN_OK;
    if (!s->test) {
        trainer_draw_pass(t, TRAIN, epoch);
        status = trainer_feed_order(t, TRAIN, err);
    }
    return status == CNN_OK ? trainer_state_put(t, &s->before, err) : status;
}

static cnn_status repeat_step(trainer *t, const trainer_sample *s, int64_t step, cnn_error *err)
{
    const int set = s->test ? TEST : TRAIN;
    const int64_t batch = t->net->batch, first = step * batch, left = t->count[set] - first;
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
    return trainer_name_error(t, "repeating steps", status, err);
}
