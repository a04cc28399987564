/* conv.c: what follows from a convolution: its geometry, the order of its weights. */
#include "fused.h"

#include <stdlib.h>

/* What both directions share: of `k` channels of a group `columns` are made. */
static void groups_of(fused_gather *g, const fused_conv *v, int64_t k, int64_t columns, int lanes)
{
    const bool grouped = v->c.g > 1;
    g->each = v->each;
    g->m = v->each   ? fused_matrix_each(v->c.g, lanes)
           : v->flat ? fused_matrix_flat(k, columns, lanes)
                     : fused_matrix_of(k, columns, grouped, lanes);
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
    const int64_t in_c = fused_padded(c->ic), out_c = fused_padded(c->oc);
    cnn_status status = fused_gather_make(g, &y, &x, c->iw, in_c, out_c, err);
    if (status == CNN_OK) status = fused_lines_make(g, &y, &x, c->iw, in_c, out_c, lanes, err);
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
    const int64_t in_c = fused_padded(c->oc), out_c = fused_padded(c->ic);
    cnn_status status = fused_gather_make(g, &y, &x, c->ow, in_c, out_c, err);
    if (status == CNN_OK) status = fused_lines_make(g, &y, &x, c->ow, in_c, out_c, lanes, err);
    fused_axis_free(&y);
    fused_axis_free(&x);
    return status;
}

/* ---- Weights. */

/* Where the weights of an output channel go: those of a tap `step` apart, but for the tail's columns (step 0). */
typedef struct packed_column {
    float *to;
    int64_t column, step;
} packed_column;

static packed_column column_of(const fused_conv *v, int lanes, int64_t o, float *packed)
{
    const fused_matrix *m = &v->forward.m;
    const int64_t ocg = v->plain.oc / v->plain.g, column = o % ocg;
    if (v->each) return (packed_column){packed + o, 0, 0};
    packed_column at = {packed + o / ocg * v->forward.w_group, column, 0};
    if (column < m->vectors * lanes) {
        at.to += fused_matrix_at(m, 0, column, lanes);
        at.step = fused_matrix_at(m, 1, column, lanes) - fused_matrix_at(m, 0, column, lanes);
    }
    return at;
}

/* The weights of an output channel from input channel c of its group. */
static void pack_taps(const fused_conv *v, int lanes, const packed_column *o, int64_t c, float *plain, bool back)
{
    const cnn_conv_desc *p = &v->plain;
    const fused_matrix *m = &v->forward.m;
    const int64_t icg = p->ic / p->g, taps = p->kh * p->kw;
    for (int64_t h = 0; h < p->kh; h++)
        for (int64_t w = 0; w < p->kw; w++) {
            const int64_t at = h * p->kw + w, k = v->widened ? w * icg + c : c;
            const int64_t tap = v->widened ? h : at, term = v->flat ? tap * v->tap_terms + k : k;
            const int64_t in_tap = v->each       ? 0
                                   : o->step > 0 ? term * o->step
                                                 : fused_matrix_at(m, term, o->column, lanes);
            float *number = o->to + (v->flat ? 0 : tap * m->elems) + in_tap;
            float *weight = &plain[p->flip ? taps - 1 - at : at];
            if (back)
                *weight = *number;
            else
                *number = *weight;
        }
}

/* By squares of channels: of an FC layer's weights each line, of either order, is then read or written once. */
void fused_conv_pack(const fused_conv *v, int lanes, float *plain, float *packed, bool back)
{
    enum { SQUARE = 16 };
    const cnn_conv_desc *p = &v->plain;
    const int64_t icg = p->ic / p->g, taps = p->kh * p->kw;
    for (int64_t first = 0; first < p->oc; first += SQUARE) {
        packed_column of[SQUARE];
        const int64_t count = cpu_min(SQUARE, p->oc - first);
        for (int64_t i = 0; i < count; i++) of[i] = column_of(v, lanes, first + i, packed);
        for (int64_t from = 0; from < icg; from += SQUARE)
            for (int64_t i = 0; i < count; i++)
                for (int64_t c = from; c < cpu_min(from + SQUARE, icg); c++)
                    pack_taps(v, lanes, &of[i], c, plain + ((first + i) * icg + c) * taps, back);
    }
}

/* ---- Making and freeing. */

/* A kernel as large as the image, as FC's: its taps are one, whose terms are all numbers of the image. */
static bool is_flat(const cnn_conv_desc *c)
{
    return c->g == 1 && c->oh == 1 && c->ow == 1 && c->kh == c->ih && c->kw == c->iw && c->ph == 0 && c->pw == 0 &&
           (c->kh == 1 || c->dh == 0) && (c->kw == 1 || c->dw == 0);
}

static void flatten(fused_conv *v)
{
    cnn_conv_desc *c = &v->c;
    v->flat = true;
    v->tap_terms = fused_padded(c->ic);
    c->ic = c->ih * c->iw * v->tap_terms;
    c->ih = c->iw = c->kh = c->kw = c->sh = c->sw = 1;
    c->dh = c->dw = c->ph_r = c->pw_r = 0;
}

cnn_status fused_conv_make(fused_conv *v, const cnn_conv_desc *plain, bool widened, const fused_kernels *kern,
                           cnn_error *err)
{
    enum { L1_BYTES = 32 << 10, NEAR_BYTES = 64 << 10, L2_BYTES = 256 << 10 };
    const int lanes = kern->lanes;
    v->plain = v->c = *plain;
    v->widened = widened;
    v->each = plain->g > 1 && plain->g == plain->ic && plain->g == plain->oc;
    if (widened) {
        v->c.ic = plain->ic * plain->kw;
        v->c.iw = plain->ow;
        v->c.kw = v->c.sw = 1;
        v->c.pw = v->c.pw_r = v->c.dw = 0;
    }
    if (is_flat(&v->c)) flatten(v);
    cnn_status status = forward_make(v, lanes, err);
    if (status == CNN_OK) status = backward_make(v, lanes, err);
    if (status == CNN_OK) status = fused_outer_make(v, err);
    if (status == CNN_OK) status = fused_strips_make(v, lanes, err);
    const cnn_conv_desc *c = &v->c;
    const int64_t image = 4 * (c->ih * c->iw * fused_padded(c->ic) + c->oh * c->ow * fused_padded(c->oc));
    /* Read again for each tap: from the first-level cache where it is in several parts, else little more than that, for
     * a call costs something, too. Strips read them once. */
    const int64_t near = kern->outer_parts(&v->outer.m) > 1 ? L1_BYTES : NEAR_BYTES;
    v->at_once = cpu_max(1, (v->outer.n_strips > 0 ? L2_BYTES : near) / image);
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
        free(both[i]->lines);
        free(both[i]->pairs);
        free(both[i]->rows.in);
        free(both[i]->rows.out);
    }
    free(v->outer.taps);
    free(v->outer.strips);
    fused_order_free(&v->turn);
}
