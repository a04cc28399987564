/* layout.c: how v2 lays an image and its parameters out in shared memory, and cuts stages into tasks. */
#include "impl_cuda_fused/fused.h"

#include <math.h>

/* ---- Places */

static int round_up(int n, int to) { return (n + to - 1) / to * to; }

/* Neighbours that a row's planes are read in: a width of 3 or more is padded to fours. */
static int plane_of(int columns) { return columns > 2 ? round_up(columns, 4) : columns; }

/* Planes of one channel lie so that eight lanes that read neighbouring channels meet eight different banks. */
static int spread(int floats, int unit)
{
    const int units = (floats + unit - 1) / unit;
    return (units % 2 == 0 ? units + 1 : units) * unit;
}

static int place_value(fused_place *p, int at, int c, int h, int w, int stride)
{
    p->sw = stride < w ? stride : 1;
    p->ps = plane_of((w + p->sw - 1) / p->sw);
    p->hs = p->sw * p->ps;
    p->cs = h * p->hs == 1 ? 1 : spread(h * p->hs, p->hs % 4 == 0 ? 4 : 1);
    p->at = p->grad = at;
    return round_up(c * p->cs, 4);
}

static void place_values(const fused_net *net, fused_layout *l)
{
    int at = 2 * l->slots;
    for (int v = 0; v <= net->n_stages; v++) {
        const fused_stage *s = &net->stages[v < net->n_stages ? v : v - 1];
        const bool last = v == net->n_stages;
        const int c = last ? s->oc : s->ic, h = last ? s->oh : s->ih, w = last ? s->ow : s->iw;
        const bool conv = !last && s->op == FUSED_CONV;
        const int size = place_value(&l->places[v], at, c, h, w, conv ? s->sw : 1);
        at += size;
        if (conv || last || v == 0) continue;
        l->places[v].grad = at; /* pooling reads a value while its gradient is made */
        at += size;
    }
    l->floats = at;
}

/* ---- Cuts: the cheapest by a model of a thread's instructions. */

/* What a thread does for a task: rounds of tasks, steps of its sum, instructions a step, of the sum over lanes, and of
 * what is written. */
typedef struct cost_of {
    int tasks, lanes, work, sums;
    double step;
} cost_of;

static double cost(const cost_of *c, int threads)
{
    const double rounds = ceil((double)c->tasks * c->lanes / threads), steps = ceil((double)c->work / c->lanes);
    const double halves = c->lanes > 1 ? 2.5 * c->sums : 0, written = ceil((double)c->sums / c->lanes) * 12;
    return rounds * (steps * c->step + halves + written + 40);
}

/* Instructions that load so many neighbours, at a quarter of the rate of arithmetic. */
static double loads(int floats) { return floats % 4 == 0 ? floats : 3.0 * floats; }

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

static void cut_forward(const fused_stage *s, const fused_place *in, int threads, int most, fused_cut *k)
{
    const double wide = inside(s->ow, s->kw, s->sw, s->dw, s->pw, s->iw);
    const double high = inside(s->oh, s->kh, s->sh, s->dh, s->ph, s->ih);
    double best = INFINITY;
    for (int f = 1; f <= s->oc; f++)
        for (int lanes = 1; lanes <= 32; lanes *= 2) {
            if (s->oc % f != 0 || f * s->ow > most || f * s->kw > most) continue;
            const cost_of c = {s->oc / f * s->oh, lanes, (int)ceil(s->ic * s->kh * high), f * s->ow,
                               f * s->kw * s->ow * wide + loads(f * s->kw) + loads(in->sw * in->ps) + 15};
            if (cost(&c, threads) >= best) continue;
            best = cost(&c, threads);
            k->fc = f, k->fl = lanes;
        }
}

static void cut_data(const fused_stage *s, const fused_place *out, int threads, int most, fused_cut *k)
{
    const double wide = inside(s->ow, s->kw, s->sw, s->dw, s->pw, s->iw);
    const double high = inside(s->oh, s->kh, s->sh, s->dh, s->ph, s->ih) * s->oh / s->ih;
    double best = INFINITY;
    for (int f = 1; f <= s->ic; f++)
        for (int lanes = 1; lanes <= 32; lanes *= 2) {
            if (s->ic % f != 0 || (f > 1 && (f * s->iw > most || f * s->kw > most))) continue;
            const cost_of c = {s->ic / f * s->ih, lanes, (int)ceil(s->oc * s->kh * high), f * s->iw,
                               f * s->kw * s->ow * wide + 2.5 * f * s->kw + loads(out->sw * out->ps) + 20};
            if (cost(&c, threads) >= best) continue;
            best = cost(&c, threads);
            k->dc = f, k->dl = lanes;
        }
}

static void cut_weights(const fused_stage *s, const fused_place *in, const fused_place *out, int threads, int most,
                        fused_cut *k)
{
    const double wide = inside(s->ow, s->kw, s->sw, s->dw, s->pw, s->iw);
    const double high = inside(s->oh, s->kh, s->sh, s->dh, s->ph, s->ih);
    const int x = in->sw * in->ps, y = out->sw * out->ps;
    double best = INFINITY;
    for (int o = 1; o <= s->oc; o++)
        for (int c = 1; c <= s->ic; c++)
            for (int lanes = 1; lanes <= 32; lanes *= 2) {
                const int sums = o * c * s->kw;
                if (s->oc % o != 0 || s->ic % c != 0 || (o * c > 1 && (sums > most || sums + o * y + x > most + 64)))
                    continue;
                const cost_of cost_here = {s->oc / o * (s->ic / c) * s->kh, lanes, (int)ceil(s->oh * high), sums,
                                           sums * s->ow * wide + o * loads(y) + c * loads(x) + 15};
                if (cost(&cost_here, threads) >= best) continue;
                best = cost(&cost_here, threads);
                k->wo = o, k->wc = c, k->wl = lanes;
            }
}

/* Slots of one stage, from `at` on; where the next ones begin. */
static int place_weights(const fused_stage *s, fused_cut *k, int at)
{
    k->is = round_up(s->oc * s->kw, 4);
    k->cs = spread(s->kh * k->is, 4);
    k->w = at;
    k->b = s->b >= 0 ? at + s->ic * k->cs : -1;
    return at + s->ic * k->cs + (s->b >= 0 ? round_up(s->oc, 4) : 0);
}

static void cut_stages(const fused_net *net, fused_layout *l)
{
    const int most = l->threads > 384 ? 48 : 84; /* sums that a thread's registers hold beside their operands */
    for (int i = 0; i < net->n_stages; i++) {
        const fused_stage *s = &net->stages[i];
        fused_cut *k = &l->cuts[i];
        *k = (fused_cut){1, 1, 1, 1, 1, 1, 1, 0, -1, 0, 0};
        if (s->op != FUSED_CONV) continue;
        cut_forward(s, &l->places[i], l->threads, most, k);
        cut_data(s, &l->places[i + 1], l->threads, most, k);
        cut_weights(s, &l->places[i], &l->places[i + 1], l->threads, most, k);
    }
}

/* ---- All of it */

enum { WIDEST = 64, SLOTS_MOST = 1 << 20 };

static cnn_status check_widths(const fused_net *net, cnn_error *err)
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
    const cnn_status status = check_widths(net, err);
    if (status != CNN_OK) return status;
    l->threads = threads;
    l->slots = 0;
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
