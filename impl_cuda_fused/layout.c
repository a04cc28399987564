/* layout.c: how v2 lays an image and its parameters out in shared memory, and cuts stages into tasks. */
#include "impl_cuda_fused/cuts.h"

#include <math.h>

/* ---- Places */

int fused_round_up(int n, int to) { return (n + to - 1) / to * to; }

/* Neighbours that a row's planes are read in: a width of 3 or more is padded to fours. */
static int plane_of(int columns) { return columns > 2 ? fused_round_up(columns, 4) : columns; }

/* Planes of one channel lie so that eight lanes that read neighbouring channels meet eight different banks. */
int fused_spread_rows(int floats, int unit)
{
    const int units = (floats + unit - 1) / unit;
    return (units % 2 == 0 ? units + 1 : units) * unit;
}

int fused_place_value(fused_place *p, int at, int c, int h, int w, int stride)
{
    p->sw = stride < w ? stride : 1;
    p->ps = plane_of((w + p->sw - 1) / p->sw);
    p->hs = p->sw * p->ps;
    if (p->hs % 8 == 0) p->hs += 4; /* lanes that read neighbouring rows meet different banks, too */
    p->cs = h * p->hs == 1 ? 1 : fused_spread_rows(h * p->hs, p->hs % 4 == 0 ? 4 : 1);
    p->at = p->grad = at;
    return fused_round_up(c * p->cs, 4);
}

static void place_values(const fused_net *net, fused_layout *l)
{
    int at = 2 * l->slots;
    for (int v = 0; v <= net->n_stages; v++) {
        const fused_stage *s = &net->stages[v < net->n_stages ? v : v - 1];
        const bool last = v == net->n_stages;
        const int c = last ? s->oc : s->ic, h = last ? s->oh : s->ih, w = last ? s->ow : s->iw;
        const bool conv = !last && s->op == FUSED_CONV;
        const int size = fused_place_value(&l->places[v], at, c, h, w, conv ? s->sw : 1);
        at += size;
        if (conv || last || v == 0) continue;
        l->places[v].grad = at; /* pooling reads a value while its gradient is made */
        at += size;
    }
    l->staged = at;
    at += fused_round_up((int)net->elems[0], 4);
    for (int i = 0; i < net->n_stages; i++) {
        l->cuts[i].rows = at;
        if (l->cuts[i].b >= 0) at += fused_round_up(net->stages[i].oc * net->stages[i].oh, 4);
    }
    l->floats = at;
}

/* ---- Cuts: the cheapest by a model of a multiprocessor, in clocks of one of its four schedulers. */

/* Shared memory gives 32 floats a clock to four schedulers, which do four times as much arithmetic. */
double fused_cost(const fused_task *c, int threads)
{
    const double rounds = ceil((double)c->tasks * c->lanes / threads), steps = ceil((double)c->work / c->lanes);
    const double math = c->math + 15, memory = 4 * c->floats;
    const double step = math > memory ? math + 0.25 * memory : memory + 0.25 * math;
    const double halves = c->lanes > 1 ? 4 * c->sums : 0, written = ceil((double)c->sums / c->lanes) * 15;
    return rounds * (steps * step + halves + written + 60);
}

/* Floats as a task's lane reads them where the lane beside it reads the same. */
double fused_read(int lanes, int floats) { return lanes < 32 ? 0.55 * floats : floats; }

/* The share of a kernel's taps that meet an image, not its padding. */
static double inside(int out, int k, int stride, int spacing, int pad, int in)
{
    int taps = 0;
    for (int o = 0; o < out; o++)
        for (int i = 0; i < k; i++) {
            const int at = o * stride + i * spacing - pad;
            taps += at >= 0 && at < in;
        }
    return (double)taps / ((double)out * k);
}

fused_shares fused_shares_of(const fused_stage *s)
{
    return (fused_shares){inside(s->oh, s->kh, s->sh, s->dh, s->ph, s->ih),
                          inside(s->ow, s->kw, s->sw, s->dw, s->pw, s->iw)};
}

void fused_cut_forward(const fused_stage *s, const fused_place *in, int threads, int most, fused_cut *k)
{
    const fused_shares share = fused_shares_of(s);
    double best = INFINITY;
    for (int f = 1; f <= s->oc; f++)
        for (int lanes = 1; lanes <= 32; lanes *= 2) {
            if (s->oc % f != 0 || (f > 1 && (f * s->ow > most || f * s->kw > most))) continue;
            const fused_task c = {s->oc / f * s->oh,
                                  lanes,
                                  (int)ceil(s->ic * s->kh * share.high),
                                  f * s->ow,
                                  f * s->kw * s->ow * share.wide,
                                  f * s->kw + fused_read(lanes, in->sw * in->ps)};
            if (fused_cost(&c, threads) >= best) continue;
            best = fused_cost(&c, threads);
            k->fc = f, k->fl = lanes;
        }
}

void fused_cut_data(const fused_stage *s, const fused_place *out, int threads, int most, fused_cut *k)
{
    const fused_shares share = fused_shares_of(s);
    double best = INFINITY;
    for (int f = 1; f <= s->ic; f++)
        for (int lanes = 1; lanes <= 32; lanes *= 2) {
            if (s->ic % f != 0 || (f > 1 && (f * s->iw > most || f * s->kw > most))) continue;
            const fused_task c = {s->ic / f * s->ih,
                                  lanes,
                                  (int)ceil(s->oc * s->kh * share.high * s->oh / s->ih),
                                  f * s->iw,
                                  f * s->kw * s->ow * share.wide + f * s->kw,
                                  f * s->kw + fused_read(lanes, out->sw * out->ps)};
            if (fused_cost(&c, threads) >= best) continue;
            best = fused_cost(&c, threads);
            k->dc = f, k->dl = lanes;
        }
}

static void cut_weights(const fused_stage *s, const fused_place *in, const fused_place *out, int threads, int most,
                        fused_cut *k)
{
    const fused_shares share = fused_shares_of(s);
    const int x = in->sw * in->ps, y = out->sw * out->ps;
    double best = INFINITY;
    for (int o = 1; o <= s->oc; o++)
        for (int c = 1; c <= s->ic; c++)
            for (int way = 0; way < 12; way++) {
                const int lanes = 1 << way / 2, by = way % 2 == 0 ? 1 : in->sw, sums = o * c * ((s->kw + by - 1) / by);
                if (k->fc % o != 0 || s->ic % c != 0 || by > 2 || (way % 2 == 1 && (by == 1 || s->kw < 2))) continue;
                if (o * c > 1 && (sums > most || sums + o * y + x / by > most + 64)) continue;
                const fused_task t = {s->oc / o * (s->ic / c) * s->kh * by,
                                      lanes,
                                      (int)ceil(s->oh * share.high),
                                      sums,
                                      sums * s->ow * share.wide,
                                      o * y + fused_read(lanes, c * x / by)};
                if (fused_cost(&t, threads) >= best) continue;
                best = fused_cost(&t, threads);
                k->wo = o, k->wc = c, k->wt = by, k->wl = lanes;
            }
}

/* Slots of one stage, from `at` on; where the next ones begin. */
static int place_weights(const fused_stage *s, fused_cut *k, int at)
{
    k->is = fused_round_up(s->oc * s->kw, 4);
    k->cs = fused_spread_rows(s->kh * k->is, 4);
    k->w = at;
    k->b = s->b >= 0 ? at + s->ic * k->cs : -1;
    return at + s->ic * k->cs + (s->b >= 0 ? fused_round_up(s->oc, 4) : 0);
}

static void cut_stages(const fused_net *net, fused_layout *l)
{
    const int most = l->threads > 384 ? 48 : 80; /* sums that a thread's registers hold beside their operands */
    for (int i = 0; i < net->n_stages; i++) {
        const fused_stage *s = &net->stages[i];
        fused_cut *k = &l->cuts[i];
        *k = (fused_cut){1, 1, 1, 1, 1, 1, 1, 1, 0, -1, 0, 0, 0};
        if (s->op != FUSED_CONV) continue;
        fused_cut_forward(s, &l->places[i], l->threads, most, k);
        fused_cut_data(s, &l->places[i + 1], l->threads, most, k);
        cut_weights(s, &l->places[i], &l->places[i + 1], l->threads, most, k);
    }
}

/* ---- All of it */

enum { WIDEST = 64, SLOTS_MOST = 1 << 20 };

cnn_status fused_check_widths(const fused_net *net, cnn_error *err)
{
    for (int i = 0; i < net->n_stages; i++) {
        const fused_stage *s = &net->stages[i];
        const int64_t slots = (int64_t)s->oc * s->ic * s->kh * s->kw;
        if (s->op == FUSED_CONV && (s->ow > WIDEST || s->iw > WIDEST || s->kw > WIDEST))
            return CNN_FAIL(
                err, CNN_UNSUPPORTED,
                "cuda_fused keeps a row in registers, up to %d pixels: stage %d has %d, %d and a kernel of %d", WIDEST,
                i + 1, s->iw, s->ow, s->kw);
        if (s->op == FUSED_CONV && slots > SLOTS_MOST)
            return CNN_FAIL(err, CNN_UNSUPPORTED, "cuda_fused: stage %d has %lld weights, which fit in no block", i + 1,
                            (long long)slots);
    }
    return CNN_OK;
}

cnn_status fused_layout_of(const fused_net *net, int threads, int blocks, size_t shared_most, fused_layout *l,
                           cnn_error *err)
{
    const cnn_status status = fused_check_widths(net, err);
    if (status != CNN_OK) return status;
    l->threads = threads;
    l->slots = 0;
    for (int i = 0; i < net->n_stages; i++) l->cuts[i].b = -1;
    place_values(net, l); /* cuts look at how rows lie, slots at cuts */
    cut_stages(net, l);
    for (int i = 0; i < net->n_stages; i++)
        if (net->stages[i].op == FUSED_CONV) l->slots = place_weights(&net->stages[i], &l->cuts[i], l->slots);
    place_values(net, l);
    const int slice = (l->slots / 4 + blocks - 1) / blocks * 4;
    l->scratch = slice > 4 * threads ? slice : 4 * threads;
    l->shared_bytes = ((size_t)l->floats + (size_t)l->scratch) * sizeof(float);
    if (l->shared_bytes > shared_most)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "cuda_fused:v2 keeps an image, %d parameters and their gradients in the shared memory of a "
                        "block: %zu bytes, and the device has %zu; take v1",
                        l->slots, l->shared_bytes, shared_most);
    return CNN_OK;
}

int fused_slot(const fused_stage *s, const fused_cut *k, int oc, int ic, int i, int j)
{
    return k->w + ic * k->cs + i * k->is + oc / k->fc * (s->kw * k->fc) + j * k->fc + oc % k->fc;
}
