/* lines.c: see lines.h. */
#include "lines.h"

#include "bounds.h"
#include "element.h"
#include "epilogue.h"

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

typedef struct finding {
    vf_case *c;
    int result;                   /* its operand */
    const double *factor, *other; /* the lines' tensor, and what it is multiplied with */
    double rest, most;            /* the line's other elements; the largest of what they are multiplied with */
    char tensor;                  /* the lines' */
} finding;

static double added_to(const vf_case *c, int result, int64_t index)
{
    const int64_t *dims = c->call.operands[result].dims;
    const double *bias = vf_in(&c->call, "b");
    const double b = bias ? fabs(bias[index / (dims[2] * dims[3]) % dims[1]]) : 0.0;
    const double *residual = vf_in(&c->call, "z");
    const double z = residual ? fabs(residual[index]) : 0.0;
    return b + z + (c->call.beta != 0.0 ? fabs(c->before[result][index]) : 0.0);
}

static void set_kind(void *user, const vf_product *p)
{
    finding *f = user;
    vf_case *c = f->c;
    const char tensor = vf_tensor_of(&c->problem, &c->call.operands[f->result]);
    const int64_t at = tensor == 'x' ? p->x : tensor == 'w' ? p->w : p->y;
    const int64_t line = f->tensor == 'x' ? p->x : f->tensor == 'w' ? p->w : p->y;
    const int64_t other = p->x + p->w + p->y - at - line;
    const double size = fabs(f->factor[line] * f->other[other]);
    const double rest = f->rest * f->most + added_to(c, f->result, at);
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

/* A bias, or what was there before, may outweigh products that are all of tiny factors. */
static void find_added(vf_case *c, int result)
{
    for (int64_t e = 0; e < c->call.operands[result].count; e++)
        if (c->kind[result][e] == VF_EVEN &&
            outweighs(added_to(c, result, e), c->magnitude[result][e], c->roundings[result][e]))
            c->kind[result][e] = VF_UNEVEN;
}

void vf_find_kinds(vf_case *c)
{
    int result = -1;
    for (int i = 0; i < c->call.count; i++)
        if (c->kind[i]) result = i;
    if (result < 0) return;
    const vf_lines l = vf_lines_of(&c->problem, c->call.dir);
    finding f = {.c = c, .result = result, .tensor = l.tensor, .factor = vf_factor(&c->call, l.tensor)};
    int64_t count = 0;
    f.other = other_factor(c, vf_tensor_of(&c->problem, &c->call.operands[result]), l.tensor, &count);
    memset(c->kind[result], VF_EVEN, (size_t)c->call.operands[result].count);
    if (!f.other || !f.factor) return;
    for (int64_t e = 0; e < count; e++) f.most = fmax(f.most, fabs(f.other[e]));
    for (int64_t line = 0; line < l.count; line++) {
        const int64_t at = largest_of(&l, line, f.factor, &f.rest);
        if (f.rest <= unit_of(&c->problem) * fabs(f.factor[at])) vf_products_of(&l.d, l.tensor, at, set_kind, &f);
    }
    find_added(c, result);
    if (!cnn_has_epilogue(&c->problem)) return;
    const cnn_act_desc act = vf_epilogue_act(&c->problem);
    for (int64_t e = 0; e < c->call.operands[result].count; e++)
        c->kind[result][e] = vf_epilogue_kind(&act, c->after[result][e], c->kind[result][e]);
}
