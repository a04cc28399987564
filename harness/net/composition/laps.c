/* laps.c: adds up the laps of each step; see profile.h.
 *
 * Between its marks a step is the list of calls that it was made from, and each call ends with a mark of its own (""):
 * so laps find their layer by counting. A call without phases of its own is one phase, named like its operation; what
 * is left behind the last phase of others is a gap: launches, the marks themselves. */
#include "harness/base/clock.h"
#include "harness/problem/names.h"
#include "harness/problem/shape.h"
#include "parts.h"

#include <string.h>

/* The row that a call's time goes to, its phase that of an operation without phases. NULL is the gathering of the
 * step's images. */
static profile_row row_of(const cnn_trainer *t, const step_call *call)
{
    const bool test = t->laps.mode == TEST;
    profile_row row = {.layer = PROFILE_IMAGES, .pass = test ? "test" : "", .place = -2 + test};
    const char *phase = "gather";
    if (call != NULL && call->move != STAYS) {
        row.layer = PROFILE_OFFLOAD, row.place = PLACE_OFFLOAD;
        phase = call->move == MOVES_OUT || call->move == MOVES_BACK ? "begin a copy" : "wait for a copy";
    } else if (call != NULL && call->plan < 0 && call->again) {
        row.layer = PROFILE_RECOMPUTE, row.place = PLACE_RECOMPUTE, phase = "running statistics";
    } else if (call != NULL && call->plan < 0) {
        row.layer = PROFILE_GRADIENTS, row.place = PLACE_GRADIENTS, phase = "copy";
    } else if (call != NULL) {
        const step_plan *p = &t->plans[call->plan];
        const bool update = p->layer == OPTIMIZER_LAYER;
        phase = cnn_op_name(p->plan.problem.op);
        row.flops = cnn_flops(&p->plan.problem, p->plan.dir);
        row.bytes = cnn_bytes(&p->plan.problem, p->plan.dir);
        row.problem = p->plan.problem;
        row.algorithm = p->plan.algorithm;
        row.choice = p->plan.choice;
        row.layer = update ? PROFILE_UPDATE : PROFILE_GRADIENTS;
        row.place = update ? PLACE_UPDATE : PLACE_GRADIENTS;
        if (p->layer >= 0 && !update) {
            row.layer = t->net->layers[p->layer].name;
            row.pass = test ? "test" : call->again ? PROFILE_RECOMPUTE : cnn_dir_name(p->plan.dir);
            row.place = p->layer * PLACES_A_LAYER + (test ? PLACE_TEST : call->again ? PLACE_AGAIN : (int)p->plan.dir);
        }
    }
    snprintf(row.phase, sizeof row.phase, "%s", phase);
    return row;
}

/* The laps of a step, from the next one on. */
typedef struct step_marks {
    const cnn_lap *next, *end;
} step_marks;

/* Adds the laps of one call. */
static cnn_status add_call(const cnn_trainer *t, const step_call *call, step_marks *marks, cnn_error *err)
{
    epoch_profile *p = t->loop->profile;
    profile_row row = row_of(t, call);
    char whole[sizeof row.phase];
    memcpy(whole, row.phase, sizeof whole);
    row.calls = 1;
    for (const cnn_lap *first = marks->next; marks->next < marks->end; row.flops = row.bytes = 0.0) {
        const cnn_lap *lap = marks->next++;
        const bool end = lap->phase[0] == '\0', gap = end && lap > first;
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
    const call_list *const lists[] = {&t->laps.batch->calls[t->laps.mode], &t->update};
    step_marks marks = {laps, laps + count};
    cnn_status status = CNN_OK;
    *seconds = 0.0;
    for (int i = 0; i < count; i++) *seconds += laps[i].seconds;
    if (t->gathers && (!t->graphs || step_gathers_by_cursor(t))) status = add_call(t, NULL, &marks, err);
    for (int list = 0; list < (t->laps.mode == TRAIN ? 2 : 1); list++)
        for (int i = 0; i < lists[list]->count && status == CNN_OK; i++)
            if (!lists[list]->calls[i].done) status = add_call(t, &lists[list]->calls[i], &marks, err);
    if (status != CNN_OK || marks.next == marks.end) return status;
    return CNN_FAIL(err, CNN_INTERNAL, "a step has %d laps that no operation made", (int)(marks.end - marks.next));
}

cnn_status step_laps_use(cnn_trainer *t, step_batch *batch, int mode, cnn_error *err)
{
    const cnn_session *s = t->session;
    if (t->loop->profile == NULL) return CNN_OK;
    if (batch == NULL) return CNN_CALL(s->impl, profile->use, err, s->context, NULL, err);
    cnn_status status = CNN_OK;
    if (batch->laps[mode] == NULL) status = CNN_CALL(s->impl, profile->open, err, s->context, &batch->laps[mode], err);
    return status == CNN_OK ? CNN_CALL(s->impl, profile->use, err, s->context, batch->laps[mode], err) : status;
}

cnn_status step_laps_begin(cnn_trainer *t, step_batch *batch, int mode, cnn_error *err)
{
    if (t->loop->profile == NULL) return CNN_OK;
    t->laps = (step_laps){batch, mode, cnn_now()};
    return t->graphs ? CNN_OK : step_laps_use(t, batch, mode, err);
}

cnn_status step_laps_end(cnn_trainer *t, cnn_error *err)
{
    epoch_profile *p = t->loop->profile;
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
    if (status == CNN_OK && !t->graphs) status = step_laps_use(t, NULL, 0, err);
    return status == CNN_OK ? profile_overhead(p, "profiling", cnn_now() - end, err) : status;
}
