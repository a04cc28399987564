/* laps.c: adds up the laps of each step; see profile.h.
 *
 * Between its marks a step is the list of calls that it was made from, and each call ends with a mark of its own (""):
 * so laps find their layer by counting. A call without phases of its own is one phase, named like its operation; what
 * is left behind the last phase of others is a gap: launches, the marks themselves. */
#include "harness/base/clock.h"
#include "harness/device/call.h"
#include "harness/problem/names.h"
#include "harness/problem/shape.h"
#include "parts.h"

#include <string.h>

/* The calls of a step in order; NULL is the gathering of its images. */
typedef struct step_calls {
    bool gather;
    const call_list *lists[3];
    int list, at;
} step_calls;

static step_calls calls_of(const cnn_trainer *t)
{
    const step_batch *b = t->laps.batch;
    step_calls calls = {.gather = t->gathers && (!t->params.graphs || step_gathers_by_cursor(t))};
    if (t->laps.mode == TRAIN)
        calls.lists[0] = &b->forward, calls.lists[1] = &b->backward, calls.lists[2] = &t->update;
    else
        calls.lists[0] = &b->inference;
    return calls;
}

/* False behind the last one. */
static bool next_call(step_calls *c, const step_call **call)
{
    *call = NULL;
    if (c->gather) return c->gather = false, true;
    while (c->list < 3 && c->lists[c->list] != NULL && c->at == c->lists[c->list]->count) c->list++, c->at = 0;
    if (c->list == 3 || c->lists[c->list] == NULL) return false;
    *call = &c->lists[c->list]->calls[c->at++];
    return true;
}

/* The row that a call's time goes to, its phase that of an operation without phases. */
static profile_row row_of(const cnn_trainer *t, const step_call *call)
{
    const bool test = t->laps.mode == TEST;
    profile_row row = {.layer = PROFILE_IMAGES, .pass = test ? "test" : "", .place = -2 + test};
    const char *phase = "gather";
    if (call != NULL && call->plan < 0) {
        row.layer = PROFILE_GRADIENTS, row.place = PLACE_GRADIENTS, phase = "copy";
    } else if (call != NULL) {
        const step_plan *p = &t->plans[call->plan];
        const bool update = p->layer == OPTIMIZER_LAYER;
        phase = cnn_op_name(p->plan.problem.op);
        row.flops = cnn_flops(&p->plan.problem, p->plan.dir);
        row.layer = update ? PROFILE_UPDATE : PROFILE_GRADIENTS;
        row.place = update ? PLACE_UPDATE : PLACE_GRADIENTS;
        if (p->layer >= 0 && !update) {
            row.layer = t->net->layers[p->layer].name;
            row.pass = test ? "test" : cnn_dir_name(p->plan.dir);
            row.place = p->layer * PLACES_A_LAYER + (test ? PLACE_TEST : (int)p->plan.dir);
        }
    }
    snprintf(row.phase, sizeof row.phase, "%s", phase);
    return row;
}

/* Adds the laps of one call; *used gets how many there were. */
static cnn_status add_call(trainer_profile *p, profile_row row, const cnn_lap *laps, int count, int *used,
                           cnn_error *err)
{
    char whole[sizeof row.phase];
    memcpy(whole, row.phase, sizeof whole);
    row.calls = 1;
    for (*used = 0; *used < count; row.flops = 0.0) {
        const cnn_lap *lap = &laps[(*used)++];
        const bool end = lap->phase[0] == '\0', gap = end && *used > 1;
        memcpy(row.phase, end ? whole : lap->phase, sizeof row.phase);
        cnn_answer_text(row.phase, sizeof row.phase);
        row.seconds = lap->seconds;
        const cnn_status status = gap ? profile_overhead(p, "gaps", lap->seconds, err) : profile_add(p, &row, err);
        if (status != CNN_OK || end) return status;
    }
    return CNN_FAIL(err, CNN_INTERNAL, "the last operation of a step has no end in its laps");
}

static cnn_status add_laps(cnn_trainer *t, const cnn_lap *laps, int count, double *seconds, cnn_error *err)
{
    step_calls calls = calls_of(t);
    const step_call *call;
    int first = 0, used = 0;
    *seconds = 0.0;
    for (int i = 0; i < count; i++) *seconds += laps[i].seconds;
    while (next_call(&calls, &call)) {
        const cnn_status status = add_call(t->params.profile, row_of(t, call), laps + first, count - first, &used, err);
        if (status != CNN_OK) return status;
        first += used;
    }
    return first == count ? CNN_OK
                          : CNN_FAIL(err, CNN_INTERNAL, "a step has %d laps that no operation made", count - first);
}

cnn_status step_laps_use(cnn_trainer *t, step_batch *batch, int mode, cnn_error *err)
{
    const cnn_session *s = t->session;
    if (t->params.profile == NULL) return CNN_OK;
    if (batch == NULL) return CNN_CALL(s->impl, profile->use, err, s->context, NULL, err);
    cnn_status status = CNN_OK;
    if (batch->laps[mode] == NULL) status = CNN_CALL(s->impl, profile->open, err, s->context, &batch->laps[mode], err);
    return status == CNN_OK ? CNN_CALL(s->impl, profile->use, err, s->context, batch->laps[mode], err) : status;
}

cnn_status step_laps_begin(cnn_trainer *t, step_batch *batch, int mode, cnn_error *err)
{
    if (t->params.profile == NULL) return CNN_OK;
    t->laps = (step_laps){batch, mode, cnn_now()};
    return t->params.graphs ? CNN_OK : step_laps_use(t, batch, mode, err);
}

cnn_status step_laps_end(cnn_trainer *t, cnn_error *err)
{
    trainer_profile *p = t->params.profile;
    const cnn_session *s = t->session;
    const cnn_lap *laps = NULL;
    double seconds = 0.0;
    int count = 0;
    if (p == NULL) return CNN_OK;
    cnn_status status = cnn_sync(s, err);
    const double end = cnn_now();
    if (status == CNN_OK)
        status =
            CNN_CALL(s->impl, profile->read, err, s->context, t->laps.batch->laps[t->laps.mode], &laps, &count, err);
    if (status == CNN_OK && (count < 0 || (count > 0 && laps == NULL)))
        status = CNN_FAIL(err, CNN_INTERNAL, "%s: laps_read gave %d laps%s", s->impl->name, count,
                          laps == NULL ? " in a list that is NULL" : "");
    if (status == CNN_OK) status = add_laps(t, laps, count, &seconds, err);
    if (status == CNN_OK) status = profile_overhead(p, "launch, wait", end - t->laps.start - seconds, err);
    if (status == CNN_OK && !t->params.graphs) status = step_laps_use(t, NULL, 0, err);
    return status == CNN_OK ? profile_overhead(p, "profiling", cnn_now() - end, err) : status;
}
