/* graph.c: captures steps, so that an epoch is a row of replays.
 *
 * A graph holds everything of a step: gathering the batch (where that happens on the device), forward, backward,
 * update. Full batches are captured STEPS_A_GRAPH in a row as well: the host then launches so many steps at once.
 * Before it is captured every operation runs once, for libraries set themselves up when first called, which no capture
 * allows; the trainer starts over afterwards. A step that cannot be captured is an error, not a slower run that looks
 * like a captured one. */
#include "harness/device/call.h"
#include "parts.h"

bool trainer_uses_graph(const cnn_session *session, const trainer_params *params)
{
    return session->impl->capture != NULL && !params->no_graph && !params->fused;
}

/* How many steps of an epoch take mb images of this set. */
static int64_t steps_of(const trainer *t, int set, int64_t mb)
{
    const int64_t count = trainer_part(t, set)->count, full = t->net->batch;
    return mb == full ? count / full : count % full == mb;
}

static cnn_status warm_up(trainer *t, cnn_error *err)
{
    cnn_status status = CNN_OK;
    int steps = 0;
    for (int b = 0; b < t->n_batches; b++)
        for (int set = 0; set < SETS && status == CNN_OK; set++) {
            const int lane = steps % t->n_lanes;
            const trainer_batch *batch = &t->batches[lane][b];
            if (steps_of(t, set, batch->mb) == 0) continue;
            status = trainer_feed_order(t, set, err); /* image 0, again and again */
            if (status == CNN_OK) status = trainer_feed(t, lane, set, 0, batch->mb, err);
            if (status == CNN_OK) status = trainer_set_step(t, batch, lane, set, err);
            steps++;
        }
    if (status == CNN_OK) status = trainer_feed_end(t, err);
    return status == CNN_OK ? cnn_sync(t->session, err) : status;
}

static cnn_status capture_steps(trainer *t, trainer_batch *batch, int lane, int set, int steps, cnn_graph **graph,
                                cnn_error *err)
{
    const cnn_impl *impl = t->session->impl;
    cnn_context *context = t->session->context;
    cnn_error after;
    cnn_status status = CNN_CALL(impl, capture->begin, err, context, err);
    if (status != CNN_OK) return status;
    status = trainer_profile_use(t, batch, set, err);
    for (int i = 0; i < steps && status == CNN_OK; i++) {
        if (trainer_feeds_itself(t)) status = trainer_feed(t, lane, set, 0, batch->mb, err);
        if (status == CNN_OK) status = trainer_set_step(t, batch, lane, set, err);
    }
    if (status == CNN_OK) status = trainer_profile_use(t, NULL, set, err);
    if (status == CNN_OK) {
        status = CNN_CALL(impl, capture->end, err, context, graph, err);
        if (status != CNN_OK) *graph = NULL;
    } else { /* ends the capture all the same; err says what went wrong first */
        if (CNN_CALL(impl, capture->end, &after, context, graph, &after) == CNN_OK)
            CNN_CALL_VOID(impl, capture->free, context, *graph);
        *graph = NULL;
    }
    return status;
}

static cnn_status capture_batch(trainer *t, trainer_batch *batch, int lane, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int set = 0; set < SETS && status == CNN_OK; set++) {
        const int64_t steps = steps_of(t, set, batch->mb);
        if (steps > 0) status = capture_steps(t, batch, lane, set, 1, &batch->step[set], err);
        if (status == CNN_OK && steps >= STEPS_A_GRAPH && trainer_feeds_itself(t) && t->profile == NULL)
            status = capture_steps(t, batch, lane, set, STEPS_A_GRAPH, &batch->steps[set], err);
    }
    if (status == CNN_OK) return CNN_OK;
    char why[CNN_MESSAGE_MAX];
    snprintf(why, sizeof why, "%s", err->message);
    return CNN_FAIL(err, status, "a step of %lld images cannot be captured as a graph (--no-graph trains without): %s",
                    (long long)batch->mb, why);
}

cnn_status trainer_capture(trainer *t, cnn_error *err)
{
    cnn_status status = warm_up(t, err);
    for (int lane = 0; t->graphs && lane < t->n_lanes; lane++)
        for (int b = 0; b < t->n_batches && status == CNN_OK; b++)
            status = capture_batch(t, &t->batches[lane][b], lane, err);
    return status;
}

void trainer_graphs_free(trainer *t)
{
    const cnn_impl *impl = t->session->impl;
    for (int lane = 0; lane < LANES; lane++)
        for (int b = 0; b < MAX_BATCHES; b++)
            for (int set = 0; set < SETS; set++) {
                const trainer_batch *batch = &t->batches[lane][b];
                if (batch->step[set] != NULL) CNN_CALL_VOID(impl, capture->free, t->session->context, batch->step[set]);
                if (batch->steps[set] != NULL)
                    CNN_CALL_VOID(impl, capture->free, t->session->context, batch->steps[set]);
            }
}
