/* spread.c: how v3 spreads a network over the blocks of a cluster: places, cuts, slots. */
#include "impl_cuda_fused/spread.h"

#include "impl_cuda_fused/cuts.h"

#include <math.h>
#include <string.h>

enum {
    THREADS = 256,
    SUMS_MOST = 80,     /* that a thread's registers hold for a task's time */
    OPERANDS_MOST = 64, /* ... beside them, of a task of the weight gradient */
    KEPT_MOST = 100,    /* ... and for a step's: of all stages together, */
    KEPT_LEAST = 20,    /* ... of one, if so many are left */
    PIECE = 4,          /* columns of a task of stage 0, ... */
    PIECES_MOST = 16,   /* ... if it has so few rows of taps */
    BESIDE = 2560       /* floats of a value whose gradient does not take its place */
};

/* ---- Whose channels are whose: as in cluster.h */

static int channels_of(const fused_net *net, int v)
{
    return v > 0 && v == net->n_stages ? net->stages[v - 1].oc : net->stages[v].ic;
}

static int owned(const fused_net *net, int cluster, int v)
{
    return channels_of(net, v) / (v == 0 || v == net->n_stages ? 1 : cluster);
}

static bool gathered(const fused_net *net, int cluster, int v)
{
    return cluster > 1 && v > 1 && v < net->n_stages && net->stages[v - 1].op == FUSED_CONV;
}

static bool partial(const fused_net *net, int cluster, int s)
{
    return cluster > 1 && s > 0 && net->stages[s].op == FUSED_CONV;
}

/* The stage as a block of the cluster has it. */
static fused_stage share_of(const fused_net *net, int cluster, int i)
{
    fused_stage s = net->stages[i];
    s.ic = owned(net, cluster, i);
    if (i == 0) s.oc = owned(net, cluster, 1);
    return s;
}

/* fused_full() of v3_forward.h */
static bool is_full(const fused_net *net, int i)
{
    const fused_stage *s = &net->stages[i];
    return i > 0 && s->op == FUSED_CONV && s->oh * s->ow == 1 && s->kh == s->ih && s->kw == s->iw && s->ph == 0 &&
           s->pw == 0 && s->dh == 1 && s->dw == 1;
}

/* ---- Cuts */

/* Whether a thread has one task at most: it may keep its sums. */
static bool one_round(int tasks, int lanes, int kinds) { return fused_round_up(tasks * lanes, 32) * kinds <= THREADS; }

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
                if (fused_cost(&t, THREADS) >= best) continue;
                best = fused_cost(&t, THREADS);
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
        const fused_stage s = share_of(net, l->cluster, next);
        fused_tile *k = &l->tiles[next];
        const int half = left / 2 > KEPT_LEAST ? left / 2 : KEPT_LEAST < left ? KEPT_LEAST : left;
        if (half > 0 && !is_full(net, next) && cut_weights(&s, &l->places[next], &l->places[next + 1], half, k))
            left -= k->wo * k->wc * (s.kw / k->wt);
        else
            (void)cut_weights(&s, &l->places[next], &l->places[next + 1], 0, k);
    }
}

/* How many zeros a row's planes need on their left and right, in fours, so that each tap of each output reads one. */
static int beside(const fused_stage *s, bool left)
{
    int most = 0;
    for (int j = 0; j < s->kw; j++) {
        const int from = j * s->dw - s->pw, plane = (from % s->sw + s->sw) % s->sw, step = (from - plane) / s->sw;
        const int columns = (s->iw - plane + s->sw - 1) / s->sw, over = s->ow - 1 + step - (columns - 1);
        most = left && -step > most ? -step : !left && over > most ? over : most;
    }
    return fused_round_up(most, 4);
}

/* Whether stage 0 goes forward by pieces of rows. */
static bool by_pieces(const fused_net *net)
{
    const fused_stage *s = &net->stages[0];
    return s->op == FUSED_CONV && s->ow % PIECE == 0 && s->ic * s->kh <= PIECES_MOST && s->sw < s->iw &&
           net->n_stages > 1;
}

static void cut_pieces(const fused_net *net, const fused_spread *l, fused_tile *k)
{
    const fused_stage s = share_of(net, l->cluster, 0);
    const fused_shares share = fused_shares_of(&s);
    double best = INFINITY;
    for (int f = 1; f <= s.oc; f++) {
        const fused_task t = {
            s.oc / f * s.oh * (s.ow / PIECE), 1, (int)ceil(s.ic * s.kh * share.high), f * PIECE, f * s.kw * PIECE,
            f * s.kw + s.sw * 2 * PIECE};
        if (s.oc % f != 0 || f * (PIECE + s.kw) > SUMS_MOST || fused_cost(&t, THREADS) >= best) continue;
        best = fused_cost(&t, THREADS);
        k->fc = f, k->fl = 1, k->piece = PIECE;
    }
}

static void cut_stages(const fused_net *net, fused_spread *l)
{
    for (int i = 0; i < net->n_stages; i++) {
        const fused_stage s = share_of(net, l->cluster, i);
        fused_cut cut = {1, 1, 1, 1, 1, 1, 1, 1, 0, -1, 0, 0, 0};
        if (s.op == FUSED_CONV) {
            fused_cut_forward(&s, &l->places[i], THREADS, SUMS_MOST, &cut);
            fused_cut_data(&s, &l->places[i + 1], THREADS, SUMS_MOST, &cut);
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
    if (by_pieces(net)) cut_pieces(net, l, &l->tiles[0]);
    cut_all_weights(net, l);
}

/* ---- Places */

/* The image, with zeros beside each plane of its rows. Returns its floats. */
static int place_pieces(const fused_stage *s, fused_place *p)
{
    const int left = beside(s, true);
    p->ps = left + fused_round_up((s->iw + s->sw - 1) / s->sw + beside(s, false), 4);
    p->hs = s->sw * p->ps;
    if (p->hs % 8 == 0) p->hs += 4;
    p->cs = s->ih * p->hs;
    p->at += left;
    p->grad = p->at;
    return left + s->ic * p->cs + 4;
}

static int place_value(const fused_net *net, fused_spread *l, int v, int at)
{
    const bool last = v == net->n_stages;
    const fused_stage *s = &net->stages[last ? v - 1 : v];
    const bool conv = !last && s->op == FUSED_CONV;
    fused_place *p = &l->places[v];
    const int size = fused_place_value(p, at, owned(net, l->cluster, v), last ? s->oh : s->ih, last ? s->ow : s->iw,
                                       conv ? s->sw : 1);
    if (v == 0 && by_pieces(net)) return at + place_pieces(s, p);
    if (v == 0 || last) return at + size;
    if (conv && !gathered(net, l->cluster, v) && size > BESIDE) return at + size;
    p->grad = at + size;
    return p->grad + (gathered(net, l->cluster, v) ? fused_round_up(channels_of(net, v) * p->cs, 4) : size);
}

/* Behind the weights: gradients that are not kept, boxes, values, the image to come, sums of rows, partial sums. */
static void place_values(const fused_net *net, fused_spread *l)
{
    int at = l->weights;
    for (int i = 0; i < net->n_stages; i++) {
        fused_tile *k = &l->tiles[i];
        if (net->stages[i].op != FUSED_CONV || k->grads < 0) continue;
        k->grads = at;
        at += owned(net, l->cluster, i) * k->cs;
    }
    l->mail = at;
    at += 4 * net->n_stages;
    for (int v = 0; v <= net->n_stages; v++) at = place_value(net, l, v, at);
    l->staged = at;
    at += fused_round_up((int)net->elems[0], 4);
    for (int i = 0; i < net->n_stages; i++) {
        fused_tile *k = &l->tiles[i];
        const int mine = owned(net, l->cluster, i + 1);
        k->rows = at;
        if (net->stages[i].b >= 0) at += fused_round_up(mine * net->stages[i].oh, 4);
        k->box = at;
        if (partial(net, l->cluster, i)) at += fused_round_up(l->cluster * mine * l->places[i + 1].cs, 4);
    }
    l->floats = at;
}

/* How often shared memory serves a warp that reads 16 bytes a lane, `at` in such units: eight lanes at a time, as often
 * as two of their addresses meet in a bank. */
static int times_served(const int at[32])
{
    int times = 0;
    for (int eight = 0; eight < 32; eight += 8) {
        int most = 1;
        for (int i = eight; i < eight + 8; i++) {
            int here = 1;
            for (int j = eight; j < i; j++) {
                bool again = at[j] % 8 == at[i] % 8 && at[j] != at[i];
                for (int k = eight; k < j && again; k++) again = at[k] != at[j];
                here += again;
            }
            most = here > most ? here : most;
        }
        times += most;
    }
    return times;
}

/* How far apart the weights of two channels stand, of so many floats each: lanes of a task read them of neighbouring
 * channels, each a group of so many floats; which group is the task's. As fused_seat_of() of v2_lanes.h seats them. */
static int apart(int floats, int groups, int group, int lanes)
{
    const int pair = lanes < 32 ? 2 : 1;
    int best = fused_spread_rows(floats, 4), least = 33 * 32;
    for (int units = (floats + 3) / 4; units < (floats + 3) / 4 + 8 && group % 4 == 0; units++) {
        int at[32];
        for (int t = 0; t < 32; t++) {
            const int task = t / (lanes * pair) * pair + t % pair;
            at[t] = t / pair % lanes * units + task % groups * (group / 4);
        }
        if (times_served(at) >= least) continue;
        least = times_served(at);
        best = 4 * units;
    }
    return best;
}

static void place_forward(const fused_net *net, fused_spread *l, int i)
{
    const fused_stage s = share_of(net, l->cluster, i);
    fused_tile *k = &l->tiles[i];
    k->is = fused_round_up(s.oc * s.kw, 4);
    k->cs = apart(s.kh * k->is, s.oc / k->fc, s.kw * k->fc, k->fl);
    k->w = l->weights;
    l->weights += s.ic * k->cs;
}

static void place_back(const fused_net *net, fused_spread *l, int i)
{
    const fused_stage s = share_of(net, l->cluster, i);
    fused_tile *k = &l->tiles[i];
    k->bs = fused_round_up(s.ic * s.kw, 4);
    k->fs = apart(s.kh * k->bs, s.ic / k->dc, s.kw * k->dc, k->dl);
    k->wb = l->weights;
    l->weights += s.oc * k->fs;
}

static void place_weights(const fused_net *net, fused_spread *l)
{
    const int n = net->n_stages;
    l->weights = 0;
    if (net->stages[0].op == FUSED_CONV) place_forward(net, l, 0);
    for (int i = 0; i < n; i++)
        if (net->stages[i].b >= 0) {
            l->tiles[i].b = l->weights;
            l->weights += fused_round_up(owned(net, l->cluster, i + 1), 4);
        }
    l->first = l->weights;
    for (int i = 1; i < n; i++)
        if (net->stages[i].op == FUSED_CONV) place_forward(net, l, i);
    l->forward = l->weights;
    for (int i = 1; i < n; i++)
        if (net->stages[i].op == FUSED_CONV && !is_full(net, i)) place_back(net, l, i);
}

/* ---- Slots */

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

static void place_slots(const fused_net *net, fused_spread *l)
{
    l->slots = 0;
    for (int i = 0; i < net->n_stages; i++) {
        const fused_stage s = share_of(net, l->cluster, i);
        fused_tile *k = &l->tiles[i];
        k->slot = l->slots;
        if (s.op != FUSED_CONV) continue;
        l->slots +=
            k->grads < 0 ? part_of(k->wo * k->wc, s.kw / k->wt, k->wl, 0).left * active_of(&s, k) : s.ic * k->cs;
        k->bslot = l->slots;
        if (s.b >= 0) l->slots += fused_round_up(owned(net, l->cluster, i + 1), 4);
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
    const fused_stage *all = &t->net->stages[t->stage], s = share_of(t->net, t->spread->cluster, t->stage);
    const fused_tile *k = &t->spread->tiles[t->stage];
    t->at[slot] = k->w + ic * k->cs + i * k->is + oc / k->fc * (s.kw * k->fc) + j * k->fc + oc % k->fc;
    if (k->wb >= 0)
        t->back[slot] = k->wb + oc * k->fs + i * k->bs + ic / k->dc * (s.kw * k->dc) + j * k->dc + ic % k->dc;
    for (int rank = 0; rank < t->spread->cluster; rank++) {
        const int o = t->stage == 0 ? rank * s.oc + oc : oc, c = t->stage == 0 ? ic : rank * s.ic + ic;
        t->params[rank * t->spread->slots + slot] = all->w + ((o * all->ic + c) * s.kh + i) * s.kw + j;
    }
}

/* The slots of one thread's kept sums: what fused_leave() of v3_weights.h leaves. */
static void put_kept(const table *t, int thread)
{
    const fused_stage s = share_of(t->net, t->spread->cluster, t->stage);
    const fused_tile *k = &t->spread->tiles[t->stage];
    const int beside = 32 / k->wl, lane = thread / beside % k->wl, each = k->wo * k->wc;
    const int outs = s.oc / k->wo, ins = s.ic / k->wc, tasks = outs * ins * s.kh;
    const int rounds = fused_round_up(tasks * k->wl, 32) / k->wl, turn = thread / 32 * beside + thread % beside;
    const int kind = turn / rounds < k->wt ? turn / rounds : k->wt - 1, task = turn - kind * rounds;
    const part mine = part_of(each, s.kw / k->wt, k->wl, lane);
    const bool twos = outs % 2 == 0 && ins % 2 == 0; /* fused_weight_task() of v3_weights.h */
    const int f = twos ? task / 4 % (outs / 2) * 2 + task % 2 : task % outs;
    const int c = twos ? task / 4 / (outs / 2) % (ins / 2) * 2 + task / 2 % 2 : task / outs % ins;
    for (int e = 0; e < mine.left && task < tasks; e++) {
        const int sum = mine.base + e, tap = mine.column + sum / each;
        if (sum >= mine.end) continue;
        put_weight(t, k->slot + e * active_of(&s, k) + thread, f * k->wo + sum % each / k->wc,
                   c * k->wc + sum % each % k->wc, task / outs / ins, kind + tap * k->wt);
    }
}

static void put_there(const table *t)
{
    const fused_stage s = share_of(t->net, t->spread->cluster, t->stage);
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
    const int mine = owned(t->net, l->cluster, t->stage + 1), shared = t->stage + 1 == t->net->n_stages;
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
        for (int thread = 0; thread < THREADS && net->stages[i].op == FUSED_CONV && l->tiles[i].grads < 0; thread++)
            put_kept(&t, thread);
        if (net->stages[i].b >= 0) put_biases(&t);
    }
}

/* ---- All of it */

/* Two exchanges an image, at least, keep a block from writing over what another has not read yet. */
static cnn_status check_cluster(const fused_net *net, int cluster, cnn_error *err)
{
    int exchanges = 0;
    for (int i = 0; i < net->n_stages; i++) exchanges += partial(net, cluster, i) + gathered(net, cluster, i);
    for (int v = 1; v < net->n_stages; v++)
        if (channels_of(net, v) % cluster != 0)
            return CNN_FAIL(err, CNN_UNSUPPORTED,
                            "cuda_fused:v3 gives each of %d blocks an equal share of a value's channels, and value %d "
                            "has %d",
                            cluster, v, channels_of(net, v));
    if (cluster > 1 && (exchanges < 2 || net->stages[0].op != FUSED_CONV || !partial(net, cluster, net->n_stages - 1)))
        return CNN_FAIL(
            err, CNN_UNSUPPORTED,
            "cuda_fused:v3 shares an image among blocks where its first and last layer are conv or fc, with "
            "one more between them");
    return CNN_OK;
}

size_t fused_spread_bytes(const fused_spread *l, int blocks, bool alone)
{
    const int most = alone ? l->slots : (l->cluster * l->slots / 4 + blocks - 1) / blocks * 4;
    return ((size_t)l->floats + (size_t)(most > 4 * THREADS ? most : 4 * THREADS) + 5 * (size_t)most) * sizeof(float);
}

cnn_status fused_spread_of(const fused_net *net, int cluster, int blocks, size_t shared_most, fused_spread *l,
                           cnn_error *err)
{
    cnn_status status = fused_check_widths(net, err);
    if (status == CNN_OK) status = check_cluster(net, cluster, err);
    if (status != CNN_OK) return status;
    *l = (fused_spread){.cluster = cluster, .threads = THREADS};
    for (int v = 0; v <= net->n_stages; v++) (void)place_value(net, l, v, 0); /* cuts look at how rows lie */
    cut_stages(net, l);
    place_weights(net, l);
    place_values(net, l);
    place_slots(net, l);
    const size_t bytes = fused_spread_bytes(l, blocks, false);
    if (bytes > shared_most)
        return CNN_FAIL(
            err, CNN_UNSUPPORTED,
            "cuda_fused:v3 keeps an image and %d weights in the shared memory of a block: %zu bytes, and the "
            "device has %zu; take v1",
            l->weights, bytes, shared_most);
    return CNN_OK;
}
