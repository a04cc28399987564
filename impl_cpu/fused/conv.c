/* conv.c: what follows from a convolution: its geometry, the order of its weights. */
#include "fused.h"

#include <stdlib.h>

/* What both directions share: of `k` channels of a group `columns` are made. */
static void groups_of(fused_gather *g, const fused_conv *v, int64_t k, int64_t columns, int lanes)
{
    const bool grouped = v->c.g > 1;
    g->each = v->each;
    g->m = v->each ? fused_matrix_each(v->c.g, lanes) : fused_matrix_of(k, columns, grouped, lanes);
    g->groups = v->each ? 1 : v->c.g;
    g->columns = v->each ? fused_padded(v->c.g) : grouped ? columns : fused_padded(columns);
    g->in_group = k;
    g->out_group = g->bias_group = columns;
    g->w_group = v->c.kh * v->c.kw * g->m.elems;
}

static cnn_status forward_make(fused_conv *v, int lanes, cnn_error *err)
{
    const cnn_conv_desc *c = &v->c;
    fused_axis y = {
        .size = c->oh, .taps = c->kh, .source = c->ih, .of_at = c->sh, .of_tap = c->dh + 1, .first = -c->ph, .by = 1};
    fused_axis x = {
        .size = c->ow, .taps = c->kw, .source = c->iw, .of_at = c->sw, .of_tap = c->dw + 1, .first = -c->pw, .by = 1};
    fused_gather *g = &v->forward;
    groups_of(g, v, c->ic / c->g, c->oc / c->g, lanes);
    const cnn_status status = fused_gather_make(g, &y, &x, c->iw, fused_padded(c->ic), fused_padded(c->oc), err);
    fused_axis_free(&y);
    fused_axis_free(&x);
    return status;
}

static cnn_status backward_make(fused_conv *v, int lanes, cnn_error *err)
{
    const cnn_conv_desc *c = &v->c;
    fused_axis y = {
        .size = c->ih, .taps = c->kh, .source = c->oh, .of_at = 1, .of_tap = -c->dh - 1, .first = c->ph, .by = c->sh};
    fused_axis x = {
        .size = c->iw, .taps = c->kw, .source = c->ow, .of_at = 1, .of_tap = -c->dw - 1, .first = c->pw, .by = c->sw};
    fused_gather *g = &v->backward;
    groups_of(g, v, c->oc / c->g, c->ic / c->g, lanes);
    const cnn_status status = fused_gather_make(g, &y, &x, c->ow, fused_padded(c->oc), fused_padded(c->ic), err);
    fused_axis_free(&y);
    fused_axis_free(&x);
    return status;
}

/* ---- Weights. */

cnn_status fused_order_make(fused_order *o, int64_t count, int lanes, cnn_error *err)
{
    o->count = cpu_ceil_div(count, FUSED_MAX_LANES) * FUSED_MAX_LANES;
    o->lanes = lanes;
    o->index = malloc((size_t)o->count * sizeof *o->index);
    o->base = calloc((size_t)(o->count / lanes), sizeof *o->base);
    if (o->index == NULL || o->base == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the order of %lld numbers in trainer cpu:fused",
                        (long long)count);
    for (int64_t i = 0; i < o->count; i++) o->index[i] = -1;
    return CNN_OK;
}

void fused_order_done(fused_order *o, int64_t readable)
{
    const int64_t both = 2 * o->lanes, last = readable - both; /* the last place of two vectors */
    for (int64_t g = 0; g < o->count / o->lanes; g++) {
        const int32_t *index = o->index + g * o->lanes;
        int32_t least = INT32_MAX, most = 0;
        for (int i = 0; i < o->lanes; i++) {
            if (index[i] >= 0 && index[i] < least) least = index[i];
            if (index[i] > most) most = index[i];
        }
        const int64_t base = cpu_min(least == INT32_MAX ? 0 : least, last);
        o->base[g] = base >= 0 && most - base < both ? (int32_t)base : -1;
    }
}

void fused_order_free(fused_order *o)
{
    free(o->index);
    free(o->base);
}

static cnn_status turn_make(fused_conv *v, int lanes, cnn_error *err)
{
    const fused_matrix *from = &v->forward.m, *to = &v->backward.m;
    const int64_t terms = v->c.oc / v->c.g, columns = v->c.ic / v->c.g;
    const cnn_status status = fused_order_make(&v->turn, to->elems, lanes, err);
    if (status != CNN_OK) return status;
    for (int64_t c = 0; c < v->c.g && v->each; c++) v->turn.index[c] = (int32_t)c;
    for (int64_t k = 0; k < terms && !v->each; k++)
        for (int64_t column = 0; column < columns; column++)
            v->turn.index[fused_matrix_at(to, k, column, lanes)] = (int32_t)fused_matrix_at(from, column, k, lanes);
    fused_order_done(&v->turn, from->elems + 2 * FUSED_MAX_LANES); /* more stands behind the parameters */
    return CNN_OK;
}

void fused_conv_pack(const fused_conv *v, int lanes, float *plain, float *packed, bool back)
{
    const cnn_conv_desc *p = &v->plain;
    const int64_t icg = p->ic / p->g, ocg = p->oc / p->g, taps = p->kh * p->kw;
    for (int64_t i = 0; i < p->oc * icg * taps; i++) {
        const int64_t o = i / taps / icg, c = i / taps % icg, at = p->flip ? taps - 1 - i % taps : i % taps;
        const int64_t tap = v->widened ? at / p->kw : at, k = v->widened ? at % p->kw * icg + c : c;
        float *number = &packed[tap * v->forward.m.elems];
        number += v->each ? o : o / ocg * v->forward.w_group + fused_matrix_at(&v->forward.m, k, o % ocg, lanes);
        if (back)
            plain[i] = *number;
        else
            *number = plain[i];
    }
}

/* ---- Making and freeing. */

cnn_status fused_conv_make(fused_conv *v, const cnn_conv_desc *plain, bool widened, int lanes, cnn_error *err)
{
    enum { L1_BYTES = 32768 };
    v->plain = v->c = *plain;
    v->widened = widened;
    v->each = plain->g > 1 && plain->g == plain->ic && plain->g == plain->oc;
    if (widened) {
        v->c.ic = plain->ic * plain->kw;
        v->c.iw = plain->ow;
        v->c.kw = v->c.sw = 1;
        v->c.pw = v->c.pw_r = v->c.dw = 0;
    }
    cnn_status status = forward_make(v, lanes, err);
    if (status == CNN_OK) status = backward_make(v, lanes, err);
    if (status == CNN_OK) status = fused_outer_make(v, err);
    if (status == CNN_OK) status = fused_strips_make(v, lanes, err);
    if (status == CNN_OK) status = turn_make(v, lanes, err);
    const cnn_conv_desc *c = &v->c;
    const int64_t image = 4 * (c->ih * c->iw * fused_padded(c->ic) + c->oh * c->ow * fused_padded(c->oc));
    v->at_once = cpu_max(1, L1_BYTES / image);
    v->elems = v->forward.groups * v->forward.w_group;
    v->turned_elems = v->backward.groups * v->backward.w_group;
    return status;
}

void fused_conv_free(fused_conv *v)
{
    fused_gather *both[] = {&v->forward, &v->backward};
    for (int i = 0; i < 2; i++) {
        free(both[i]->classes);
        free(both[i]->taps);
        free(both[i]->rows.in);
        free(both[i]->rows.out);
    }
    free(v->outer.taps);
    free(v->outer.strips);
    fused_order_free(&v->turn);
}
