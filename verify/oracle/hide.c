/* hide.c: lines of data in which one product outweighs all others (lines.h), drawn. Which lines they are depends on the
 * seed, the variant and the problem alone, not on the direction: forward and backward see the same arrays. */
#include "element.h"
#include "lines.h"
#include "pieces.h"

#include <math.h>
#include <string.h>

enum { ONE_IN = 8, LINES_LEAST = 4, SIZE_LEAST = 8, TAILS = 16, TRIES = 16 };

/* The conv's direction whose lines these are, as a number for the seed. */
static cnn_rng stream_of(const vf_case *c, const vf_lines *l, uint64_t line)
{
    return rng_stream(c->seed, 31000 + (uint64_t)c->variant * CNN_DIR_COUNT + (uint64_t)l->dir + (line << 20));
}

static bool is_hidden(const vf_case *c, const vf_lines *l, int64_t line)
{
    if (l->count < LINES_LEAST || l->size < SIZE_LEAST) return false;
    cnn_rng all = stream_of(c, l, 0), one = stream_of(c, l, (uint64_t)line + 1);
    return rng_int(&all, 0, l->count - 1) == line || rng_int(&one, 0, ONE_IN - 1) == 0;
}

/* So small that a whole line of them is lost beside the one that is not, four bits to spare for that one's partner. */
static int depth_of(const vf_case *c, const vf_lines *l)
{
    return (c->problem.u.type.dtype == CNN_F64 ? 53 : 24) + 10 + (int)ceil(log2((double)l->size));
}

static int64_t live_tap(int64_t i, int64_t o, int64_t k, int64_t s, int64_t p, int64_t d, cnn_rng *rng)
{
    for (int tries = 0; tries < TRIES; tries++) {
        int64_t first, last;
        cnn_tap_range(rng_int(rng, 0, o - 1), i, k, s, p, d, &first, &last);
        if (last > first) return rng_int(rng, first, last - 1);
    }
    return rng_int(rng, 0, k - 1);
}

int64_t vf_live_tap(const cnn_conv_desc *d, cnn_rng *rng)
{
    const int64_t kh = d->kh / d->kd, ih = d->ih / d->id, oh = d->oh / d->od;
    const bool deep = d->id * d->od * d->kd > 1;
    const int64_t a = deep ? live_tap(d->id, d->od, d->kd, d->sd, d->pd, d->dd, rng) : 0;
    const int64_t i = a * kh + live_tap(ih, oh, kh, d->sh, d->ph, d->dh, rng);
    const int64_t j = live_tap(d->iw, d->ow, d->kw, d->sw, d->pw, d->dw, rng);
    return vf_weight_at(d, 0, 0, i, j);
}

typedef struct hiding {
    const vf_case *c;
    vf_lines rows, columns, x; /* of the weights, by output and by input channel; of x */
} hiding;

/* Whether a weight can be a line's single: it is in no hidden line across, and what it is multiplied with is not. */
static bool may_be_single(const hiding *h, const vf_lines *l, int64_t at)
{
    const cnn_conv_desc *d = &l->d;
    const int64_t taps = d->kh * d->kw, icg = d->ic / d->g, k = at / (taps * icg);
    const int64_t c = k / (d->oc / d->g) * icg + at / taps % icg;
    const bool forward = l->dir == vf_conv_dir(&h->c->problem, CNN_FWD); /* its partner is x */
    if (l == &h->rows ? is_hidden(h->c, &h->columns, c) : is_hidden(h->c, &h->rows, k)) return false;
    return !forward || !is_hidden(h->c, &h->x, h->x.tensor == 'x' ? c : k);
}

/* The element of a hidden line that is not tiny; -1: none was found. */
static int64_t single_of(const hiding *h, const vf_lines *l, int64_t line, cnn_rng *rng)
{
    const int64_t taps = l->d.kh * l->d.kw;
    if (l == &h->x) return vf_line_at(l, line, rng_int(rng, 0, l->size - 1));
    for (int tries = 0; tries < TRIES; tries++) {
        const int64_t channel = rng_int(rng, 0, l->size / taps - 1);
        const int64_t at = vf_line_at(l, line, channel * taps + vf_live_tap(&l->d, rng));
        if (may_be_single(h, l, at)) return at;
    }
    return -1;
}

typedef struct hiding_lines {
    const hiding *h;
    const vf_lines *l;
    double *v;
} hiding_lines;

static void hide_line(void *arg, int64_t line, int worker)
{
    const hiding_lines *all = arg;
    const vf_lines *l = all->l;
    const vf_case *c = all->h->c;
    const double tiny = ldexp(1.0, -depth_of(c, l));
    cnn_rng rng = stream_of(c, l, (uint64_t)line + 1);
    (void)worker;
    if (!is_hidden(c, l, line)) return;
    rng_u64(&rng); /* what is_hidden() drew */
    const int64_t single = single_of(all->h, l, line, &rng);
    if (single < 0) return;
    for (int64_t i = 0; i < l->size; i++) all->v[vf_line_at(l, line, i)] = rng_real(&rng, -1.0, 1.0) * tiny;
    all->v[single] = (rng_u64(&rng) & 1 ? 1.0 : -1.0) * rng_real(&rng, 0.25, 1.0);
}

static void hide_lines(const hiding *h, const vf_lines *l, double *v)
{
    hiding_lines all = {h, l, v};
    parallel_for(h->c->call.pool, l->count, hide_line, &all);
}

typedef struct tails {
    int depth;
    double *v;
} tails;

static void draw_tails(void *user, int64_t first, int64_t last, cnn_rng *rng)
{
    const tails *t = user;
    for (int64_t i = first; i < last; i++)
        if (rng_int(rng, 0, TAILS - 1) == 0) t->v[i] = ldexp(t->v[i], -(int)rng_int(rng, 0, t->depth));
}

static void add_tails(const vf_case *c, const vf_lines *l, const cnn_operand *o, cnn_rng *rng, double *v)
{
    tails t = {depth_of(c, l), v};
    vf_draw_pieces(c->call.pool, o->count, VF_ANY_DRAWS, rng, draw_tails, &t);
}

typedef struct added {
    const vf_case *c;
    const vf_lines *l;
    double tiny, *v;
    bool bias;
} added;

/* Elements of a line mostly stand together. */
static void hide_added(void *user, int64_t first, int64_t last)
{
    const added *a = user;
    int64_t known = -1;
    bool hidden = false;
    for (int64_t i = first; i < last; i++) {
        const int64_t line = a->bias ? i : vf_line_of_result(a->l, i);
        if (line != known) known = line, hidden = is_hidden(a->c, a->l, line);
        if (hidden) a->v[i] *= a->tiny;
    }
}

void vf_hide(const vf_case *c, const cnn_operand *o, cnn_rng *rng, double *v)
{
    const cnn_problem *p = &c->problem;
    const vf_lines mine = vf_lines_of(p, c->call.dir);
    if (p->u.type.math == CNN_MATH_F16 || cnn_part_dtype(p->u.type.dtype, CNN_PART_FACTOR) == CNN_F16) return;
    if (vf_is_factor(o) && o->access == CNN_IN) {
        hiding h = {c, vf_lines_of(p, CNN_FWD), vf_lines_of(p, CNN_BWD_D), vf_lines_of(p, CNN_BWD_W)};
        const bool w = strcmp(o->name, "w") == 0;
        if (p->op == CNN_OP_DECONV) { /* whose forward is the other's backward */
            const vf_lines rows = h.columns;
            h.columns = h.rows, h.rows = rows;
        }
        add_tails(c, w ? &h.rows : &h.x, o, rng, v);
        if (w) hide_lines(&h, &h.rows, v), hide_lines(&h, &h.columns, v);
        if (strcmp(o->name, "x") == 0) hide_lines(&h, &h.x, v);
        return;
    }
    if (strcmp(o->name, "db") == 0) return;
    added a = {c, &mine, ldexp(1.0, -depth_of(c, &mine)), v, strcmp(o->name, "b") == 0};
    vf_pieces(c->call.pool, o->count, hide_added, &a);
}
