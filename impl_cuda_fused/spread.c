/* spread.c: how v3 spreads a network over the blocks of a cluster: where what stands in a block's shared memory. */
#include "impl_cuda_fused/spread_parts.h"

enum {
    BESIDE = 2560,   /* floats of a value whose gradient does not take its place */
    PIECES_MOST = 16 /* rows of taps of a stage 0 that goes forward by pieces */
};

int fused_channels_of(const fused_net *net, int v)
{
    return v > 0 && v == net->n_stages ? net->stages[v - 1].oc : net->stages[v].ic;
}

int fused_owned_of(const fused_net *net, int cluster, int v)
{
    return fused_channels_of(net, v) / (v == 0 || v == net->n_stages ? 1 : cluster);
}

bool fused_is_gathered(const fused_net *net, int cluster, int v)
{
    return cluster > 1 && v > 1 && v < net->n_stages && net->stages[v - 1].op == FUSED_CONV;
}

bool fused_is_partial(const fused_net *net, int cluster, int s)
{
    return cluster > 1 && s > 0 && net->stages[s].op == FUSED_CONV;
}

fused_stage fused_stage_of(const fused_net *net, int cluster, int i)
{
    fused_stage s = net->stages[i];
    s.ic = fused_owned_of(net, cluster, i);
    if (i == 0) s.oc = fused_owned_of(net, cluster, 1);
    return s;
}

/* fused_full() of v3_forward.h */
bool fused_is_full(const fused_net *net, int i)
{
    const fused_stage *s = &net->stages[i];
    return i > 0 && s->op == FUSED_CONV && s->oh * s->ow == 1 && s->kh == s->ih && s->kw == s->iw && s->ph == 0 &&
           s->pw == 0 && s->dh == 1 && s->dw == 1;
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

bool fused_by_pieces(const fused_net *net)
{
    const fused_stage *s = &net->stages[0];
    return s->op == FUSED_CONV && s->ow % FUSED_PIECE == 0 && s->ic * s->kh <= PIECES_MOST && s->sw < s->iw &&
           net->n_stages > 1;
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
    const int size = fused_place_value(p, at, fused_owned_of(net, l->cluster, v), last ? s->oh : s->ih,
                                       last ? s->ow : s->iw, conv ? s->sw : 1);
    if (v == 0 && fused_by_pieces(net)) return at + place_pieces(s, p);
    if (v == 0 || last) return at + size;
    if (conv && !fused_is_gathered(net, l->cluster, v) && size > BESIDE) return at + size;
    p->grad = at + size;
    return p->grad +
           (fused_is_gathered(net, l->cluster, v) ? fused_round_up(fused_channels_of(net, v) * p->cs, 4) : size);
}

/* Behind the weights: gradients that are not kept, boxes, values, the image to come, sums of rows, partial sums. */
static void place_values(const fused_net *net, fused_spread *l)
{
    int at = l->weights;
    for (int i = 0; i < net->n_stages; i++) {
        fused_tile *k = &l->tiles[i];
        if (net->stages[i].op != FUSED_CONV || k->grads < 0) continue;
        k->grads = at;
        at += fused_owned_of(net, l->cluster, i) * k->cs;
    }
    l->mail = at;
    at += 4 * net->n_stages;
    for (int v = 0; v <= net->n_stages; v++) at = place_value(net, l, v, at);
    l->staged = at;
    at += fused_round_up((int)net->elems[0], 4);
    for (int i = 0; i < net->n_stages; i++) {
        fused_tile *k = &l->tiles[i];
        const int mine = fused_owned_of(net, l->cluster, i + 1);
        k->rows = at;
        if (net->stages[i].b >= 0) at += fused_round_up(mine * net->stages[i].oh, 4);
        k->box = at;
        if (fused_is_partial(net, l->cluster, i)) at += fused_round_up(l->cluster * mine * l->places[i + 1].cs, 4);
    }
    l->laps = at;
    l->floats = at + 4;
}

/* How often shared memory serves a warp that reads 16 bytes a lane, `at` in such units: `by` lanes at a time, as often
 * as two of their addresses meet in a bank. */
static int times_served(const int at[32], int by)
{
    int times = 0;
    for (int first = 0; first < 32; first += by) {
        int most = 1;
        for (int i = first; i < first + by; i++) {
            int here = 1;
            for (int j = first; j < i; j++) {
                bool again = at[j] % 8 == at[i] % 8 && at[j] != at[i];
                for (int k = first; k < j && again; k++) again = at[k] != at[j];
                here += again;
            }
            most = here > most ? here : most;
        }
        times += most;
    }
    return times;
}

/* How tasks are seated: `lanes` of each, `pair` beside each other of neighbouring groups of channels, and `rows` beside
 * those, which read the same weights. */
typedef struct seats {
    int lanes, pair, rows;
} seats;

/* How far apart the weights of two channels stand, of so many floats each: lanes of a task read them of neighbouring
 * channels, each a group of so many floats; which group is the task's. */
static int apart(int floats, int groups, int group, seats by)
{
    const int beside = by.pair * by.rows, at_once = by.rows > 1 ? 16 : 8;
    int best = fused_spread_rows(floats, 4), least = 33 * 32;
    for (int units = (floats + 3) / 4; units < (floats + 3) / 4 + 8 && group % 4 == 0; units++) {
        int at[32];
        for (int t = 0; t < 32; t++) {
            const int task = t / (by.lanes * beside) * by.pair + t % by.pair;
            at[t] = t / beside % by.lanes * units + task % groups * (group / 4);
        }
        if (times_served(at, at_once) >= least) continue;
        least = times_served(at, at_once);
        best = 4 * units;
    }
    return best;
}

/* Of a kernel as large as its image: its way back reads one weight a lane, of neighbouring inputs, of outputs and
 * gradients, which are more than the reads of the way forward. */
static int apart_full(const fused_stage *s, const fused_tile *k)
{
    int best = 0, least = 33;
    for (int cs = s->kh * k->is; cs < s->kh * k->is + 32; cs += 4) {
        int banks[32] = {0}, most = 0;
        for (int t = 0; t < 32; t++) {
            const int at = t / (s->ih * s->iw) * cs + t / s->iw % s->ih * k->is + t % s->iw * k->fc;
            const int times = ++banks[at % 32];
            most = times > most ? times : most;
        }
        if (most >= least) continue;
        least = most;
        best = cs;
    }
    return best;
}

static void place_forward(const fused_net *net, fused_spread *l, int i)
{
    const fused_stage s = fused_stage_of(net, l->cluster, i);
    fused_tile *k = &l->tiles[i];
    k->is = fused_round_up(s.oc * s.kw, 4);
    k->cs = apart(s.kh * k->is, s.oc / k->fc, s.kw * k->fc, (seats){k->fl, k->fl < 32 ? 2 : 1, 1});
    if (fused_is_full(net, i)) k->cs = apart_full(&s, k);
    k->w = l->weights;
    l->weights += s.ic * k->cs;
}

static void place_back(const fused_net *net, fused_spread *l, int i)
{
    const fused_stage s = fused_stage_of(net, l->cluster, i);
    fused_tile *k = &l->tiles[i];
    k->bs = fused_round_up(s.ic * s.kw, 4);
    /* fused_back_tasks of v3_data.h */
    const int groups = s.ic / k->dc, pair = groups % 2 == 0 && k->dl < 32 ? 2 : 1;
    const int rows = s.ih % (2 * s.sh) == 0 && 2 * pair * k->dl <= 32 ? 2 : 1;
    k->fs = apart(s.kh * k->bs, groups, s.kw * k->dc, (seats){k->dl, pair, rows});
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
            l->weights += fused_round_up(fused_owned_of(net, l->cluster, i + 1), 4);
        }
    l->first = l->weights;
    for (int i = 1; i < n; i++)
        if (net->stages[i].op == FUSED_CONV) place_forward(net, l, i);
    l->forward = l->weights;
    for (int i = 1; i < n; i++)
        if (net->stages[i].op == FUSED_CONV && !fused_is_full(net, i)) place_back(net, l, i);
}

/* ---- All of it */

/* Two exchanges an image, at least, keep a block from writing over what another has not read yet. */
static cnn_status check_cluster(const fused_net *net, int cluster, cnn_error *err)
{
    int exchanges = 0;
    for (int i = 0; i < net->n_stages; i++)
        exchanges += fused_is_partial(net, cluster, i) + fused_is_gathered(net, cluster, i);
    for (int v = 1; v < net->n_stages; v++)
        if (fused_channels_of(net, v) % cluster != 0)
            return CNN_FAIL(err, CNN_UNSUPPORTED,
                            "cuda_fused:v3 gives each of %d blocks an equal share of a value's channels, and value %d "
                            "has %d",
                            cluster, v, fused_channels_of(net, v));
    if (cluster > 1 &&
        (exchanges < 2 || net->stages[0].op != FUSED_CONV || !fused_is_partial(net, cluster, net->n_stages - 1)))
        return CNN_FAIL(
            err, CNN_UNSUPPORTED,
            "cuda_fused:v3 shares an image among blocks where its first and last layer are conv or fc, with "
            "one more between them");
    return CNN_OK;
}

size_t fused_spread_bytes(const fused_spread *l, int blocks, bool alone)
{
    const int most = alone ? l->slots : (l->cluster * l->slots / 4 + blocks - 1) / blocks * 4;
    return ((size_t)l->floats + (size_t)(most > 4 * FUSED_SPREAD_THREADS ? most : 4 * FUSED_SPREAD_THREADS) +
            5 * (size_t)most) *
           sizeof(float);
}

cnn_status fused_spread_of(const fused_net *net, int cluster, int blocks, size_t shared_most, fused_spread *l,
                           cnn_error *err)
{
    cnn_status status = fused_check_widths(net, err);
    if (status == CNN_OK) status = check_cluster(net, cluster, err);
    if (status != CNN_OK) return status;
    *l = (fused_spread){.cluster = cluster, .threads = FUSED_SPREAD_THREADS};
    for (int v = 0; v <= net->n_stages; v++) (void)place_value(net, l, v, 0); /* cuts look at how rows lie */
    fused_cut_stages(net, l);
    place_weights(net, l);
    place_values(net, l);
    fused_place_slots(net, l);
    const size_t bytes = fused_spread_bytes(l, blocks, false);
    if (bytes > shared_most)
        return CNN_FAIL(
            err, CNN_UNSUPPORTED,
            "cuda_fused:v3 keeps an image and %d weights in the shared memory of a block: %zu bytes, and the "
            "device has %zu; take v1",
            l->weights, bytes, shared_most);
    return CNN_OK;
}
