/* graph.c: captures steps, so that an epoch is a row of replays.
 *
 * A graph holds everything of a step: gathering the batch (where that happens on the device), forward, backward,
 * update. Full batches are captured STEPS_A_GRAPH in a row as well: the host then launches so many steps at once.
 * Before it is captured every operation runs once, for libraries set themselves up when first called, which no capture
 * allows; training starts over afterwards. A step that cannot be captured is an error, not a slower run that looks
 * like a captured one. */
#include "harness/base/text.h"
#include "parts.h"

/* How many steps of a pass take mb images. */
static int64_t steps_of(const cnn_trainer *t, int mode, int64_t mb)
{
    const int64_t count = t->loop->count[mode], full = t->net->batch;
    return mb == full ? count / full : count % full == mb;
}

static cnn_status warm_up(cnn_trainer *t, cnn_error *err)
{
    cnn_status status = CNN_OK;
    int steps = 0;
    for (int b = 0; b < t->n_batches; b++)
        for (int mode = 0; mode < PASSES && status == CNN_OK; mode++) {
            const step_batch *batch = &t->batches[steps % t->n_lists][b];
            if (steps_of(t, mode, batch->mb) == 0) continue;
            if (t->gathers) status = step_gather(t, &t->loop->images[mode], 0, batch->mb, err);
            if (status == CNN_OK) status = step_run_mode(t, batch, mode, err);
            steps++;
        }
    return status == CNN_OK ? cnn_sync(t->session, err) : status;
}

static cnn_status capture_steps(cnn_trainer *t, step_batch *batch, int mode, int steps, cnn_graph **graph,
                                cnn_error *err)
{
    cnn_status status = CNN_CALL(t->session->impl, capture->begin, err, t->session->context, err);
    if (status != CNN_OK) return status;
    status = step_laps_use(t, batch, mode, err);
    for (int i = 0; i < steps && status == CNN_OK; i++) {
        if (step_gathers_by_cursor(t)) status = step_gather(t, &t->loop->images[mode], t->cursor, batch->mb, err);
        if (status == CNN_OK) status = step_run_mode(t, batch, mode, err);
    }
    if (status == CNN_OK) status = step_laps_use(t, NULL, mode, err);
    return cnn_capture_end(t->session, status, graph, err);
}

static cnn_status capture_batch(cnn_trainer *t, step_batch *batch, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int mode = 0; mode < PASSES && status == CNN_OK; mode++) {
        const int64_t steps = steps_of(t, mode, batch->mb);
        if (steps > 0) status = capture_steps(t, batch, mode, 1, &batch->step[mode], err);
        if (status == CNN_OK && steps >= STEPS_A_GRAPH && step_gathers_by_cursor(t) && t->loop->profile == NULL)
            status = capture_steps(t, batch, mode, STEPS_A_GRAPH, &batch->steps[mode], err);
    }
    if (status == CNN_OK) return CNN_OK;
    return cnn_error_before(
        err, status,
        "a step of %lld images cannot be captured as a graph (--no-graph trains without): ", (long long)batch->mb);
}

void step_forget(const cnn_trainer *t, step_batch *batch)
{
    const cnn_impl *impl = t->session->impl;
    cnn_context *context = t->session->context;
    for (int mode = 0; mode < PASSES; mode++) {
        if (batch->step[mode] != NULL) CNN_CALL_VOID(impl, capture->free, context, batch->step[mode]);
        if (batch->steps[mode] != NULL) CNN_CALL_VOID(impl, capture->free, context, batch->steps[mode]);
        if (batch->laps[mode] != NULL) CNN_CALL_VOID(impl, profile->close, context, batch->laps[mode]);
        batch->step[mode] = batch->steps[mode] = NULL;
        batch->laps[mode] = NULL;
    }
}

cnn_status step_capture(cnn_trainer *t, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int list = 0; t->graphs && list < t->n_lists; list++)
        for (int b = 0; b < t->n_batches && status == CNN_OK; b++) status = capture_batch(t, &t->batches[list][b], err);
    t->cursor = -1; /* what was captured has not run */
    return status;
}

cnn_status step_prepare(cnn_trainer *t, cnn_error *err)
{
    const cnn_status status = warm_up(t, err);
    return status == CNN_OK ? step_capture(t, err) : status;
}
