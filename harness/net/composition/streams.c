/* streams.c: which calls of a step go on a second stream, beside those that do not depend on them.
 *
 * - Backward, what makes gradients of weights (BWD_W): nothing but the update needs them, while the gradients of values
 *   go on from layer to layer. The last one stays, if nothing comes behind it.
 * - Of layers that join branches (add, concat), chains of layers that lead to them and to nowhere else: those of a
 *   residual block's projection beside its main path, and backward the same. Of a join's chains the longest stays; each
 *   of the others, by what it has to do, goes where less is to be done. Joins of joins count as one.
 *
 * The list stays as it was, and so do operations and numbers. A call waits for the latest call of the other stream that
 * it has a place in common with, where one of the two writes to it: then every place is written and read in the order
 * of the list, sums of gradients too, and the bits are those of one stream. What lasts to the end of the list is waited
 * for there.
 *
 * What a gradient of weights reads takes memory until it is made. So that it is not all of a step's, the context's
 * stream is never more than AHEAD of them ahead. */
#include "harness/base/grow.h"
#include "harness/problem/names.h"
#include "harness/problem/shape.h"
#include "parts.h"

#include <stdlib.h>

enum { AHEAD = 2 };

/* ---- Layers that lead to a join ---- */

enum { CHAINS_MOST = 64 }; /* of one join; more of them stay */

static bool joins(const cnn_layer *l) { return l->problem.op == CNN_OP_ADD || l->problem.op == CNN_OP_CONCAT; }

/* How many layers read a value; those that change it in place apart. *reader: the last of them. */
static int count_readers(const cnn_net *net, int value, int *reader)
{
    int readers = 0;
    for (int l = 0; l < net->n_layers; l++)
        for (int i = 0; i < net->layers[l].n_inputs; i++) {
            if (net->layers[l].inputs[i] != value || net->layers[l].output == value) continue;
            readers++;
            *reader = l;
        }
    return readers;
}

/* The layer that makes a value for one reader alone; -1: many read it, or it is the images. */
static int sole_maker(const cnn_net *net, int value)
{
    int reader, maker = 0;
    if (value == 0 || count_readers(net, value, &reader) != 1) return -1;
    while (net->layers[maker].output != value) maker++;
    return maker;
}

/* The chain that makes a value for its only reader: what it has to do; second != NULL: its layers are marked. */
static double follow_chain(const cnn_net *net, int value, bool *second)
{
    double cost = 0.0;
    for (int maker; (maker = sole_maker(net, value)) > 0 && !joins(&net->layers[maker]);) {
        for (int l = maker; l < net->n_layers; l++) {
            if (net->layers[l].output != value) continue;
            cost += cnn_flops(&net->layers[l].problem, CNN_FWD) + (double)cnn_net_value_elems(net, value, net->batch);
            if (second != NULL) second[l] = true;
        }
        value = net->layers[maker].inputs[0];
    }
    return cost;
}

/* The ends of the chains that lead to a join, by way of others that lead to it alone. */
static void find_ends(const cnn_net *net, const cnn_layer *join, int *ends, int *count)
{
    for (int i = 0; i < join->n_inputs; i++) {
        const int maker = sole_maker(net, join->inputs[i]);
        if (maker >= 0 && joins(&net->layers[maker]))
            find_ends(net, &net->layers[maker], ends, count);
        else if (*count < CHAINS_MOST)
            ends[(*count)++] = join->inputs[i];
    }
}

/* The chains of one join, from the longest on. */
static void share_out(const cnn_net *net, const cnn_layer *join, bool *second)
{
    int ends[CHAINS_MOST], count = 0;
    double costs[CHAINS_MOST], loads[STREAMS] = {0.0};
    find_ends(net, join, ends, &count);
    for (int i = 0; i < count; i++) costs[i] = follow_chain(net, ends[i], NULL);
    for (int n = 0; n < count; n++) {
        int longest = 0;
        for (int i = 1; i < count; i++)
            if (costs[i] > costs[longest]) longest = i;
        if (costs[longest] <= 0.0) return;
        const int stream = loads[1] < loads[0];
        if (stream == 1) follow_chain(net, ends[longest], second);
        loads[stream] += costs[longest];
        costs[longest] = 0.0;
    }
}

static void find_branches(const cnn_net *net, bool *second)
{
    for (int l = 0; l < net->n_layers; l++) {
        int reader = l;
        const bool within = count_readers(net, net->layers[l].output, &reader) == 1 && joins(&net->layers[reader]);
        if (joins(&net->layers[l]) && !within) share_out(net, &net->layers[l], second);
    }
}

/* ---- Calls ---- */

static bool makes_weights(const cnn_trainer *t, const step_call *call)
{
    const step_plan *p = call->plan >= 0 ? &t->plans[call->plan] : NULL;
    return p != NULL && p->layer >= 0 && p->layer != OPTIMIZER_LAYER && p->plan.dir == CNN_BWD_W;
}

static bool is_on_branch(const cnn_trainer *t, const step_call *call, const bool *second)
{
    const int layer = call->plan >= 0 ? t->plans[call->plan].layer : -1;
    return layer >= 0 && layer != OPTIMIZER_LAYER && !call->again && second[layer];
}

/* The first call forks the second stream off, so it is never on it. */
static void choose_streams(const cnn_trainer *t, call_list *list, const bool *second)
{
    for (int i = 1; i < list->count; i++) {
        step_call *call = &list->calls[i];
        const bool last = i == list->count - 1;
        call->stream = (makes_weights(t, call) && !last) || is_on_branch(t, call, second);
    }
}

/* ---- Who waits for whom ---- */

/* A copy between places that are no buffers takes many of them at once. */
static bool is_wide(const step_call *call)
{
    return call->plan < 0 && call->n_operands == 2 && !(step_is_buffer(call->at[0]) && step_is_buffer(call->at[1]));
}

static bool depends(const step_call *call, const step_call *on)
{
    if (is_wide(call) || is_wide(on)) return true;
    for (int a = 0; a < call->n_operands; a++)
        for (int b = 0; b < on->n_operands; b++) {
            const bool same = call->at[a] == on->at[b] && call->at[a] != NOWHERE;
            if (same && ((call->written >> a | on->written >> b) & 1u)) return true;
        }
    return false;
}

/* The latest call of the other stream that it depends on, behind the one that is known already; else that one. */
static int find_latest(const call_list *list, int i, int known)
{
    const step_call *call = &list->calls[i];
    for (int j = i - 1; j > known; j--)
        if (list->calls[j].stream != call->stream && depends(call, &list->calls[j])) return j;
    return known;
}

typedef struct ties {
    cnn_trainer *t;
    call_list *list;
    int known[STREAMS];     /* of each stream, the latest call of the other one that it has waited for; -1: none */
    int last[STREAMS];      /* its latest call */
    int weights[AHEAD + 1]; /* the latest calls of the second stream that make gradients of weights, in turn */
    int n_weights, n_marks;
} ties;

/* From 1. */
static int mark_behind(ties *s, int call)
{
    step_call *c = &s->list->calls[call];
    if (c->marks == 0) c->marks = ++s->n_marks;
    return c->marks;
}

static int needed_by(const ties *s, int i)
{
    const int stream = s->list->calls[i].stream, known = s->known[stream];
    const int oldest = s->n_weights > AHEAD ? s->weights[s->n_weights % (AHEAD + 1)] : -1;
    int needed = find_latest(s->list, i, known);
    if (stream == 0 && oldest > needed) needed = oldest;
    if (stream == 1 && needed < 0) needed = 0; /* what was on the context's stream before the list */
    return needed;
}

static void tie(ties *s, int i)
{
    step_call *call = &s->list->calls[i];
    const int needed = needed_by(s, i);
    if (needed > s->known[call->stream]) {
        call->waits = mark_behind(s, needed);
        s->known[call->stream] = needed;
    }
    call->known = s->known[call->stream];
    s->last[call->stream] = i;
    if (call->stream == 1 && makes_weights(s->t, call)) s->weights[s->n_weights++ % (AHEAD + 1)] = i;
}

static void tie_all(cnn_trainer *t, call_list *list)
{
    ties s = {.t = t, .list = list, .known = {-1, -1}, .last = {-1, -1}};
    for (int i = 0; i < list->count; i++) tie(&s, i);
    if (s.last[1] > s.known[0]) list->joins = mark_behind(&s, s.last[1]);
    if (s.n_marks > t->n_marks) t->n_marks = s.n_marks;
}

int composition_beside(const cnn_trainer *t, int *all)
{
    const call_list *list = step_first_list(t);
    int beside = 0;
    for (int i = 0; list != NULL && i < list->count; i++) {
        *all += list->calls[i].plan >= 0;
        beside += list->calls[i].stream > 0;
    }
    return beside;
}

cnn_status step_streams(cnn_trainer *t, cnn_error *err)
{
    if (t->loop->params.streams < STREAMS) return CNN_OK;
    bool *second = calloc((size_t)t->net->n_layers + 1, sizeof *second);
    if (second == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to plan a second stream");
    find_branches(t->net, second);
    for (int list = 0; list < t->n_lists; list++)
        for (int b = 0; b < t->n_batches; b++)
            for (int mode = 0; mode < PASSES; mode++) {
                call_list *calls = &t->batches[list][b].calls[mode];
                choose_streams(t, calls, second);
                if (calls->count > 0) tie_all(t, calls);
            }
    free(second);
    return CNN_OK;
}
