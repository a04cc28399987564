/* outer.c: which pixels meet in the weight gradient of a convolution. */
#include "fused.h"

#include <stdlib.h>

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

cnn_status fused_outer_make(fused_conv *v, cnn_error *err)
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
cnn_status fused_strips_make(fused_conv *v, int lanes, cnn_error *err)
{
    const cnn_conv_desc *c = &v->c;
    fused_outer *o = &v->outer;
    const bool few = o->m.k == FUSED_QUAD && o->m.vectors == 1 && o->m.tail && c->kw == 1 && c->kh <= FUSED_STRIP_TAPS;
    if (!few || c->g > 1 || lanes != FUSED_MAX_LANES) return CNN_OK;
    const span cols = outputs_of(0, c->ow, c->iw, c->sw, c->pw, 1);
    o->strips = calloc((size_t)c->oh, sizeof *o->strips);
    if (o->strips == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the strips of trainer cpu:fused");
    o->cols = cols.count;
    o->whole = cols.count == c->ow;
    o->x_tap = (c->dh + 1) * c->iw * FUSED_QUAD;
    for (int64_t p = 0; p < c->oh; p++) {
        int64_t first, last;
        cnn_tap_range(p, c->ih, c->kh, c->sh, c->ph, c->dh, &first, &last);
        fused_strip *before = o->n_strips > 0 ? &o->strips[o->n_strips - 1] : NULL;
        if (last == first) o->whole = false;
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
