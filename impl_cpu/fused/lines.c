/* lines.c: the results of a convolution in lines of eight neighbours, where kernels have that: see fused_pair. */
#include "fused.h"

#include <stdlib.h>

/* Taps of a row of results: results first + by * j meet sources base + step * s, where j = s + shift. */
typedef struct along {
    int64_t base, shift;
} along;

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Tap `tap` of results `first`, first + a->by, ... False: it meets none. */
static bool tap_along(const fused_axis *a, int64_t first, int64_t tap, along *found)
{
    const int64_t from = first * a->of_at + tap * a->of_tap + a->first;
    if (from % a->by != 0) return false;
    const int64_t source = from / a->by, before = floor_div(source, a->of_at);
    *found = (along){source - before * a->of_at, -before};
    return true;
}

/* The kind of a pair; -1: there is none. */
static int kind_of(int64_t shift, int64_t shift2)
{
#define KIND(kind, a, b)                                                                                               \
    if (shift == (a) && shift2 == (b)) return kind;
    FUSED_LINE_KINDS(KIND)
#undef KIND
    return -1;
}

/* Whether sources 0..7 of a line are all that its results meet: where lines are whole rows, or taps do not shift. */
static bool fits(const fused_axis *a)
{
    const int64_t results = a->size / a->by;
    if (a->size % a->by != 0 || results % FUSED_MAX_ROWS != 0) return false;
    for (int64_t first = 0; first < a->by; first++)
        for (int64_t tap = 0; tap < a->taps; tap++) {
            along at;
            if (!tap_along(a, first, tap, &at)) continue;
            const int64_t sources = cpu_ceil_div(a->source - at.base, a->of_at);
            const bool row = results == FUSED_MAX_ROWS && sources == FUSED_MAX_ROWS;
            if (kind_of(at.shift, FUSED_NONE) < 0 || !(row || (at.shift == 0 && sources >= results))) return false;
        }
    return true;
}

typedef struct lists {
    fused_gather *g;
    const fused_axis *y, *x;
    int64_t in_w, in_c, out_c;
    int64_t lines, pairs; /* so far */
} lists;

/* Taps of one row of the kernel, whose source begins at `in`, in pairs of the same sources; w: of the first of them. */
static void list_pairs(lists *l, int64_t first, int64_t in, int64_t w)
{
    const fused_axis *x = l->x;
    for (int64_t base = 0; base < x->of_at; base++) {
        fused_pair *open = NULL;
        int64_t shift = 0;
        for (int64_t tap = 0; tap < x->taps; tap++) {
            along at;
            if (!tap_along(x, first, tap, &at) || at.base != base) continue;
            const int64_t mine = w + tap * l->g->m.elems;
            const int64_t larger = cpu_max(shift, at.shift), smaller = cpu_min(shift, at.shift);
            if (open != NULL && kind_of(larger, smaller) >= 0) {
                *open = (fused_pair){open->in, at.shift == larger ? mine : open->w, at.shift == larger ? open->w : mine,
                                     kind_of(larger, smaller)};
                open = NULL;
                continue;
            }
            shift = at.shift;
            open = &l->g->pairs[l->pairs++];
            *open = (fused_pair){in + base * l->in_c, mine, mine, kind_of(shift, FUSED_NONE)};
        }
    }
}

/* Results [8 * nth, 8 * nth + 8) of those that begin with (row, first). */
static void list_line(lists *l, int64_t row, int64_t first, int64_t nth)
{
    const fused_axis *y = l->y, *x = l->x;
    const int64_t at = nth * FUSED_MAX_ROWS;
    fused_line *line = &l->g->lines[l->lines++];
    *line = (fused_line){(row * x->size + first + at * x->by) * l->out_c, l->pairs, 0};
    for (int64_t i = 0; i < y->taps; i++) {
        const int64_t h = fused_source_of(y, row, i);
        if (h >= 0) list_pairs(l, first, (h * l->in_w + at * x->of_at) * l->in_c, i * x->taps * l->g->m.elems);
    }
    line->pairs = l->pairs - line->first;
}

cnn_status fused_lines_make(fused_gather *g, const fused_axis *y, const fused_axis *x, int64_t in_w, int64_t in_c,
                            int64_t out_c, int lanes, cnn_error *err)
{
    const bool kernels = lanes == FUSED_MAX_LANES && g->m.vectors == 1 && g->m.tail && (g->m.k == 4 || g->m.k == 20);
    const int64_t lines = y->size * x->size / FUSED_MAX_ROWS;
    lists l = {.g = g, .y = y, .x = x, .in_w = in_w, .in_c = in_c, .out_c = out_c};
    if (!kernels || g->groups > 1 || g->each || x->of_at > 2 || !fits(x)) return CNN_OK;
    g->lines = calloc((size_t)lines, sizeof *g->lines);
    g->pairs = calloc((size_t)(lines * y->taps * x->taps) + 1, sizeof *g->pairs);
    if (g->lines == NULL || g->pairs == NULL)
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the lines of trainer cpu:fused");
    for (int64_t row = 0; row < y->size; row++)
        for (int64_t first = 0; first < x->by; first++)
            for (int64_t nth = 0; nth < x->size / x->by / FUSED_MAX_ROWS; nth++) list_line(&l, row, first, nth);
    g->in_step = x->of_at * in_c;
    g->out_step = x->by * out_c;
    g->n_lines = l.lines;
    return CNN_OK;
}
