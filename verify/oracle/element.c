/* element.c: see element.h. The loops are those of cnn.h's formulas, one product at a time: slow and plain, so that
 * they do not share a mistake with the fast reference. */
#include "element.h"

#include "epilogue.h"
#include "lines.h"
#include "quantize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Not by cnn_fc_as_conv(), which kernels call: a mistake in it would be the reference's, too. */
cnn_conv_desc vf_as_conv(const cnn_problem *p)
{
    const cnn_fc_desc *d = &p->u.fc;
    if (cnn_is_conv(p)) {
        cnn_conv_desc conv = p->u.conv;
        if (p->op != CNN_OP_CONV3D) conv.id = conv.od = conv.kd = conv.sd = 1, conv.pd = conv.pd_r = conv.dd = 0;
        conv.ih *= conv.id, conv.oh *= conv.od, conv.kh *= conv.kd;
        return conv;
    }
    return (cnn_conv_desc){.t = d->t,
                           .g = 1,
                           .mb = d->mb,
                           .ic = d->ic,
                           .ih = d->ih,
                           .iw = d->iw,
                           .oc = d->oc,
                           .oh = 1,
                           .ow = 1,
                           .kh = d->ih,
                           .kw = d->iw,
                           .sh = 1,
                           .sw = 1,
                           .id = 1,
                           .od = 1,
                           .kd = 1,
                           .sd = 1,
                           .bias = d->bias,
                           .quant = d->quant,
                           .epilogue = d->epilogue};
}

cnn_dir vf_conv_dir(const cnn_problem *p, cnn_dir dir)
{
    if (p->op != CNN_OP_DECONV || dir == CNN_BWD_W) return dir;
    return dir == CNN_FWD ? CNN_BWD_D : CNN_FWD;
}

static void add(vf_element *e, double term)
{
    e->value += term;
    e->magnitude += fabs(term);
    e->roundings += 1.0;
    e->rest += fmin(fabs(term), e->largest);
    e->largest = fmax(fabs(term), e->largest);
}

int64_t vf_weight_at(const cnn_conv_desc *d, int64_t k, int64_t c, int64_t i, int64_t j)
{
    if (d->flip) i = d->kh - 1 - i, j = d->kw - 1 - j;
    return ((k * (d->ic / d->g) + c) * d->kh + i) * d->kw + j;
}

int64_t vf_row_read(const cnn_conv_desc *d, int64_t p, int64_t i)
{
    const int64_t ih = d->ih / d->id, oh = d->oh / d->od, kh = d->kh / d->kd;
    const int64_t z = p / oh * d->sd + i / kh * (d->dd + 1) - d->pd, h = p % oh * d->sh + i % kh * (d->dh + 1) - d->ph;
    return z < 0 || z >= d->id || h < 0 || h >= ih ? -1 : z * ih + h;
}

int64_t vf_row_reached(const cnn_conv_desc *d, int64_t h, int64_t i)
{
    const int64_t ih = d->ih / d->id, oh = d->oh / d->od, kh = d->kh / d->kd;
    const int64_t z = h / ih + d->pd - i / kh * (d->dd + 1),
                  p = h % ih + d->ph - i % kh * (d->dh + 1); /* times strides */
    if (z < 0 || p < 0 || z % d->sd != 0 || p % d->sh != 0) return -1;
    return z / d->sd >= d->od || p / d->sh >= oh ? -1 : z / d->sd * oh + p / d->sh;
}

/* y[n,k,p,q] += w[k,c,i,j] * x[n,c,h,v], h = p*sh + i*(dh+1) - ph: with one of the three given, the others are walked.
 */
static void products_of_y(const cnn_conv_desc *d, int64_t index, vf_product_fn *each, void *user)
{
    const int64_t q = index % d->ow, p = index / d->ow % d->oh, k = index / (d->ow * d->oh) % d->oc,
                  n = index / (d->ow * d->oh * d->oc), icg = d->ic / d->g, c0 = k / (d->oc / d->g) * icg;
    for (int64_t c = 0; c < icg; c++)
        for (int64_t i = 0; i < d->kh; i++)
            for (int64_t j = 0; j < d->kw; j++) {
                const int64_t h = vf_row_read(d, p, i), v = q * d->sw + j * (d->dw + 1) - d->pw;
                if (h < 0 || v < 0 || v >= d->iw) continue;
                const int64_t x = ((n * d->ic + c0 + c) * d->ih + h) * d->iw + v;
                each(user, &(vf_product){.x = x, .w = vf_weight_at(d, k, c, i, j), .y = index});
            }
}

static void products_of_x(const cnn_conv_desc *d, int64_t index, vf_product_fn *each, void *user)
{
    const int64_t v = index % d->iw, h = index / d->iw % d->ih, c = index / (d->iw * d->ih) % d->ic,
                  n = index / (d->iw * d->ih * d->ic), icg = d->ic / d->g, ocg = d->oc / d->g, k0 = c / icg * ocg;
    for (int64_t k = k0; k < k0 + ocg; k++)
        for (int64_t i = 0; i < d->kh; i++)
            for (int64_t j = 0; j < d->kw; j++) {
                const int64_t p = vf_row_reached(d, h, i), b = v + d->pw - j * (d->dw + 1); /* q*sw */
                if (p < 0 || b < 0 || b % d->sw != 0 || b / d->sw >= d->ow) continue;
                const int64_t y = ((n * d->oc + k) * d->oh + p) * d->ow + b / d->sw;
                each(user, &(vf_product){.x = index, .w = vf_weight_at(d, k, c % icg, i, j), .y = y});
            }
}

static void products_of_w(const cnn_conv_desc *d, int64_t index, vf_product_fn *each, void *user)
{
    const int64_t icg = d->ic / d->g, k = index / (d->kw * d->kh * icg),
                  c = k / (d->oc / d->g) * icg + index / (d->kw * d->kh) % icg;
    int64_t j = index % d->kw, i = index / d->kw % d->kh;
    if (d->flip) i = d->kh - 1 - i, j = d->kw - 1 - j;
    for (int64_t n = 0; n < d->mb; n++)
        for (int64_t p = 0; p < d->oh; p++)
            for (int64_t q = 0; q < d->ow; q++) {
                const int64_t h = vf_row_read(d, p, i), v = q * d->sw + j * (d->dw + 1) - d->pw;
                if (h < 0 || v < 0 || v >= d->iw) continue;
                const int64_t x = ((n * d->ic + c) * d->ih + h) * d->iw + v;
                each(user, &(vf_product){.x = x, .w = index, .y = ((n * d->oc + k) * d->oh + p) * d->ow + q});
            }
}

char vf_tensor_of(const cnn_problem *p, const cnn_operand *o)
{
    const char tensor = o->name[o->name[0] == 'd'];
    if (p->op != CNN_OP_DECONV) return tensor;
    return tensor == 'x' ? 'y' : tensor == 'y' ? 'x' : tensor;
}

const double *vf_factor(const vf_call *call, char tensor)
{
    for (int i = 0; i < call->count; i++)
        if (vf_is_factor(&call->operands[i]) && vf_tensor_of(call->problem, &call->operands[i]) == tensor)
            return call->in[i];
    return NULL;
}

void vf_products_of(const cnn_conv_desc *d, char tensor, int64_t index, vf_product_fn *each, void *user)
{
    (tensor == 'x' ? products_of_x : tensor == 'w' ? products_of_w : products_of_y)(d, index, each, user);
}

/* ---- An element. */

/* The two factors of each product; the one that is the result is NULL. */
typedef struct summing {
    const double *x, *w, *dy;
    double zero; /* x is counted from there */
    vf_element e;
} summing;

static void add_product(void *user, const vf_product *p)
{
    summing *s = user;
    add(&s->e, (s->x ? s->x[p->x] - s->zero : 1.0) * (s->w ? s->w[p->w] : 1.0) * (s->dy ? s->dy[p->y] : 1.0));
}

/* db[k]: the sum of dy over all but its channels. */
static void add_channel(const vf_call *call, int64_t k, vf_element *e)
{
    const int at = vf_index(call->operands, call->count, "dy");
    const int64_t *dims = call->operands[at].dims, plane = dims[2] * dims[3];
    for (int64_t n = 0; n < dims[0]; n++)
        for (int64_t a = 0; a < plane; a++) add(e, call->in[at][(n * dims[1] + k) * plane + a]);
}

static void finish(const cnn_problem *problem, vf_element *e)
{
    const cnn_act_desc act = vf_epilogue_act(problem);
    const vf_out out = {&e->value, &e->magnitude, &e->roundings, NULL};
    vf_epilogue_put(&act, &out, 0);
    e->kind = vf_epilogue_kind(&act, e->value, e->kind);
}

vf_element vf_element_make(const vf_case *c, int operand, int64_t index)
{
    const cnn_conv_desc d = vf_as_conv(&c->problem);
    const vf_call *call = &c->call;
    const char tensor = vf_tensor_of(&c->problem, &call->operands[operand]);
    const double *bias = vf_in(call, "b");
    const int64_t *dims = call->operands[operand].dims;
    summing s = {
        .x = vf_factor(call, 'x'), .w = vf_factor(call, 'w'), .dy = vf_factor(call, 'y'), .zero = d.quant.zero_x};
    vf_quantizer q;
    if (tensor == 'b')
        add_channel(call, index, &s.e);
    else
        vf_products_of(&d, tensor, index, add_product, &s);
    if (bias != NULL) add(&s.e, bias[index / (dims[2] * dims[3]) % dims[1]]);
    if (call->beta != 0.0) add(&s.e, c->before[operand][index]);
    const bool quantized = vf_quantizer_of(call, &q);
    if (d.epilogue.add && !quantized) add(&s.e, vf_in(call, "z")[index]);
    s.e.kind = (unsigned char)(tensor == 'b' ? VF_EVEN : vf_kind_of(&c->problem, s.e.largest, s.e.rest, s.e.roundings));
    const vf_out out = {&s.e.value, &s.e.magnitude, &s.e.roundings, NULL};
    if (quantized)
        vf_quantized_put(&q, vf_quantized_channel(&call->operands[operand], index), index, &out, 0);
    else if (cnn_has_epilogue(&c->problem))
        finish(&c->problem, &s.e);
    return s.e;
}

/* ---- Samples. */

int64_t vf_sample_index(const cnn_operand *o, int64_t number, cnn_rng *rng)
{
    enum { TAIL = 8 };
    int64_t at[4];
    for (int i = 0; i < 4; i++)
        at[i] = number < 16 ? (number >> i & 1) * (o->dims[i] - 1) : rng_int(rng, 0, o->dims[i] - 1);
    const int axis = (int)rng_int(rng, 0, 3);
    const int64_t size = o->dims[axis];
    if (number >= 16 && number % 3 == 1) at[axis] = rng_int(rng, 0, 1) * (size - 1);
    if (number >= 16 && number % 3 == 2) at[axis] = size - 1 - rng_int(rng, 0, (size < TAIL ? size : TAIL) - 1);
    return ((at[0] * o->dims[1] + at[1]) * o->dims[2] + at[2]) * o->dims[3] + at[3];
}

typedef struct sampling {
    const vf_case *c;
    int operand;
    vf_elements *e;
} sampling;

static void sample(void *arg, int64_t task, int worker)
{
    const sampling *s = arg;
    const vf_element e = vf_element_make(s->c, s->operand, s->e->index[task]);
    (void)worker;
    vf_put(&s->e->expected, task, e.value, e.magnitude, e.roundings);
    s->e->kind[task] = e.kind;
}

cnn_status vf_elements_make(vf_elements *e, const vf_case *c, int operand, const double *result, double budget,
                            thread_pool *pool, cnn_error *err)
{
    enum { LEAST = 32, MOST = VF_SAMPLES_MAX };
    const cnn_operand *o = &c->call.operands[operand];
    const double affordable = budget / vf_terms(&c->problem, c->call.dir);
    const int64_t want = affordable < LEAST ? LEAST : affordable < MOST ? (int64_t)affordable : MOST;
    cnn_rng rng = rng_stream(c->seed, 77);
    *e = (vf_elements){.count = o->count < want ? o->count : want};
    double *all = malloc((size_t)e->count * 4 * sizeof *all);
    e->index = malloc((size_t)e->count * sizeof *e->index);
    e->kind = malloc((size_t)e->count);
    e->expected = (vf_out){.value = all};
    if (all == NULL || e->index == NULL || e->kind == NULL) {
        vf_elements_free(e);
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %lld sampled elements", (long long)e->count);
    }
    e->expected = (vf_out){all, all + e->count, all + 2 * e->count, e->kind};
    e->got = all + 3 * e->count;
    for (int64_t i = 0; i < e->count; i++) {
        e->index[i] = e->count == o->count ? i : vf_sample_index(o, i, &rng);
        e->got[i] = result[e->index[i]];
    }
    sampling s = {c, operand, e};
    parallel_for(pool, e->count, sample, &s);
    return CNN_OK;
}

void vf_elements_free(vf_elements *e)
{
    free(e->expected.value);
    free(e->index);
    free(e->kind);
    *e = (vf_elements){0};
}
