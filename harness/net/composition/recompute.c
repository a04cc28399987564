/* recompute.c: values that are not kept for the backward pass, but computed again there: less memory, more time.
 *
 * (Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016; here for any network, not for chains alone.)
 * A value that is dropped is alive in the forward pass as long as its layers read it. The first call of the backward
 * pass that reads it is preceded by the calls that made it, which read what is kept or make that again, too. So each
 * call of the forward pass is made again once at most, with the same operands: the bits are the same.
 *
 * Which values are dropped: of several cuts of the network into parts of about as many bytes, whose ends are kept, the
 * one with the least memory; then single values are tried the other way as long as that helps. */
#include "harness/base/grow.h"
#include "harness/problem/shape.h"
#include "parts.h"

#include <stdlib.h>

enum { MOST_CUTS = 64, MOST_ROUNDS = 6, MOST_TRIALS = 4000 };

/* What an element costs that is read or written, in multiplications. */
enum { ELEMENT_COST = 16 };

/* A list to be changed, and what it becomes. */
typedef struct rewrite {
    cnn_trainer *t;
    const call_list *from;
    const bool *dropped; /* one a value */
    bool *restored;      /* likewise: it is there again */
    call_list *to;
    cnn_error *err;
} rewrite;

/* What a choice comes to. */
typedef struct score {
    size_t bytes; /* the most that are alive at once */
    double cost;  /* of what is computed again */
} score;

typedef struct search {
    rewrite rewrite;
    bool *dropped, *best;
    score least;
    int trials;
} search;

/* ---- A list with what is computed again ---- */

/* The value that a place is the buffer of; 0: none. */
static int value_at(const cnn_trainer *t, size_t at) { return step_is_buffer(at) ? t->buffers[at - BUFFER].value : 0; }

static cnn_status append(const rewrite *r, const step_call *call)
{
    step_call *to = cnn_add_item(&r->to->calls, &r->to->count, &r->to->capacity, sizeof *to, "calls of a step", r->err);
    if (to == NULL) return r->err->status;
    *to = *call;
    for (int o = 0; o < to->n_operands; o++) {
        const int value = value_at(r->t, to->at[o]);
        if (value > 0 && r->restored[value]) to->at[o] = r->t->again_at[value];
    }
    return CNN_OK;
}

/* The layer that writes a value; those that change it in place come right behind it. */
static int maker_of(const cnn_net *net, int value)
{
    int l = 0;
    while (net->layers[l].output != value) l++;
    return l;
}

/* A value's calls, behind those of what they read. */
static cnn_status restore(const rewrite *r, int value, bool *norm)
{
    const cnn_net *net = r->t->net;
    cnn_status status = CNN_OK;
    if (!r->dropped[value] || r->restored[value]) return CNN_OK;
    const int maker = maker_of(net, value);
    for (int i = 0; i < net->layers[maker].n_inputs && status == CNN_OK; i++)
        status = restore(r, net->layers[maker].inputs[i], norm);
    r->restored[value] = true;
    for (int l = maker; l < net->n_layers && net->layers[l].output == value && status == CNN_OK; l++) {
        step_call call = r->from->calls[l];
        call.again = true;
        *norm = *norm || net->layers[l].problem.op == CNN_OP_BATCHNORM;
        status = append(r, &call);
    }
    return status;
}

/* Batch norm moves its running statistics: they are set aside before it is computed again, and brought back. */
static cnn_status keep_running(const rewrite *r, bool back)
{
    const cnn_trainer *t = r->t;
    const size_t running = t->params_at + trainer_trained_bytes(t->loop);
    step_call call = {.plan = -1, .n_operands = 2, .written = 1u << 1, .again = true, .range = PROFILE_RECOMPUTE};
    call.at[back] = running, call.at[!back] = t->aside_at;
    call.copy_bytes = trainer_param_bytes(t->loop) - trainer_trained_bytes(t->loop);
    return append(r, &call);
}

/* Whatever this call of the backward pass reads is there again. */
static cnn_status restore_for(const rewrite *r, const step_call *call)
{
    const cnn_trainer *t = r->t;
    const int start = r->to->count;
    bool norm = false;
    cnn_status status = CNN_OK;
    for (int o = 0; o < call->n_operands && status == CNN_OK; o++) status = restore(r, value_at(t, call->at[o]), &norm);
    if (status != CNN_OK || !norm) return status;
    status = keep_running(r, true); /* one more item; the copies then stand around the calls */
    if (status == CNN_OK) status = keep_running(r, false);
    if (status != CNN_OK) return status;
    const step_call aside = r->to->calls[r->to->count - 1], back = r->to->calls[r->to->count - 2];
    memmove(r->to->calls + start + 1, r->to->calls + start, (size_t)(r->to->count - 2 - start) * sizeof *r->to->calls);
    r->to->calls[start] = aside;
    r->to->calls[r->to->count - 1] = back;
    return CNN_OK;
}

/* The first calls of a list are the forward pass, one a layer. */
static cnn_status make_list(const rewrite *r)
{
    const int n_layers = r->t->net->n_layers;
    cnn_status status = CNN_OK;
    r->to->count = 0;
    memset(r->restored, 0, (size_t)r->t->net->n_values * sizeof *r->restored);
    for (int i = 0; i < r->from->count && status == CNN_OK; i++) {
        if (i >= n_layers) status = restore_for(r, &r->from->calls[i]);
        if (status == CNN_OK) status = append(r, &r->from->calls[i]);
    }
    return status;
}

/* ---- Which values ---- */

/* The loss cannot be computed again: it adds to sums. */
static bool may_drop(const cnn_net *net, int value)
{
    for (int l = 0; l < net->n_layers; l++)
        if (net->layers[l].output == value && net->layers[l].problem.op == CNN_OP_LOSS) return false;
    return value > 0;
}

static double cost_of(const cnn_trainer *t, const step_call *call)
{
    if (!call->again || call->plan < 0) return 0.0;
    const cnn_problem *p = &t->plans[call->plan].plan.problem;
    const cnn_layer *layer = &t->net->layers[t->plans[call->plan].layer];
    double elements = (double)cnn_net_value_elems(t->net, layer->output, t->net->batch);
    for (int i = 0; i < layer->n_inputs; i++)
        elements += (double)cnn_net_value_elems(t->net, layer->inputs[i], t->net->batch);
    return cnn_flops(p, CNN_FWD) + ELEMENT_COST * elements;
}

static bool is_less(score a, score b) { return a.bytes != b.bytes ? a.bytes < b.bytes : a.cost < b.cost; }

/* Keeps search->dropped if it is better than the best so far; *better says so. */
static cnn_status try_it(search *s, bool *better)
{
    const cnn_trainer *t = s->rewrite.t;
    score this = {0, 0.0};
    cnn_status status = make_list(&s->rewrite);
    if (status == CNN_OK) status = step_peak(t, s->rewrite.to, &this.bytes, s->rewrite.err);
    if (status != CNN_OK) return status;
    for (int i = 0; i < s->rewrite.to->count; i++) this.cost += cost_of(t, &s->rewrite.to->calls[i]);
    *better = is_less(this, s->least);
    s->trials++;
    if (!*better) return CNN_OK;
    s->least = this;
    memcpy(s->best, s->dropped, (size_t)t->net->n_values * sizeof *s->best);
    return CNN_OK;
}

/* Keeps a value wherever the bytes behind the last one that is kept come to a part. */
static void cut(const search *s, int parts)
{
    const cnn_trainer *t = s->rewrite.t;
    double all = 0.0, behind = 0.0;
    for (int v = 1; v < t->net->n_values; v++) all += (double)cnn_net_value_elems(t->net, v, 1);
    for (int v = 0; v < t->net->n_values; v++) {
        behind += v > 0 ? (double)cnn_net_value_elems(t->net, v, 1) : 0.0;
        s->dropped[v] = may_drop(t->net, v) && behind < all / parts;
        if (!s->dropped[v]) behind = 0.0;
    }
}

static cnn_status find_least(search *s)
{
    const cnn_net *net = s->rewrite.t->net;
    bool better = false, any = true;
    cnn_status status = try_it(s, &better); /* nothing dropped */
    for (int parts = 1; parts <= MOST_CUTS && parts < net->n_values && status == CNN_OK; parts++) {
        cut(s, parts);
        status = try_it(s, &better);
    }
    memcpy(s->dropped, s->best, (size_t)net->n_values * sizeof *s->dropped);
    for (int round = 0; round < MOST_ROUNDS && any; round++) {
        any = false;
        for (int v = net->n_values - 1; v > 0 && s->trials < MOST_TRIALS && status == CNN_OK; v--) {
            if (!may_drop(net, v)) continue;
            s->dropped[v] = !s->dropped[v];
            status = try_it(s, &better);
            if (!better) s->dropped[v] = !s->dropped[v];
            any = any || better;
        }
    }
    return status;
}

/* ---- All lists ---- */

static cnn_status rewrite_all(rewrite *r, const bool *dropped)
{
    cnn_trainer *t = r->t;
    cnn_status status = CNN_OK;
    r->dropped = dropped;
    for (int list = 0; list < t->n_lists; list++)
        for (int b = 0; b < t->n_batches && status == CNN_OK; b++) {
            call_list *calls = &t->batches[list][b].calls[TRAIN], made = {0};
            if (calls->count == 0) continue;
            r->from = calls;
            r->to = &made;
            status = make_list(r);
            free(status == CNN_OK ? calls->calls : made.calls);
            if (status == CNN_OK) *calls = made;
        }
    return status;
}

const call_list *step_first_list(const cnn_trainer *t)
{
    for (int b = 0; b < t->n_batches; b++)
        if (t->batches[0][b].calls[TRAIN].count > 0) return &t->batches[0][b].calls[TRAIN];
    return NULL;
}

cnn_status step_recompute(cnn_trainer *t, cnn_error *err)
{
    const call_list *list = step_first_list(t);
    call_list scratch = {0};
    const size_t n = (size_t)t->net->n_values;
    if (!t->loop->params.recompute || list == NULL) return CNN_OK;
    bool *dropped = calloc(3 * n, sizeof *dropped);
    if (dropped == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to plan memory");
    search s = {.rewrite = {t, list, dropped, dropped + n, &scratch, err},
                .dropped = dropped,
                .best = dropped + 2 * n,
                .least = {SIZE_MAX, 0.0}};
    cnn_status status = find_least(&s);
    if (status == CNN_OK) status = rewrite_all(&s.rewrite, s.best);
    free(scratch.calls);
    free(dropped);
    return status;
}
