/* lines.c: see lines.h. */
#include "lines.h"

#include "bounds.h"
#include "element.h"
#include "epilogue.h"
#include "pieces.h"

#include <math.h>
#include <string.h>

/* ---- Which elements a line is made of. */

vf_lines vf_lines_of(const cnn_problem *p, cnn_dir dir)
{
    vf_lines l = {.d = vf_as_conv(p), .dir = vf_conv_dir(p, dir), .tensor = 'w'};
    if (p->op == CNN_OP_FC) l.d.ic *= l.d.ih * l.d.iw, l.d.ih = l.d.iw = l.d.kh = l.d.kw = 1;
    const cnn_conv_desc *d = &l.d;
    const int64_t taps = d->kh * d->kw;
    if (l.dir == CNN_BWD_W) {
        l.tensor = p->op == CNN_OP_DECONV ? 'y' : 'x';
        l.count = l.tensor == 'x' ? d->ic : d->oc;
        l.size = d->mb * (l.tensor == 'x' ? d->ih * d->iw : d->oh * d->ow);
    } else {
        l.count = l.dir == CNN_FWD ? d->oc : d->ic;
        l.size = (l.dir == CNN_FWD ? d->ic : d->oc) / d->g * taps;
    }
    return l;
}

int64_t vf_line_at(const vf_lines *l, int64_t line, int64_t i)
{
    const cnn_conv_desc *d = &l->d;
    const int64_t taps = d->kh * d->kw, icg = d->ic / d->g, ocg = d->oc / d->g, plane = l->size / d->mb;
    if (l->dir == CNN_BWD_W) return (i / plane * l->count + line) * plane + i % plane;
    if (l->dir == CNN_FWD) return line * l->size + i;
    return ((line / icg * ocg + i / taps) * icg + line % icg) * taps + i % taps;
}

int64_t vf_line_of_result(const vf_lines *l, int64_t index)
{
    const cnn_conv_desc *d = &l->d;
    const int64_t taps = d->kh * d->kw, icg = d->ic / d->g, ocg = d->oc / d->g;
    if (l->dir == CNN_FWD) return index / (d->oh * d->ow) % d->oc;
    if (l->dir == CNN_BWD_D) return index / (d->ih * d->iw) % d->ic;
    const int64_t k = index / (taps * icg);
    return l->tensor == 'y' ? k : k / ocg * icg + index / taps % icg;
}

/* ---- What an element is the sum of. */

static double unit_of(const cnn_problem *p) { return p->u.type.dtype == CNN_F64 ? 0x1p-53 : 0x1p-24; }

static bool is_uneven(double largest, double all, double terms) { return largest * fmax(8.0, sqrt(terms)) > all; }

/* Whether one term is so large that no random walk is to be expected, though each of few is an eighth of all even where
 * they are alike. It may come first: then each of n additions rounds a sum of its size, by 0.42 units (root mean
 * square: evenly spread over a last place, sizes over a binade), which makes 0.42 * n * largest/all of what
 * vf_rms_limit() holds to sqrt(n) + 2. */
static bool outweighs(double largest, double all, double terms)
{
    const double many = 64.0;
    return terms > many ? is_uneven(largest, all, terms) : 0.42 * terms * largest > (sqrt(terms) + 2.0) * all;
}

int vf_kind_of(const cnn_problem *p, double largest, double rest, double terms)
{
    if (!(largest > 0.0) || p->u.type.math == CNN_MATH_F16) return VF_EVEN;
    if (rest <= unit_of(p) / 4.0 * largest) return VF_ALONE;
    return outweighs(largest, largest + rest, terms) ? VF_UNEVEN : VF_EVEN;
}

/* What is added to the products of a result: NULL, or the values. */
typedef struct additions {
    const double *bias, *residual, *before;
    int64_t plane, channels;
} additions;

static additions additions_of(const vf_case *c, int result)
{
    const int64_t *dims = c->call.operands[result].dims;
    return (additions){vf_in(&c->call, "b"), vf_in(&c->call, "z"), c->call.beta != 0.0 ? c->before[result] : NULL,
                       dims[2] * dims[3], dims[1]};
}

static double added_to(const additions *a, int64_t index)
{
    const double b = a->bias ? fabs(a->bias[index / a->plane % a->channels]) : 0.0;
    const double z = a->residual ? fabs(a->residual[index]) : 0.0;
    return b + z + (a->before ? fabs(a->before[index]) : 0.0);
}

typedef struct finding {
    vf_case *c;
    const vf_lines *l;
    int result; /* its operand */
    additions added;
    const double *factor, *other; /* the lines' tensor, and what it is multiplied with */
    double rest, most;            /* the line's other elements; the largest of what they are multiplied with */
    cnn_act_desc act;             /* of an epilogue */
} finding;

static void set_kind(void *user, const vf_product *p)
{
    finding *f = user;
    vf_case *c = f->c;
    const char tensor = vf_tensor_of(&c->problem, &c->call.operands[f->result]);
    const int64_t at = tensor == 'x' ? p->x : tensor == 'w' ? p->w : p->y;
    const int64_t line = f->l->tensor == 'x' ? p->x : f->l->tensor == 'w' ? p->w : p->y;
    const int64_t other = p->x + p->w + p->y - at - line;
    const double size = fabs(f->factor[line] * f->other[other]);
    const double rest = f->rest * f->most + added_to(&f->added, at);
    const bool alone = vf_kind_of(&c->problem, size, rest, 0.0) == VF_ALONE;
    const bool uneven = is_uneven(size, c->magnitude[f->result][at], c->call.out[f->result].roundings[at]);
    c->kind[f->result][at] = alone ? VF_ALONE : uneven ? VF_UNEVEN : VF_EVEN;
}

/* The position of the largest element, and the sum of all others. */
static int64_t largest_of(const vf_lines *l, int64_t line, const double *v, double *rest)
{
    int64_t largest = vf_line_at(l, line, 0);
    double sum = 0.0;
    for (int64_t i = 1; i < l->size; i++) {
        const int64_t at = vf_line_at(l, line, i);
        const bool larger = fabs(v[at]) > fabs(v[largest]);
        sum += fabs(v[larger ? largest : at]);
        if (larger) largest = at;
    }
    *rest = sum;
    return largest;
}

static const double *other_factor(const vf_case *c, char result, char tensor, int64_t *count)
{
    for (int i = 0; i < c->call.count; i++) {
        const cnn_operand *o = &c->call.operands[i];
        const char t = vf_tensor_of(&c->problem, o);
        if (!vf_is_factor(o) || t == result || t == tensor || !c->before[i]) continue;
        *count = o->count;
        return c->before[i];
    }
    return NULL;
}

/* The results of one line. */
static void find_in_line(void *arg, int64_t line, int worker)
{
    finding f = *(const finding *)arg;
    const int64_t at = largest_of(f.l, line, f.factor, &f.rest);
    (void)worker;
    if (f.rest <= unit_of(&f.c->problem) * fabs(f.factor[at])) vf_products_of(&f.l->d, f.l->tensor, at, set_kind, &f);
}

/* A bias, or what was there before, may outweigh products that are all of tiny factors. */
static void find_added(void *user, int64_t first, int64_t last)
{
    const finding *f = user;
    const vf_case *c = f->c;
    const int r = f->result;
    for (int64_t e = first; e < last; e++)
        if (c->kind[r][e] == VF_EVEN && outweighs(added_to(&f->added, e), c->magnitude[r][e], c->roundings[r][e]))
            c->kind[r][e] = VF_UNEVEN;
    if (!cnn_has_epilogue(&c->problem)) return;
    for (int64_t e = first; e < last; e++) c->kind[r][e] = vf_epilogue_kind(&f->act, c->after[r][e], c->kind[r][e]);
}

void vf_find_kinds(vf_case *c)
{
    int result = -1;
    for (int i = 0; i < c->call.count; i++)
        if (c->kind[i]) result = i;
    if (result < 0) return;
    const cnn_operand *o = &c->call.operands[result];
    const vf_lines l = vf_lines_of(&c->problem, c->call.dir);
    finding f = {.c = c,
                 .l = &l,
                 .result = result,
                 .added = additions_of(c, result),
                 .factor = vf_factor(&c->call, l.tensor),
                 .act = vf_epilogue_act(&c->problem)};
    int64_t count = 0;
    f.other = other_factor(c, vf_tensor_of(&c->problem, o), l.tensor, &count);
    memset(c->kind[result], VF_EVEN, (size_t)o->count);
    if (!f.other || !f.factor) return;
    f.most = vf_largest_size(c->call.pool, f.other, count);
    parallel_for(c->call.pool, l.count, find_in_line, &f);
    vf_pieces(c->call.pool, o->count, find_added, &f);
}
