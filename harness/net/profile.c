/* profile.c: adds up the laps of each step; see profile.h.
 *
 * Between its marks a step is the list of calls that it was made from, and each call ends with a mark of its own (""):
 * so laps find their layer by counting. A call without phases of its own is one phase, named like its operation; what
 * is left behind the last phase of others is a gap: launches, the marks themselves. */
#include "harness/base/clock.h"
#include "harness/device/call.h"
#include "harness/problem/names.h"
#include "harness/problem/shape.h"
#include "composition/parts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct trainer_profile {
    epoch_profile epoch;
    int latest;           /* the row found last: the next lap's is mostly the one behind it */
    trainer_batch *batch; /* the step under way */
    int set;
    double start, feed_s; /* feed_s: of a batch that is fed before its step, not in it */
};

static const char test_pass[] = "test", no_pass[] = "";
enum { PLACES_A_LAYER = 8, PLACE_TEST = 7, PLACE_GRADIENTS = INT_MAX - 2, PLACE_UPDATE, PLACE_OVERHEAD };

cnn_status trainer_profile_open(trainer *t, cnn_error *err)
{
    const cnn_impl *impl = t->session->impl;
    if (impl->profile == NULL)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "implementation %s cannot be profiled: it marks no phases", impl->name);
    if (t->params.fused)
        return CNN_FAIL(err, CNN_UNSUPPORTED, "a train step of %s's own cannot be profiled: it is one operation",
                        impl->name);
    t->profile = calloc(1, sizeof *t->profile);
    return t->profile != NULL ? CNN_OK : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a profile");
}

void trainer_profile_close(trainer *t)
{
    const cnn_session *s = t->session;
    if (t->profile == NULL) return;
    for (int lane = 0; lane < LANES; lane++)
        for (int b = 0; b < MAX_BATCHES; b++)
            for (int set = 0; set < SETS; set++)
                if (t->batches[lane][b].laps[set] != NULL)
                    CNN_CALL_VOID(s->impl, profile->close, s->context, t->batches[lane][b].laps[set]);
    free(t->profile->epoch.rows);
    free(t->profile);
}

const epoch_profile *trainer_profiled(const trainer *t) { return t->profile != NULL ? &t->profile->epoch : NULL; }

/* ---- Rows ---- */

static bool same_row(const profile_row *a, const profile_row *b)
{
    return a->place == b->place && a->pass == b->pass && strcmp(a->phase, b->phase) == 0;
}

static cnn_status add(trainer_profile *p, const profile_row *row, cnn_error *err)
{
    epoch_profile *e = &p->epoch;
    for (int i = 1; i <= e->count; i++) {
        profile_row *old = &e->rows[(p->latest + i) % e->count];
        if (!same_row(old, row)) continue;
        old->seconds += row->seconds;
        old->flops += row->flops;
        old->calls += row->calls;
        p->latest = (int)(old - e->rows);
        return CNN_OK;
    }
    if (e->count == e->capacity) {
        const int capacity = 2 * e->capacity + 64;
        profile_row *more = realloc(e->rows, (size_t)capacity * sizeof *more);
        if (more == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a profile of %d rows", capacity);
        e->rows = more;
        e->capacity = capacity;
    }
    p->latest = e->count;
    e->rows[e->count++] = *row;
    return CNN_OK;
}

static cnn_status add_overhead(trainer_profile *p, const char *what, double seconds, cnn_error *err)
{
    profile_row row = {
        .layer = PROFILE_OVERHEAD, .pass = no_pass, .seconds = seconds, .calls = 1, .place = PLACE_OVERHEAD};
    snprintf(row.phase, sizeof row.phase, "%s", what);
    return add(p, &row, err);
}

cnn_status trainer_profile_note(trainer *t, const char *what, double since, cnn_error *err)
{
    return t->profile != NULL ? add_overhead(t->profile, what, cnn_now() - since, err) : CNN_OK;
}

/* ---- A step ---- */

/* The calls of a step in order; NULL is the gathering of its images. */
typedef struct step_calls {
    bool gather;
    const call_list *lists[3];
    int list, at;
} step_calls;

static step_calls calls_of(const trainer *t)
{
    const trainer_batch *b = t->profile->batch;
    step_calls calls = {.gather = !t->graphs || trainer_feeds_itself(t)};
    if (t->profile->set == TRAIN_SET)
        calls.lists[0] = &b->forward, calls.lists[1] = &b->backward, calls.lists[2] = &t->update;
    else
        calls.lists[0] = &b->inference;
    return calls;
}

/* False behind the last one. */
static bool next_call(step_calls *c, const trainer_call **call)
{
    *call = NULL;
    if (c->gather) return c->gather = false, true;
    while (c->list < 3 && c->lists[c->list] != NULL && c->at == c->lists[c->list]->count) c->list++, c->at = 0;
    if (c->list == 3 || c->lists[c->list] == NULL) return false;
    *call = &c->lists[c->list]->calls[c->at++];
    return true;
}

/* The row that a call's time goes to, its phase that of an operation without phases. */
static profile_row row_of(const trainer *t, const trainer_call *call)
{
    const bool test = t->profile->set == TEST_SET;
    profile_row row = {.layer = PROFILE_IMAGES, .pass = test ? test_pass : no_pass, .place = -2 + test};
    const char *phase = "gather";
    if (call != NULL && call->plan < 0) {
        row.layer = PROFILE_GRADIENTS, row.place = PLACE_GRADIENTS, phase = "copy";
    } else if (call != NULL) {
        const trainer_plan *p = &t->plans[call->plan];
        const bool update = p->layer == OPTIMIZER_LAYER;
        phase = cnn_op_name(p->plan.problem.op);
        row.flops = cnn_flops(&p->plan.problem, p->plan.dir);
        row.layer = update ? PROFILE_UPDATE : PROFILE_GRADIENTS;
        row.place = update ? PLACE_UPDATE : PLACE_GRADIENTS;
        if (p->layer >= 0 && !update) {
            row.layer = t->net->layers[p->layer].name;
            row.pass = test ? test_pass : cnn_dir_name(p->plan.dir);
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
        const cnn_status status = gap ? add_overhead(p, "gaps", lap->seconds, err) : add(p, &row, err);
        if (status != CNN_OK || end) return status;
    }
    return CNN_FAIL(err, CNN_INTERNAL, "the last operation of a step has no end in its laps");
}

static cnn_status add_laps(trainer *t, const cnn_lap *laps, int count, double *seconds, cnn_error *err)
{
    step_calls calls = calls_of(t);
    const trainer_call *call;
    int first = 0, used = 0;
    *seconds = 0.0;
    for (int i = 0; i < count; i++) *seconds += laps[i].seconds;
    while (next_call(&calls, &call)) {
        const cnn_status status = add_call(t->profile, row_of(t, call), laps + first, count - first, &used, err);
        if (status != CNN_OK) return status;
        first += used;
    }
    return first == count ? CNN_OK
                          : CNN_FAIL(err, CNN_INTERNAL, "a step has %d laps that no operation made", count - first);
}

cnn_status trainer_profile_use(trainer *t, trainer_batch *batch, int set, cnn_error *err)
{
    const cnn_session *s = t->session;
    if (t->profile == NULL) return CNN_OK;
    if (batch == NULL) return CNN_CALL(s->impl, profile->use, err, s->context, NULL, err);
    cnn_status status = CNN_OK;
    if (batch->laps[set] == NULL) status = CNN_CALL(s->impl, profile->open, err, s->context, &batch->laps[set], err);
    return status == CNN_OK ? CNN_CALL(s->impl, profile->use, err, s->context, batch->laps[set], err) : status;
}

cnn_status trainer_profile_begin(trainer *t, trainer_batch *batch, int set, cnn_error *err)
{
    trainer_profile *p = t->profile;
    if (p == NULL) return CNN_OK;
    p->batch = batch;
    p->set = set;
    p->feed_s = 0.0;
    p->start = cnn_now();
    return t->graphs ? CNN_OK : trainer_profile_use(t, batch, set, err);
}

/* A batch that is fed before a captured step is the host's work, and the upload. */
cnn_status trainer_profile_fed(trainer *t, cnn_error *err)
{
    trainer_profile *p = t->profile;
    if (p == NULL || !t->graphs) return CNN_OK;
    p->feed_s = cnn_now() - p->start;
    return add_overhead(p, "feeding", p->feed_s, err);
}

cnn_status trainer_profile_end(trainer *t, cnn_error *err)
{
    trainer_profile *p = t->profile;
    const cnn_session *s = t->session;
    const cnn_lap *laps = NULL;
    double seconds = 0.0;
    int count = 0;
    if (p == NULL) return CNN_OK;
    cnn_status status = cnn_sync(s, err);
    const double end = cnn_now();
    if (status == CNN_OK)
        status = CNN_CALL(s->impl, profile->read, err, s->context, p->batch->laps[p->set], &laps, &count, err);
    if (status == CNN_OK && (count < 0 || (count > 0 && laps == NULL)))
        status = CNN_FAIL(err, CNN_INTERNAL, "%s: laps_read gave %d laps%s", s->impl->name, count,
                          laps == NULL ? " in a list that is NULL" : "");
    if (status == CNN_OK) status = add_laps(t, laps, count, &seconds, err);
    if (status == CNN_OK) status = add_overhead(p, "launch, wait", end - p->start - p->feed_s - seconds, err);
    if (status == CNN_OK && !t->graphs) status = trainer_profile_use(t, NULL, 0, err);
    return status == CNN_OK ? add_overhead(p, "profiling", cnn_now() - end, err) : status;
}

/* ---- An epoch ---- */

void trainer_profile_start(trainer *t)
{
    if (t->profile != NULL) t->profile->epoch.count = t->profile->latest = 0;
}

/* In the network's order; rows of one place stay as they ran. They are few, and nearly sorted. */
static void sort(epoch_profile *e)
{
    for (int i = 1; i < e->count; i++) {
        const profile_row moved = e->rows[i];
        int k = i;
        for (; k > 0 && e->rows[k - 1].place > moved.place; k--) e->rows[k] = e->rows[k - 1];
        e->rows[k] = moved;
    }
}

cnn_status trainer_profile_finish(trainer *t, double seconds, cnn_error *err)
{
    if (t->profile == NULL) return CNN_OK;
    epoch_profile *e = &t->profile->epoch;
    double explained = 0.0;
    for (int i = 0; i < e->count; i++) explained += e->rows[i].seconds;
    const cnn_status status = add_overhead(t->profile, "other", seconds - explained, err);
    e->seconds = seconds;
    sort(e);
    return status;
}
