/* classes.c: which pixels of a convolution have the same taps. */
#include "fused.h"

#include <stdlib.h>

/* ---- Rows (or columns) of a result, in classes: those of a class meet the source with the same taps. */

int64_t fused_source_of(const fused_axis *a, int64_t at, int64_t tap)
{
    const int64_t from = at * a->of_at + tap * a->of_tap + a->first;
    return from >= 0 && from % a->by == 0 && from / a->by < a->source ? from / a->by : -1;
}

static bool same_taps(const fused_axis *a, int64_t p, int64_t q)
{
    for (int64_t t = 0; t < a->taps; t++)
        if ((fused_source_of(a, p, t) < 0) != (fused_source_of(a, q, t) < 0)) return false;
    return true;
}

static bool axis_classes(fused_axis *a)
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

void fused_axis_free(fused_axis *a)
{
    free(a->class_of);
    free(a->one);
}

/* Of all classes. */
static int64_t count_taps(const fused_axis *a)
{
    int64_t count = 0;
    for (int64_t c = 0; c < a->n_classes; c++)
        for (int64_t t = 0; t < a->taps; t++) count += fused_source_of(a, a->one[c], t) >= 0;
    return count;
}

static int64_t first_source(const fused_axis *a, int64_t at)
{
    for (int64_t t = 0; t < a->taps; t++)
        if (fused_source_of(a, at, t) >= 0) return fused_source_of(a, at, t);
    return 0;
}

/* ---- Forward and data gradient. */

static void list_taps(fused_gather *g, const fused_axis *y, const fused_axis *x, int64_t in_w, int64_t in_c,
                      fused_class *c, int64_t row, int64_t col)
{
    const int64_t row0 = first_source(y, row), col0 = first_source(x, col);
    for (int64_t i = 0; i < y->taps; i++)
        for (int64_t j = 0; j < x->taps; j++) {
            const int64_t h = fused_source_of(y, row, i), w = fused_source_of(x, col, j);
            if (h < 0 || w < 0) continue;
            g->taps[c->first_tap + c->taps++] =
                (fused_tap){((h - row0) * in_w + w - col0) * in_c, (i * x->taps + j) * g->m.elems, 0};
        }
    for (fused_tap *t = g->taps + c->first_tap; t + 1 < g->taps + c->first_tap + c->taps; t++)
        t->step = t[1].in - t->in;
}

static void list_rows(fused_gather *g, const fused_axis *y, const fused_axis *x, int64_t in_w, int64_t in_c,
                      int64_t out_c, const fused_class *c, int64_t y_class, int64_t x_class)
{
    const int64_t in_image = y->source * in_w * in_c, out_image = y->size * x->size * out_c;
    int64_t at = c->first_row;
    for (int64_t n = 0; n < c->images; n++)
        for (int64_t p = 0; p < y->size; p++)
            for (int64_t q = 0; q < x->size && y->class_of[p] == y_class; q++) {
                if (x->class_of[q] != x_class) continue;
                g->rows.in[at] = n * in_image + (first_source(y, p) * in_w + first_source(x, q)) * in_c;
                g->rows.out[at++] = n * out_image + (p * x->size + q) * out_c;
            }
}

static int64_t count_class(const fused_axis *a, int64_t class)
{
    int64_t count = 0;
    for (int64_t p = 0; p < a->size; p++) count += a->class_of[p] == class;
    return count;
}

/* Images that a class lists: one, where its rows make whole tiles, or are many. */
static int64_t images_of(int64_t rows)
{
    enum { MANY = 64 };
    return rows % FUSED_MAX_ROWS == 0 || rows > MANY ? 1 : FUSED_MAX_IMAGES;
}

/* The classes' numbers of rows, and how many are listed. */
static int64_t count_rows(fused_gather *g, const fused_axis *y, const fused_axis *x)
{
    int64_t listed = 0;
    for (int64_t i = 0; i < g->n_classes; i++) {
        fused_class *c = &g->classes[i];
        c->rows = count_class(y, i / x->n_classes) * count_class(x, i % x->n_classes);
        c->images = images_of(c->rows);
        c->first_row = listed;
        listed += c->rows * c->images;
    }
    return listed;
}

cnn_status fused_gather_make(fused_gather *g, fused_axis *y, fused_axis *x, int64_t in_w, int64_t in_c, int64_t out_c,
                             cnn_error *err)
{
    int64_t taps = 0, rows;
    if (!axis_classes(y) || !axis_classes(x)) goto no_memory;
    g->n_classes = y->n_classes * x->n_classes;
    g->classes = calloc((size_t)g->n_classes, sizeof *g->classes);
    if (g->classes == NULL) goto no_memory;
    rows = count_rows(g, y, x);
    g->taps = calloc((size_t)(count_taps(y) * count_taps(x)) + 1, sizeof *g->taps);
    g->rows.in = calloc((size_t)rows, sizeof *g->rows.in);
    g->rows.out = calloc((size_t)rows, sizeof *g->rows.out);
    if (g->taps == NULL || g->rows.in == NULL || g->rows.out == NULL) goto no_memory;
    for (int64_t i = 0; i < g->n_classes; i++) {
        const int64_t y_class = i / x->n_classes, x_class = i % x->n_classes;
        fused_class *c = &g->classes[i];
        c->first_tap = taps;
        list_taps(g, y, x, in_w, in_c, c, y->one[y_class], x->one[x_class]);
        list_rows(g, y, x, in_w, in_c, out_c, c, y_class, x_class);
        taps += c->taps;
    }
    return CNN_OK;
no_memory:
    return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the lists of a convolution of trainer cpu:fused");
}
