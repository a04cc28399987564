/* spread_slots.c: v3's slots: the gradients of a block, in the order in which its threads leave them. */
#include "impl_cuda_fused/spread_parts.h"

#include <string.h>

/* Which sums lane `lane` of `lanes` has in the end, as fused_sum of v2_lanes.h shares them: [base, end) of those from
 * column `column` on; no lane has more than `left`. */
typedef struct part {
    int column, base, end, left;
} part;

static part part_of(int each, int taps, int lanes, int lane)
{
    part p = {0, 0, 0, 0};
    for (; lanes > 1 && taps % 2 == 0; lanes /= 2, lane /= 2) {
        taps /= 2;
        p.column += lane % 2 * taps;
    }
    p.end = p.left = each * taps;
    for (; lanes > 1; lanes /= 2, lane /= 2) {
        const int half = (p.left + 1) / 2;
        if (lane % 2 == 1)
            p.base += half;
        else if (p.base + half < p.end)
            p.end = p.base + half;
        p.left = half;
    }
    return p;
}

/* Threads that have a task of the weight gradient: fused_weight_seat() of v3_weights.h. */
static int active_of(const fused_stage *s, const fused_tile *k)
{
    return fused_round_up(s->oc / k->wo * (s->ic / k->wc) * s->kh * k->wl, 32) * k->wt;
}

void fused_place_slots(const fused_net *net, fused_spread *l)
{
    l->slots = 0;
    for (int i = 0; i < net->n_stages; i++) {
        const fused_stage s = fused_stage_of(net, l->cluster, i);
        fused_tile *k = &l->tiles[i];
        k->slot = l->slots;
        if (s.op != FUSED_CONV) continue;
        l->slots +=
            k->grads < 0 ? part_of(k->wo * k->wc, s.kw / k->wt, k->wl, 0).left * active_of(&s, k) : s.ic * k->cs;
        k->bslot = l->slots;
        if (s.b >= 0) l->slots += fused_round_up(fused_owned_of(net, l->cluster, i + 1), 4);
    }
}

/* What fused_spread_slots() fills in, for the stage at hand. */
typedef struct table {
    const fused_net *net;
    const fused_spread *spread;
    int stage;
    int *params, *at, *back;
} table;

/* The slot is of weight (oc, ic, i, j), by the channels of a block. */
static void put_weight(const table *t, int slot, int oc, int ic, int i, int j)
{
    const fused_stage *all = &t->net->stages[t->stage], s = fused_stage_of(t->net, t->spread->cluster, t->stage);
    const fused_tile *k = &t->spread->tiles[t->stage];
    t->at[slot] = k->w + ic * k->cs + i * k->is + oc / k->fc * (s.kw * k->fc) + j * k->fc + oc % k->fc;
    if (k->wb >= 0)
        t->back[slot] = k->wb + oc * k->fs + i * k->bs + ic / k->dc * (s.kw * k->dc) + j * k->dc + ic % k->dc;
    for (int rank = 0; rank < t->spread->cluster; rank++) {
        const int o = t->stage == 0 ? rank * s.oc + oc : oc, c = t->stage == 0 ? ic : rank * s.ic + ic;
        t->params[rank * t->spread->slots + slot] = all->w + ((o * all->ic + c) * s.kh + i) * s.kw + j;
    }
}

/* fused_weight_task() of v3_weights.h */
static void task_of(const table *t, int task, int *f, int *c, int *i)
{
    const fused_stage s = fused_stage_of(t->net, t->spread->cluster, t->stage);
    const fused_tile *k = &t->spread->tiles[t->stage];
    const fused_place *in = &t->spread->places[t->stage], *out = in + 1;
    const int outs = s.oc / k->wo, ins = s.ic / k->wc, two = task / 2, four = task / 4;
    const bool twos = outs % 2 == 0 && ins % 2 == 0;
    const bool rows = !twos && s.oh <= k->wl && k->wl < 32 && s.kh % 2 == 0 &&
                      k->wo * out->sw * out->ps > k->wc * in->sw * in->ps; /* fused_weight_rows() */
    *f = rows ? two % outs : twos ? four % (outs / 2) * 2 + task % 2 : task % outs;
    *c = rows ? two / outs % ins : twos ? four / (outs / 2) % (ins / 2) * 2 + task / 2 % 2 : task / outs % ins;
    *i = rows ? two / outs / ins * 2 + task % 2 : task / outs / ins;
}

/* The slots of one thread's kept sums: what fused_leave() of v3_weights.h leaves. */
static void put_kept(const table *t, int thread)
{
    const fused_stage s = fused_stage_of(t->net, t->spread->cluster, t->stage);
    const fused_tile *k = &t->spread->tiles[t->stage];
    const int beside = 32 / k->wl, lane = thread / beside % k->wl, each = k->wo * k->wc;
    const int tasks = s.oc / k->wo * (s.ic / k->wc) * s.kh;
    const int rounds = fused_round_up(tasks * k->wl, 32) / k->wl, turn = thread / 32 * beside + thread % beside;
    const int kind = turn / rounds < k->wt ? turn / rounds : k->wt - 1, task = turn - kind * rounds;
    const part mine = part_of(each, s.kw / k->wt, k->wl, lane);
    int f, c, i;
    task_of(t, task, &f, &c, &i);
    for (int e = 0; e < mine.left && task < tasks; e++) {
        const int sum = mine.base + e, tap = mine.column + sum / each;
        if (sum >= mine.end) continue;
        put_weight(t, k->slot + e * active_of(&s, k) + thread, f * k->wo + sum % each / k->wc,
                   c * k->wc + sum % each % k->wc, i, kind + tap * k->wt);
    }
}

static void put_there(const table *t)
{
    const fused_stage s = fused_stage_of(t->net, t->spread->cluster, t->stage);
    const fused_tile *k = &t->spread->tiles[t->stage];
    for (int oc = 0; oc < s.oc; oc++)
        for (int ic = 0; ic < s.ic; ic++)
            for (int i = 0; i < s.kh; i++)
                for (int j = 0; j < s.kw; j++)
                    put_weight(t,
                               k->slot + ic * k->cs + i * k->is + oc / k->fc * (s.kw * k->fc) + j * k->fc + oc % k->fc,
                               oc, ic, i, j);
}

static void put_biases(const table *t)
{
    const fused_spread *l = t->spread;
    const fused_tile *k = &l->tiles[t->stage];
    const int mine = fused_owned_of(t->net, l->cluster, t->stage + 1), shared = t->stage + 1 == t->net->n_stages;
    for (int c = 0; c < mine; c++) {
        t->at[k->bslot + c] = k->b + c;
        for (int rank = 0; rank < l->cluster; rank++)
            t->params[rank * l->slots + k->bslot + c] = t->net->stages[t->stage].b + (shared ? 0 : rank * mine) + c;
    }
}

void fused_spread_slots(const fused_net *net, const fused_spread *l, int *params, int *at, int *back)
{
    memset(params, -1, (size_t)(l->cluster * l->slots) * sizeof *params);
    memset(at, -1, (size_t)l->slots * sizeof *at);
    memset(back, -1, (size_t)l->slots * sizeof *back);
    for (int i = 0; i < net->n_stages; i++) {
        const table t = {net, l, i, params, at, back};
        if (net->stages[i].op == FUSED_CONV && l->tiles[i].grads >= 0) put_there(&t);
        for (int thread = 0; thread < FUSED_SPREAD_THREADS && net->stages[i].op == FUSED_CONV && l->tiles[i].grads < 0;
             thread++)
            put_kept(&t, thread);
        if (net->stages[i].b >= 0) put_biases(&t);
    }
}
