/* spread_cuts.c: how v3 cuts stages into tasks: the cheapest cuts by the model of cuts.h. */
#include "impl_cuda_fused/spread_parts.h"

#include <math.h>

enum {
    SUMS_MOST = 80,     /* that a thread's registers hold for a task's time, */
    OPERANDS_MOST = 64, /* ... beside them, of a task of the weight gradient, */
    KEPT_MOST = 100,    /* ... for a step's time, of all stages together, */
    KEPT_LEAST = 20     /* ... of one, if so many are left */
};

/* Whether a thread has one task at most: it may keep its sums. */
static bool one_round(int tasks, int lanes, int kinds)
{
    return fused_round_up(tasks * lanes, 32) * kinds <= FUSED_SPREAD_THREADS;
}

/* The cheapest cut of the weight gradient whose sums are kept, `most` a thread; none: false. most 0: sums that are
 * added to shared memory by each image. */
static bool cut_weights(const fused_stage *s, const fused_place *in, const fused_place *out, int most, fused_tile *k)
{
    const fused_shares share = fused_shares_of(s);
    const int x = in->sw * in->ps, y = out->sw * out->ps, kinds[] = {1, in->sw, s->kw};
    double best = INFINITY;
    for (int o = 1; o <= s->oc; o++)
        for (int c = 1; c <= s->ic; c++)
            for (int way = 0; way < 18; way++) {
                const int lanes = 1 << way / 3, by = kinds[way % 3], sums = o * c * (s->kw / by);
                const int plane = by * s->dw % in->sw == 0 ? in->ps : x, tasks = s->oc / o * (s->ic / c) * s->kh;
                const int operands = o * y + plane < c * plane + y ? o * y + plane : c * plane + y;
                if (s->oc % o != 0 || s->ic % c != 0 || s->kw % by != 0) continue;
                if (most > 0 && (sums > most || operands > OPERANDS_MOST || !one_round(tasks, lanes, by))) continue;
                if (most == 0 && (by > 1 || k->fc % o != 0 || (o * c > 1 && sums + o * y > SUMS_MOST))) continue;
                const fused_task t = {tasks * by,
                                      lanes,
                                      (int)ceil(s->oh * share.high),
                                      most > 0 ? 0 : sums,
                                      sums * s->ow * share.wide,
                                      o * y + fused_read(lanes, c * plane)};
                if (fused_cost(&t, FUSED_SPREAD_THREADS) >= best) continue;
                best = fused_cost(&t, FUSED_SPREAD_THREADS);
                k->wo = o, k->wc = c, k->wt = by, k->wl = lanes;
            }
    k->grads = best < INFINITY && most > 0 ? -1 : 0;
    return best < INFINITY;
}

static double work_of(const fused_stage *s)
{
    return s->op == FUSED_CONV ? (double)s->oc * s->ic * s->kh * s->kw * s->oh * s->ow : 0;
}

/* Registers are for the stages with the most work first: each gets half of those that are left, or KEPT_LEAST. */
static void cut_all_weights(const fused_net *net, fused_spread *l)
{
    bool done[FUSED_STAGES] = {false};
    int left = KEPT_MOST;
    for (int turn = 0; turn < net->n_stages; turn++) {
        int next = -1;
        for (int i = 0; i < net->n_stages; i++)
            if (!done[i] && (next < 0 || work_of(&net->stages[i]) > work_of(&net->stages[next]))) next = i;
        done[next] = true;
        if (net->stages[next].op != FUSED_CONV) continue;
        const fused_stage s = fused_stage_of(net, l->cluster, next);
        fused_tile *k = &l->tiles[next];
        const int half = left / 2 > KEPT_LEAST ? left / 2 : KEPT_LEAST < left ? KEPT_LEAST : left;
        if (half > 0 && !fused_is_full(net, next) && cut_weights(&s, &l->places[next], &l->places[next + 1], half, k))
            left -= k->wo * k->wc * (s.kw / k->wt);
        else
            (void)cut_weights(&s, &l->places[next], &l->places[next + 1], 0, k);
    }
}

static void cut_pieces(const fused_net *net, const fused_spread *l, fused_tile *k)
{
    const fused_stage s = fused_stage_of(net, l->cluster, 0);
    const fused_shares share = fused_shares_of(&s);
    double best = INFINITY;
    for (int f = 1; f <= s.oc; f++) {
        const fused_task t = {s.oc / f * s.oh * (s.ow / FUSED_PIECE),
                              1,
                              (int)ceil(s.ic * s.kh * share.high),
                              f * FUSED_PIECE,
                              f * s.kw * FUSED_PIECE,
                              f * s.kw + s.sw * 2 * FUSED_PIECE};
        if (s.oc % f != 0 || f * (FUSED_PIECE + s.kw) > SUMS_MOST || fused_cost(&t, FUSED_SPREAD_THREADS) >= best)
            continue;
        best = fused_cost(&t, FUSED_SPREAD_THREADS);
        k->fc = f, k->fl = 1, k->piece = FUSED_PIECE;
    }
}

void fused_cut_stages(const fused_net *net, fused_spread *l)
{
    for (int i = 0; i < net->n_stages; i++) {
        const fused_stage s = fused_stage_of(net, l->cluster, i);
        fused_cut cut = {1, 1, 1, 1, 1, 1, 1, 1, 0, -1, 0, 0, 0};
        if (s.op == FUSED_CONV) {
            fused_cut_forward(&s, &l->places[i], FUSED_SPREAD_THREADS, SUMS_MOST, &cut);
            fused_cut_data(&s, &l->places[i + 1], FUSED_SPREAD_THREADS, SUMS_MOST, &cut);
        }
        l->tiles[i] = (fused_tile){.fc = cut.fc,
                                   .fl = cut.fl,
                                   .dc = cut.dc,
                                   .dl = cut.dl,
                                   .wo = 1,
                                   .wc = 1,
                                   .wt = 1,
                                   .wl = 1,
                                   .b = -1,
                                   .wb = -1,
                                   .grads = 0};
    }
    if (fused_by_pieces(net)) cut_pieces(net, l, &l->tiles[0]);
    cut_all_weights(net, l);
}
