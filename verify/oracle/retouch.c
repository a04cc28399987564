/* retouch.c: see retouch.h. The products are y[n,k,p,q] += w[k,c,i,j] * x[n,c,h,v], h = p*sh + i*(dh+1) - ph: with one
 * of the three elements given, the others are walked. */
#include "retouch.h"

#include "element.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One product, by the positions of its three elements. */
typedef struct product {
    int64_t x, w, y;
} product;

typedef struct retouching {
    vf_case *c;
    int changed, other, result; /* operands: the one retouched, the other factor, where their products are added up */
    double from, to;
    vf_changed *each;
    void *user;
} retouching;

static void change_result(const retouching *r, int operand, int64_t index, double difference, double size)
{
    r->c->after[operand][index] += difference;
    if (r->c->magnitude[operand]) r->c->magnitude[operand][index] += size;
    if (r->each) r->each(r->user, operand, index, difference);
}

static int64_t position_of(const retouching *r, int operand, const product *p)
{
    const char *name = r->c->call.operands[operand].name;
    if (strcmp(name, "x") == 0 || strcmp(name, "dx") == 0) return p->x;
    return strcmp(name, "w") == 0 || strcmp(name, "dw") == 0 ? p->w : p->y;
}

static void change_product(const retouching *r, const product *p)
{
    const double other = r->c->before[r->other][position_of(r, r->other, p)];
    change_result(r, r->result, position_of(r, r->result, p), (r->to - r->from) * other,
                  (fabs(r->to) - fabs(r->from)) * fabs(other));
}

static void of_x(const retouching *r, const cnn_conv_desc *d, int64_t index)
{
    const int64_t icg = d->ic / d->g, ocg = d->oc / d->g, v = index % d->iw, h = index / d->iw % d->ih,
                  c = index / (d->iw * d->ih) % d->ic, n = index / (d->iw * d->ih * d->ic);
    for (int64_t k = c / icg * ocg; k < (c / icg + 1) * ocg; k++)
        for (int64_t i = 0; i < d->kh; i++)
            for (int64_t j = 0; j < d->kw; j++) {
                const int64_t a = h + d->ph - i * (d->dh + 1), b = v + d->pw - j * (d->dw + 1); /* p*sh, q*sw */
                if (a < 0 || b < 0 || a % d->sh != 0 || b % d->sw != 0) continue;
                if (a / d->sh >= d->oh || b / d->sw >= d->ow) continue;
                change_product(r, &(product){index, vf_weight_at(d, k, c % icg, i, j),
                                             ((n * d->oc + k) * d->oh + a / d->sh) * d->ow + b / d->sw});
            }
}

static void of_w(const retouching *r, const cnn_conv_desc *d, int64_t index)
{
    const int64_t icg = d->ic / d->g, k = index / (d->kw * d->kh * icg),
                  c = k / (d->oc / d->g) * icg + index / (d->kw * d->kh) % icg;
    int64_t j = index % d->kw, i = index / d->kw % d->kh;
    if (d->flip) i = d->kh - 1 - i, j = d->kw - 1 - j;
    for (int64_t n = 0; n < d->mb; n++)
        for (int64_t p = 0; p < d->oh; p++)
            for (int64_t q = 0; q < d->ow; q++) {
                const int64_t h = p * d->sh + i * (d->dh + 1) - d->ph, v = q * d->sw + j * (d->dw + 1) - d->pw;
                if (h < 0 || h >= d->ih || v < 0 || v >= d->iw) continue;
                change_product(r, &(product){((n * d->ic + c) * d->ih + h) * d->iw + v, index,
                                             ((n * d->oc + k) * d->oh + p) * d->ow + q});
            }
}

static void of_dy(const retouching *r, const cnn_conv_desc *d, int64_t index)
{
    const int64_t icg = d->ic / d->g, q = index % d->ow, p = index / d->ow % d->oh, k = index / (d->ow * d->oh) % d->oc,
                  n = index / (d->ow * d->oh * d->oc), c0 = k / (d->oc / d->g) * icg;
    for (int64_t c = 0; c < icg; c++)
        for (int64_t i = 0; i < d->kh; i++)
            for (int64_t j = 0; j < d->kw; j++) {
                const int64_t h = p * d->sh + i * (d->dh + 1) - d->ph, v = q * d->sw + j * (d->dw + 1) - d->pw;
                if (h < 0 || h >= d->ih || v < 0 || v >= d->iw) continue;
                change_product(
                    r, &(product){((n * d->ic + c0 + c) * d->ih + h) * d->iw + v, vf_weight_at(d, k, c, i, j), index});
            }
    const int db = vf_index(r->c->call.operands, r->c->call.count, "db");
    if (db >= 0) change_result(r, db, k, r->to - r->from, fabs(r->to) - fabs(r->from));
}

void vf_retouch(vf_case *c, int operand, int64_t index, double value, vf_changed *each, void *user)
{
    static const char *const others[CNN_DIR_COUNT][2] = {{"x", "w"}, {"dy", "w"}, {"x", "dy"}};
    static const char *const results[CNN_DIR_COUNT] = {"y", "dx", "dw"};
    const vf_call *call = &c->call;
    const cnn_conv_desc d = vf_as_conv(&c->problem);
    const char *name = call->operands[operand].name;
    const char *const *pair = others[call->dir];
    retouching r = {.c = c,
                    .changed = operand,
                    .other = vf_index(call->operands, call->count, pair[strcmp(name, pair[0]) == 0]),
                    .result = vf_index(call->operands, call->count, results[call->dir]),
                    .from = c->before[operand][index],
                    .to = value,
                    .each = each,
                    .user = user};
    if (name[0] == 'x')
        of_x(&r, &d, index);
    else if (name[0] == 'w')
        of_w(&r, &d, index);
    else
        of_dy(&r, &d, index);
    c->before[operand][index] = value;
}

static cnn_status copy_array(const double *from, int64_t count, double **to, cnn_error *err)
{
    if (!from) return CNN_OK;
    *to = malloc((size_t)count * sizeof **to);
    if (!*to) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a copy of %lld values", (long long)count);
    memcpy(*to, from, (size_t)count * sizeof **to);
    return CNN_OK;
}

cnn_status vf_case_copy(const vf_case *from, vf_case *c, cnn_error *err)
{
    cnn_status status = CNN_OK;
    *c = *from;
    for (int i = 0; i < CNN_MAX_OPERANDS; i++) c->before[i] = c->after[i] = c->magnitude[i] = c->roundings[i] = NULL;
    c->call.problem = &c->problem;
    c->call.pool = NULL; /* the other's may be gone before this copy is */
    for (int i = 0; status == CNN_OK && i < c->call.count; i++) {
        const int64_t count = c->call.operands[i].count;
        status = copy_array(from->before[i], count, &c->before[i], err);
        if (status == CNN_OK) status = copy_array(from->after[i], count, &c->after[i], err);
        if (status == CNN_OK) status = copy_array(from->magnitude[i], count, &c->magnitude[i], err);
        if (status == CNN_OK) status = copy_array(from->roundings[i], count, &c->roundings[i], err);
        c->call.in[i] = c->before[i];
        c->call.out[i] = (vf_out){c->after[i], c->magnitude[i], c->roundings[i]};
    }
    if (status != CNN_OK) vf_case_free(c);
    return status;
}

cnn_status vf_case_again(vf_case *c, int threads, cnn_error *err)
{
    thread_pool *pool;
    cnn_status status = thread_pool_open(threads, &pool, err);
    if (status != CNN_OK) return status;
    c->call.pool = pool;
    status = vf_reference(&c->call, err);
    c->call.pool = NULL;
    thread_pool_close(pool);
    return status;
}
