/* mock_stream.c: the mock's stream: calls that are written down, run when the host waits for them, or kept as a graph.
 */
#include "mock_parts.h"

#include <stdlib.h>
#include <string.h>

cnn_status mock_append(calls *to, const call *from, int64_t count, cnn_error *err)
{
    if (to->count + count > to->capacity) {
        const int64_t capacity = 2 * to->capacity + count + 64;
        call *more = realloc(to->list, (size_t)capacity * sizeof *more);
        if (more == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the mock's stream");
        to->list = more;
        to->capacity = capacity;
    }
    memcpy(to->list + to->count, from, (size_t)count * sizeof *from);
    to->count += count;
    return CNN_OK;
}

/* A sum in another order: 840 units in the last place at most, in each run others. */
static void disorder(mock *m, const call *c)
{
    const cnn_fc_desc *d = &c->plan.problem.u.fc;
    if (m->knobs[MOCK_DISORDER] == 0 || !c->planned || c->plan.dir != CNN_BWD_W) return;
    if (c->plan.problem.op != CNN_OP_FC || d->t.dtype != CNN_F32) return;
    float *dw = c->args.weighted.dw;
    for (int64_t i = 0; i < d->oc * d->ic * d->ih * d->iw; i++)
        dw[i] *= (float)(1.0 + rng_real(&m->disorder, -1e-4, 1e-4));
}

cnn_status mock_run_until(mock *m, int64_t place, cnn_error *err)
{
    while (m->ran < place) {
        const call *c = &m->queue.list[m->ran++];
        m->dead = m->dead || ++m->executed == m->knobs[MOCK_FAIL_AT];
        if (m->dead) return CNN_FAIL(err, CNN_DEVICE, "mock: operation %lld failed", (long long)m->executed);
        const int64_t from = m->knobs[MOCK_RESTS_FROM];
        if (from > 0 && m->executed >= from && c->planned && c->plan.dir == CNN_BWD_W) continue;
        const cnn_status status = c->second ? mock_beside(m, c, err) : c->run(m, c, err);
        if (status != CNN_OK) return status;
        disorder(m, c);
    }
    return m->dead ? CNN_FAIL(err, CNN_DEVICE, "mock: the context is dead") : CNN_OK;
}

cnn_status mock_finish(mock *m, const char *what, cnn_error *err)
{
    if (m->capture != NULL) return CNN_FAIL(err, CNN_DEVICE, "mock: %s is not allowed in a capture", what);
    const cnn_status status = mock_run_until(m, m->queue.count, err);
    m->queue.count = m->ran = 0;
    for (int i = 0; i < MOCK_LANES; i++) m->lanes[i].used_at = 0;
    m->last_lane = -1;
    return status;
}

cnn_status mock_launch(mock *m, const call *launched, cnn_error *err)
{
    call here = *launched;
    const call *c = &here;
    here.second = m->second;
    if (m->dead) return CNN_FAIL(err, CNN_DEVICE, "mock: the context is dead");
    if (m->capture != NULL && m->knobs[MOCK_REFUSE] == 2)
        return CNN_FAIL(err, CNN_DEVICE, "mock: this operation cannot be captured");
    if (m->capture != NULL) return mock_append(m->capture, c, 1, err);
    m->counts.launches++;
    const cnn_status status = mock_append(&m->queue, c, 1, err);
    return status == CNN_OK && m->knobs[MOCK_SYNC_LAUNCHES] ? mock_run_until(m, m->queue.count, err) : status;
}

cnn_status mock_sync(cnn_context *context, cnn_error *err) { return mock_finish(mock_of(context), "sync", err); }

/* ---- Graphs ---- */

static cnn_status mock_capture_begin(cnn_context *context, cnn_error *err)
{
    mock *m = mock_of(context);
    if (m->knobs[MOCK_SYNC_LAUNCHES]) return CNN_FAIL(err, CNN_UNSUPPORTED, "mock: sync_launches=1 captures nothing");
    if (m->knobs[MOCK_REFUSE] == 1) return CNN_FAIL(err, CNN_DEVICE, "mock: nothing can be captured");
    if (m->capture != NULL) return CNN_FAIL(err, CNN_DEVICE, "mock: a capture in a capture");
    m->capture = calloc(1, sizeof *m->capture);
    return m->capture != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "mock: no memory");
}

static void mock_graph_free(cnn_context *context, cnn_graph *graph)
{
    calls *g = (calls *)(void *)graph;
    free(g->list);
    free(g);
}

static cnn_status mock_capture_end(cnn_context *context, cnn_graph **graph, cnn_error *err)
{
    mock *m = mock_of(context);
    *graph = (cnn_graph *)(void *)m->capture;
    m->capture = NULL;
    if (m->knobs[MOCK_REFUSE] != 3) return CNN_OK;
    mock_graph_free(context, *graph);
    return CNN_FAIL(err, CNN_DEVICE, "mock: this capture was in vain");
}

static cnn_status mock_graph_run(cnn_context *context, cnn_graph *graph, cnn_error *err)
{
    mock *m = mock_of(context);
    const calls *g = (const calls *)(void *)graph;
    m->counts.replays++;
    if (m->capture != NULL) return CNN_FAIL(err, CNN_DEVICE, "mock: a replay in a capture");
    if (m->dead) return CNN_FAIL(err, CNN_DEVICE, "mock: the context is dead");
    return mock_append(&m->queue, g->list, g->count, err);
}

const cnn_capture mock_capture = {
    .begin = mock_capture_begin, .end = mock_capture_end, .run = mock_graph_run, .free = mock_graph_free};
