/* composed.c: see composed.h. */
#include "composed.h"

#include "harness/base/rng.h"
#include "harness/cpu/gather.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUDGES = 8, MORE_NUDGES = 24, STEPS_MOST = 64 };
static const double strayed_times = 2.0, strayed_most = 0.25; /* most: of the way, of the images and of their losses */
static const double close_most = 0.01; /* likewise: what a second run may differ by (training.c) */

struct composed {
    cnn_session own; /* opened here; empty: the caller's does it */
    trainer *t;
    char *one, *images; /* a batch as the data set has it; and moved, where images are */
    int32_t *labels;
    trainer_state start, at, end;
    trainer_state held_before, held_after; /* of the sample before, of steps [held, held + held_steps) */
    int64_t held, held_steps;              /* 0: none */
    double *before, *after, *got, *nudged; /* parameters */
};

/* What some steps came to. */
typedef struct outcome {
    double loss;
    int64_t correct;
} outcome;

/* ---- Opening. */

static cnn_status open_on(const vf_training *v, const cnn_session *session, composed *c, cnn_error *err)
{
    const trainer_params params = {.optimizer = v->params->optimizer, .seed = v->params->seed};
    cnn_status status = trainer_open(session, v->network, NULL, &params, &c->t, err);
    if (status == CNN_OK) status = trainer_start(c->t, err);
    if (status == CNN_OK) return CNN_OK;
    trainer_close(c->t);
    c->t = NULL;
    return status;
}

/* Another's operations, where there are any: who trains wrongly may compose wrongly. */
static cnn_status choose(const vf_training *v, const cnn_session *session, composed *c, cnn_error *err)
{
    const cnn_session_params params = {.threads = session->threads};
    const cnn_impl *cpu = cnn_impl_find(NULL, "cpu", err);
    if (cpu != NULL && cpu != session->impl && cnn_session_open(cpu, &params, &c->own, err) == CNN_OK) {
        const cnn_status status = open_on(v, &c->own, c, err);
        if (status != CNN_UNSUPPORTED) return status;
        cnn_session_close(&c->own);
        c->own = (cnn_session){.impl = NULL};
    }
    return open_on(v, session, c, err);
}

static cnn_status make_room(const vf_training *v, composed *c, cnn_error *err)
{
    const cnn_net *net = &v->network->net;
    const size_t bytes = (size_t)cnn_net_value_elems(net, 0, net->batch) * cnn_dtype_size(net->type.dtype);
    const size_t elems = (size_t)net->param_elems + 1;
    c->one = malloc(bytes);
    c->images = malloc(bytes);
    c->labels = malloc((size_t)net->batch * sizeof *c->labels);
    c->before = malloc(4 * elems * sizeof *c->before);
    if (!c->one || !c->images || !c->labels || !c->before)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to repeat steps");
    c->after = c->before + elems, c->got = c->after + elems, c->nudged = c->got + elems;
    trainer_state *const states[] = {&c->start, &c->at, &c->end, &c->held_before, &c->held_after};
    cnn_status status = CNN_OK;
    for (size_t i = 0; i < sizeof states / sizeof *states && status == CNN_OK; i++)
        status = trainer_state_make(c->t, states[i], err);
    return status;
}

cnn_status composed_open(const vf_training *v, const cnn_session *session, composed **out, cnn_error *err)
{
    *out = NULL;
    if (trainer_row(session, v->params->algorithm) == NULL || v->params->workers > 0 || v->params->ranks != NULL)
        return CNN_OK;
    composed *c = calloc(1, sizeof *c);
    if (c == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to repeat steps");
    cnn_status status = choose(v, session, c, err);
    if (status == CNN_OK) status = make_room(v, c, err);
    if (status == CNN_OK)
        *out = c;
    else
        composed_close(c);
    return status == CNN_UNSUPPORTED ? CNN_OK : status;
}

void composed_close(composed *c)
{
    if (c == NULL) return;
    trainer_close(c->t);
    if (c->own.impl != NULL) cnn_session_close(&c->own);
    trainer_state_free(&c->start);
    trainer_state_free(&c->at);
    trainer_state_free(&c->end);
    trainer_state_free(&c->held_before);
    trainer_state_free(&c->held_after);
    free(c->one);
    free(c->images);
    free(c->labels);
    free(c->before);
    free(c);
}

/* ---- Steps. */

/* Images [first, first + mb) of the epoch, as the network takes them. */
static const void *gather(composed *c, const vf_training *v, int64_t first, int64_t mb)
{
    const cnn_net *net = &v->network->net;
    const dataset_part *part = &v->data->train;
    const size_t row = (size_t)cnn_net_value_elems(net, 0, 1) * cnn_dtype_size(net->type.dtype);
    const int32_t at = 0;
    for (int64_t i = 0; i < mb; i++) {
        const int64_t from = v->order[first + i];
        dataset_rows(v->data, part, from, 1, &net->type, c->one + (size_t)i * row);
        c->labels[i] = part->labels[from];
        if (v->shifts == NULL) continue;
        const cnn_images image = {.rows = c->one + (size_t)i * row, .order = &at, .shifts = &v->shifts[first + i]};
        cnn_gather_args args = trainer_gather_args(net, &image, 0, 1);
        args.y = c->images + (size_t)i * row;
        cnn_gather_row(&args, 0);
    }
    return v->shifts != NULL ? c->images : c->one;
}

/* From c->start; where they end is in c->end. Before step `at` (-1: none) the state goes to c->at. */
static cnn_status run(composed *c, const vf_training *v, const trainer_sample *s, int64_t at, outcome *o,
                      cnn_error *err)
{
    const int64_t batch = v->network->net.batch;
    *o = (outcome){.loss = 0.0};
    cnn_status status = trainer_state_put(c->t, &c->start, err);
    for (int64_t step = s->first; step < s->first + s->steps && status == CNN_OK; step++) {
        const int64_t first = step * batch, mb = batch;
        double loss = 0.0;
        int64_t correct = 0;
        if (step - s->first == at) status = trainer_state_get(c->t, &c->at, err);
        if (status == CNN_OK) status = trainer_step(c->t, gather(c, v, first, mb), c->labels, mb, &loss, &correct, err);
        o->loss += loss * (double)mb;
        o->correct += correct;
    }
    return status == CNN_OK ? trainer_state_get(c->t, &c->end, err) : status;
}

/* ---- Comparing. */

typedef struct strayed {
    double params, loss, correct;
} strayed;

static void copy_state(const cnn_net *net, const trainer_state *from, trainer_state *to)
{
    const size_t size = cnn_dtype_size(net->type.dtype);
    memcpy(to->own.params, from->own.params, (size_t)net->param_elems * size);
    for (int i = 0; i < 2 && from->own.state[i] != NULL; i++)
        memcpy(to->own.state[i], from->own.state[i], (size_t)net->trained_elems * size);
    to->own.step = from->own.step;
    to->loss_sum = 0.0;
    to->correct = 0;
}

static void nudge(const cnn_net *net, int round, uint64_t seed, trainer_state *s)
{
    cnn_rng rng = rng_stream(seed, 1000 + (uint64_t)round);
    const bool f32 = net->type.dtype == CNN_F32;
    const double most = (f32 ? 0x1p-20 : 0x1p-49) * (round % 2 == 0 ? 1.0 : 4.0);
    for (int64_t i = 0; i < net->param_elems; i++) {
        const double by = 1.0 + rng_real(&rng, -most, most);
        if (f32)
            ((float *)s->own.params)[i] = (float)((double)((float *)s->own.params)[i] * by);
        else
            ((double *)s->own.params)[i] *= by;
    }
}

/* What may differ, of `whole`: a share in any case, and what nudged starts lead off; infinite where that is too far to
 * say anything, and *chance is set. */
static double allowed(double share, double whole, double far, bool *chance)
{
    if (!(strayed_times * far > strayed_most * whole)) return share * whole + strayed_times * far;
    *chance = true;
    return INFINITY;
}

/* `share` is what may differ in any case. */
static void hold_all(composed *c, const vf_training *v, const trainer_sample *s, const outcome *o, double share,
                     const strayed *far, bool *chance, verify_training_result *r)
{
    const cnn_net *net = &v->network->net;
    const int64_t n = net->param_elems;
    const double way = vf_distance(c->after, c->before, n), images = (double)(s->steps * net->batch);
    const double loss = s->after.loss_sum - s->before.loss_sum;
    const double right = (double)(s->after.correct - s->before.correct);
    char what[VERIFY_TEXT_MAX];
    snprintf(what, sizeof what, "training steps %lld to %lld, by single operations: ", (long long)s->first,
             (long long)(s->first + s->steps - 1));
    const size_t length = strlen(what);
    snprintf(what + length, sizeof what - length, "the parameters");
    vf_training_hold(r, vf_distance(c->after, c->got, n), allowed(share, way, far->params, chance), what);
    snprintf(what + length, sizeof what - length, "the loss");
    vf_training_hold(r, fabs(loss - o->loss), allowed(share, images + o->loss, far->loss, chance), what);
    snprintf(what + length, sizeof what - length, "the right answers");
    vf_training_hold(r, fabs(right - (double)o->correct), 1.0 + allowed(share, images, far->correct, chance), what);
    snprintf(what + length, sizeof what - length, "the number of updates");
    vf_training_hold(r, fabs((double)(s->after.own.step - s->before.own.step - s->steps)), 0.0, what);
}

/* Where starts [first, end) that are moved a little lead. */
static cnn_status stray(composed *c, const vf_training *v, const trainer_sample *s, const outcome *o, int first,
                        int end, uint64_t seed, strayed *far, cnn_error *err)
{
    const cnn_net *net = &v->network->net;
    cnn_status status = CNN_OK;
    for (int i = first; i < end && status == CNN_OK; i++) {
        outcome other;
        copy_state(net, &s->before, &c->start);
        nudge(net, i, seed, &c->start);
        status = run(c, v, s, -1, &other, err);
        if (status != CNN_OK) break;
        vf_net_doubles(net, c->end.own.params, net->param_elems, c->nudged);
        const double off = vf_distance(c->nudged, c->got, net->param_elems), loss = fabs(other.loss - o->loss);
        if (isfinite(off)) far->params = fmax(far->params, off);
        if (isfinite(loss)) far->loss = fmax(far->loss, loss);
        far->correct = fmax(far->correct, fabs((double)(other.correct - o->correct)));
    }
    return status;
}

/* ---- A pass that is one launch is looked at as a whole by each sample: once is enough. */

static bool same_state(const cnn_net *net, const trainer_state *a, const trainer_state *b)
{
    const size_t size = cnn_dtype_size(net->type.dtype);
    bool same =
        a->own.step == b->own.step && memcmp(a->own.params, b->own.params, (size_t)net->param_elems * size) == 0;
    for (int i = 0; i < 2 && same && a->own.state[i] != NULL; i++)
        same = memcmp(a->own.state[i], b->own.state[i], (size_t)net->trained_elems * size) == 0;
    return same;
}

static bool held_already(const composed *c, const cnn_net *net, const trainer_sample *s)
{
    return c->held_steps == s->steps && c->held == s->first && same_state(net, &s->before, &c->held_before) &&
           same_state(net, &s->after, &c->held_after) &&
           memcmp(&s->after.loss_sum, &c->held_after.loss_sum, sizeof s->after.loss_sum) == 0 &&
           memcmp(&s->before.loss_sum, &c->held_before.loss_sum, sizeof s->before.loss_sum) == 0 &&
           s->after.correct - s->before.correct == c->held_after.correct - c->held_before.correct;
}

static void note_held(composed *c, const cnn_net *net, const trainer_sample *s)
{
    copy_state(net, &s->before, &c->held_before);
    copy_state(net, &s->after, &c->held_after);
    c->held_before.loss_sum = s->before.loss_sum, c->held_before.correct = s->before.correct;
    c->held_after.loss_sum = s->after.loss_sum, c->held_after.correct = s->after.correct;
    c->held = s->first;
    c->held_steps = s->steps;
}

void composed_forget(composed *c)
{
    if (c != NULL) c->held_steps = 0;
}

cnn_status composed_judge(composed *c, vf_training *v, const trainer_sample *s, uint64_t seed, composed_look *look,
                          verify_training_result *r, cnn_error *err)
{
    const cnn_net *net = &v->network->net;
    const double share = 10.0 * vf_training_share(&net->type); /* of one step; several amplify it */
    const verify_training_result before = *r;
    verify_training_result closely = {.budget_used = 0.0};
    strayed far = {.params = 0.0};
    outcome o;
    look->close = look->chance = false;
    look->state = &c->at;
    const bool whole = (s->first + s->steps) * net->batch <= v->data->train.count; /* batches */
    if (s->test || s->steps < 1 || s->steps > STEPS_MOST || !whole || r->failed) return CNN_OK;
    if (held_already(c, net, s)) return CNN_OK;
    cnn_status status = trainer_set_rate(c->t, v->params->optimizer.lr, err);
    copy_state(net, &s->before, &c->start);
    if (status == CNN_OK) status = run(c, v, s, look->at, &o, err);
    if (status != CNN_OK) return status;
    vf_net_doubles(net, s->before.own.params, net->param_elems, c->before);
    vf_net_doubles(net, s->after.own.params, net->param_elems, c->after);
    vf_net_doubles(net, c->end.own.params, net->param_elems, c->got);
    hold_all(c, v, s, &o, fmin(share, close_most), &far, &look->chance, &closely);
    look->close = !closely.failed;
    hold_all(c, v, s, &o, share, &far, &look->chance, r);
    for (int round = 0; round < 2 && r->failed && status == CNN_OK; round++) {
        const int first = round == 0 ? 0 : NUDGES, end = round == 0 ? NUDGES : NUDGES + MORE_NUDGES;
        status = stray(c, v, s, &o, first, end, seed, &far, err);
        *r = before;
        if (status == CNN_OK) hold_all(c, v, s, &o, share, &far, &look->chance, r);
    }
    if (status == CNN_OK && !r->failed) note_held(c, net, s);
    return status;
}
