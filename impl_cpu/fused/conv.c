/* conv.c: what follows from a convolution: which pixels have the same taps, where everything stands. */
#include "fused.h"

#include <stdlib.h>

/* ---- Rows (or columns) of a result, in classes: those of a class meet the source with the same taps. */

typedef struct axis {
    int64_t size, taps, source;         /* positions, taps, positions of the source */
    int64_t of_at, of_tap, first, by;   /* tap t of position p meets (p*of_at + t*of_tap + first) / by */
    int64_t n_classes, *class_of, *one; /* of each position; and the first position of each class */
} axis;

/* Where it meets the source; -1: nowhere. */
static int64_t source_of(const axis *a, int64_t at, int64_t tap)
{
    const int64_t from = at * a->of_at + tap * a->of_tap + a->first;
    return from >= 0 && from % a->by == 0 && from / a->by < a->source ? from / a->by : -1;
}

static bool same_taps(const axis *a, int64_t p, int64_t q)
{
    for (int64_t t = 0; t < a->taps; t++)
        if ((source_of(a, p, t) < 0) != (source_of(a, q, t) < 0)) return false;
    return true;
}

static bool axis_classes(axis *a)
{
    a->class_of = calloc((size_t)a->size, sizeof *a->class_of);
    a->one = calloc((size_t)a->size, sizeof *a->one);
    if (a->class_of == NULL || a->one == NULL) return false;
    for (int64_t p = 0; p < a->size; p++) {
        int64_t c = a->n_classes;
        while (c > 0 && !same_taps(a, a->one[c - 1], p)) c--;
        if (c == 0) {
            a->one[a->n_classes++] = p;
            c = a->n_classes;
        }
        a->class_of[p] = c - 1;
    }
    return true;
}

static void axis_free(axis *a)
{
    free(a->class_of);
    free(a->one);
}

static int64_t first_source(const axis *a, int64_t at)
{
    for (int64_t t = 0; t < a->taps; t++)
        if (source_of(a, at, t) >= 0) return source_of(a, at, t);
    return 0;
}

/* ---- Forward and data gradient. */

static void list_taps(fused_gather *g, const axis *y, const axis *x, int64_t in_w, int64_t in_c, fused_class *c,
                      int64_t row, int64_t col)
{
    const int64_t row0 = first_source(y, row), col0 = first_source(x, col);
    for (int64_t i = 0; i < y->taps; i++)
        for (int64_t j = 0; j < x->taps; j++) {
            const int64_t h = source_of(y, row, i), w = source_of(x, col, j);
            if (h < 0 || w < 0) continue;
            g->taps[c->first_tap + c->taps++] =
                (fused_tap){((h - row0) * in_w + w - col0) * in_c, (i * x->taps + j) * g->m.elems};
        }
}

static void list_rows(fused_gather *g, const axis *y, const axis *x, int64_t in_w, int64_t in_c, int64_t out_c,
                      fused_class *c, int64_t y_class, int64_t x_class)
{
    for (int64_t p = 0; p < y->size; p++)
        for (int64_t q = 0; q < x->size && y->class_of[p] == y_class; q++) {
            if (x->class_of[q] != x_class) continue;
            g->rows[c->first_row + c->rows++] =
                (fused_row){(first_source(y, p) * in_w + first_source(x, q)) * in_c, (p * x->size + q) * out_c};
        }
}

static cnn_status gather_make(fused_gather *g, axis *y, axis *x, int64_t in_w, int64_t in_c, int64_t out_c,
                              cnn_error *err)
{
    int64_t taps = 0, rows = 0;
    if (!axis_classes(y) || !axis_classes(x)) goto no_memory;
    g->n_classes = y->n_classes * x->n_classes;
    g->classes = calloc((size_t)g->n_classes, sizeof *g->classes);
    g->taps = calloc((size_t)(g->n_classes * y->taps * x->taps), sizeof *g->taps);
    g->rows = calloc((size_t)(y->size * x->size), sizeof *g->rows);
    if (g->classes == NULL || g->taps == NULL || g->rows == NULL) goto no_memory;
    for (int64_t i = 0; i < g->n_classes; i++) {
        const int64_t y_class = i / x->n_classes, x_class = i % x->n_classes;
        fused_class *c = &g->classes[i];
        *c = (fused_class){.first_tap = taps, .first_row = rows};
        list_taps(g, y, x, in_w, in_c, c, y->one[y_class], x->one[x_class]);
        list_rows(g, y, x, in_w, in_c, out_c, c, y_class, x_class);
        taps += c->taps;
        rows += c->rows;
    }
    return CNN_OK;
no_memory:
    return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the lists of a convolution of trainer cpu:fused");
}

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
    axis y = {
        .size = c->oh, .taps = c->kh, .source = c->ih, .of_at = c->sh, .of_tap = c->dh + 1, .first = -c->ph, .by = 1};
    axis x = {
        .size = c->ow, .taps = c->kw, .source = c->iw, .of_at = c->sw, .of_tap = c->dw + 1, .first = -c->pw, .by = 1};
    fused_gather *g = &v->forward;
    groups_of(g, v, c->ic / c->g, c->oc / c->g, lanes);
    const cnn_status status = gather_make(g, &y, &x, c->iw, fused_padded(c->ic), fused_padded(c->oc), err);
    axis_free(&y);
    axis_free(&x);
    return status;
}

static cnn_status backward_make(fused_conv *v, int lanes, cnn_error *err)
{
    const cnn_conv_desc *c = &v->c;
    axis y = {
        .size = c->ih, .taps = c->kh, .source = c->oh, .of_at = 1, .of_tap = -c->dh - 1, .first = c->ph, .by = c->sh};
    axis x = {
        .size = c->iw, .taps = c->kw, .source = c->ow, .of_at = 1, .of_tap = -c->dw - 1, .first = c->pw, .by = c->sw};
    fused_gather *g = &v->backward;
    groups_of(g, v, c->oc / c->g, c->ic / c->g, lanes);
    const cnn_status status = gather_make(g, &y, &x, c->ow, fused_padded(c->oc), fused_padded(c->ic), err);
    axis_free(&y);
    axis_free(&x);
    return status;
}

/* ---- Weight gradient. */

typedef struct span {
    int64_t first, count, source;
} span;

/* The outputs that tap t has, and where the first of them reads. */
static span outputs_of(int64_t t, int64_t outputs, int64_t inputs, int64_t stride, int64_t pad, int64_t step)
{
    span s = {0, 0, 0};
    for (int64_t o = 0; o < outputs; o++) {
        const int64_t from = o * stride - pad + t * step;
        if (from < 0 || from >= inputs) continue;
        if (s.count++ == 0) s.first = o, s.source = from;
    }
    return s;
}

static cnn_status outer_make(fused_conv *v, cnn_error *err)
{
    const cnn_conv_desc *c = &v->c;
    const int64_t x_c = fused_padded(c->ic), dy_c = fused_padded(c->oc);
    fused_outer *o = &v->outer;
    *o = (fused_outer){.m = v->forward.m,
                       .each = v->each,
                       .groups = c->g,
                       .x_group = c->ic / c->g,
                       .dy_group = c->oc / c->g,
                       .w_group = v->forward.w_group,
                       .x_row = c->sh * c->iw * x_c,
                       .x_col = c->sw * x_c,
                       .dy_row = c->ow * dy_c,
                       .dy_col = dy_c,
                       .n_taps = c->kh * c->kw};
    o->taps = calloc((size_t)o->n_taps, sizeof *o->taps);
    if (o->taps == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the taps of trainer cpu:fused");
    for (int64_t i = 0; i < o->n_taps; i++) {
        const span rows = outputs_of(i / c->kw, c->oh, c->ih, c->sh, c->ph, c->dh + 1);
        const span cols = outputs_of(i % c->kw, c->ow, c->iw, c->sw, c->pw, c->dw + 1);
        o->taps[i] = (fused_outer_tap){.x = (rows.source * c->iw + cols.source) * x_c,
                                       .dy = (rows.first * c->ow + cols.first) * dy_c,
                                       .rows = rows.count,
                                       .cols = cols.count,
                                       .w = i * o->m.elems};
    }
    return CNN_OK;
}

/* Where they serve: one vector and a tail of columns, four terms, kernels of one column and not too many rows. */
static cnn_status strips_make(fused_conv *v, int lanes, cnn_error *err)
{
    const cnn_conv_desc *c = &v->c;
    fused_outer *o = &v->outer;
    const bool few = o->m.k == FUSED_QUAD && o->m.vectors == 1 && o->m.tail && c->kw == 1 && c->kh <= FUSED_STRIP_TAPS;
    if (!few || c->g > 1 || lanes != FUSED_MAX_LANES) return CNN_OK;
    const span cols = outputs_of(0, c->ow, c->iw, c->sw, c->pw, 1);
    o->strips = calloc((size_t)c->oh, sizeof *o->strips);
    if (o->strips == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the strips of trainer cpu:fused");
    o->cols = cols.count;
    o->x_tap = (c->dh + 1) * c->iw * FUSED_QUAD;
    for (int64_t p = 0; p < c->oh; p++) {
        int64_t first, last;
        cnn_tap_range(p, c->ih, c->kh, c->sh, c->ph, c->dh, &first, &last);
        fused_strip *before = o->n_strips > 0 ? &o->strips[o->n_strips - 1] : NULL;
        if (last == first) continue;
        if (before != NULL && before->first_tap == first && before->taps == last - first) {
            before->rows++;
            continue;
        }
        const int64_t h = p * c->sh - c->ph + first * (c->dh + 1);
        o->strips[o->n_strips++] = (fused_strip){.first_tap = first,
                                                 .taps = last - first,
                                                 .x = (h * c->iw + cols.source) * FUSED_QUAD,
                                                 .dy = p * o->dy_row + cols.first * o->dy_col,
                                                 .rows = 1};
    }
    return CNN_OK;
}

/* ---- Weights. */

cnn_status fused_order_make(fused_order *o, int64_t count, cnn_error *err)
{
    const int64_t groups = cpu_ceil_div(count, FUSED_MAX_LANES);
    o->count = groups * FUSED_MAX_LANES;
    o->index = malloc((size_t)o->count * sizeof *o->index);
    o->base = calloc((size_t)groups, sizeof *o->base);
    if (o->index == NULL || o->base == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the order of %lld numbers in trainer cpu:fused",
                        (long long)count);
    for (int64_t i = 0; i < o->count; i++) o->index[i] = -1;
    return CNN_OK;
}

void fused_order_done(fused_order *o)
{
    for (int64_t g = 0; g < o->count / FUSED_MAX_LANES; g++) {
        const int32_t *index = o->index + g * FUSED_MAX_LANES;
        int32_t least = INT32_MAX, most = 0;
        for (int i = 0; i < FUSED_MAX_LANES; i++) {
            if (index[i] >= 0 && index[i] < least) least = index[i];
            if (index[i] > most) most = index[i];
        }
        o->base[g] = least == INT32_MAX ? 0 : most - least < 2 * FUSED_MAX_LANES ? least : -1;
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
    const cnn_status status = fused_order_make(&v->turn, to->elems, err);
    if (status != CNN_OK) return status;
    for (int64_t c = 0; c < v->c.g && v->each; c++) v->turn.index[c] = (int32_t)c;
    for (int64_t k = 0; k < terms && !v->each; k++)
        for (int64_t column = 0; column < columns; column++)
            v->turn.index[fused_matrix_at(to, k, column, lanes)] = (int32_t)fused_matrix_at(from, column, k, lanes);
    fused_order_done(&v->turn);
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
    if (status == CNN_OK) status = outer_make(v, err);
    if (status == CNN_OK) status = strips_make(v, lanes, err);
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
        free(both[i]->rows);
    }
    free(v->outer.taps);
    free(v->outer.strips);
    fused_order_free(&v->turn);
}
