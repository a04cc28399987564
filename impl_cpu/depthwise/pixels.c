/* pixels.c: cpu:depthwise in NHWC, pixel by pixel, all channels of one at once. */
#include "depthwise.h"

#include <string.h>

/* The list of one pixel at a time. */
typedef struct pixel_work {
    const dw_plan *m;
    int64_t *places, *weights, taps;
} pixel_work;

static pixel_work begin(const dw_run *r, int worker)
{
    char *piece = dw_worker(r, worker);
    return (pixel_work){r->m, (int64_t *)(piece + r->m->places_at), (int64_t *)(piece + r->m->w_at), 0};
}

/* The taps of pixel (row, col): of an output, those of x that it reads; of dx, those of dy that read it: how far from
 * the image's first number, and where their weights are, of [tap][channel]. */
static void list(pixel_work *p, int64_t row, int64_t col)
{
    const dw_plan *m = p->m;
    const cnn_conv_desc *d = &m->d;
    const int64_t wide = m->dir == CNN_BWD_D ? d->ow : d->iw, count = m->cols.counts[col], taps = m->taps;
    const int64_t *col_taps = m->cols.taps + col * d->kw, *col_places = m->cols.places + col * d->kw;
    p->taps = 0;
    for (int64_t e = row * d->kh; e < row * d->kh + m->rows.counts[row]; e++) {
        const int64_t first = m->rows.taps[e] * d->kw, place = m->rows.places[e] * wide;
        for (int64_t c = 0; c < count; c++) {
            const int64_t tap = first + col_taps[c];
            p->places[p->taps] = (place + col_places[c]) * d->g;
            p->weights[p->taps++] = (d->flip ? taps - 1 - tap : tap) * d->g;
        }
    }
}

void dw_pixels_weights(const dw_run *r)
{
    const dw_plan *m = r->m;
    const int64_t g = m->d.g;
    char *to = r->workspace + m->weights_at;
    for (int64_t t = 0; t < m->taps; t++)
        for (int64_t c = 0; c < g; c++)
            memcpy(to + (t * g + c) * m->elem, (const char *)r->a->w + (c * m->taps + t) * m->elem, (size_t)m->elem);
}

/* Whether so many pixels from `col` on have all taps of a row, a step after a step. */
static bool are_alike(const dw_plan *m, int64_t col, int64_t pixels, int64_t cols)
{
    const int64_t kw = m->d.kw, last = col + pixels - 1, step = m->dir == CNN_BWD_D ? 1 : m->d.sw;
    if (last >= cols || m->cols.counts[col] != kw || m->cols.counts[last] != kw) return false;
    return m->cols.places[last * kw] - m->cols.places[col * kw] == (pixels - 1) * step;
}

/* One pixel or several, all channels, from element `at` of the result on. */
static void finished_pixels(const dw_run *r, dw_pixel *s, int64_t at)
{
    const cpu_finish finish = cpu_finish_at(&r->epilogue, s->to);
    s->finish = &finish;
    r->m->kernels->pixel(s);
    s->finish = NULL;
    cpu_epilogue_curve(&r->epilogue, at, s->pixels * s->channels);
}

void dw_pixels_task(void *arg, int64_t task, int worker)
{
    const dw_run *r = arg;
    const dw_plan *m = r->m;
    const cnn_conv_desc *d = &m->d;
    const bool back = m->dir == CNN_BWD_D;
    const int64_t rows = back ? d->ih : d->oh, cols = back ? d->iw : d->ow;
    const int64_t image = (back ? d->oh * d->ow : d->ih * d->iw) * d->g * m->elem;
    pixel_work p = begin(r, worker);
    for (int64_t i = m->items * task / m->tasks; i < m->items * (task + 1) / m->tasks; i++) {
        dw_pixel s = {.from = (const char *)(back ? r->a->dy : r->a->x) + i / rows * image,
                      .w = r->workspace + m->weights_at,
                      .places = p.places,
                      .weights = p.weights,
                      .channels = d->g,
                      .from_step = (back ? 1 : d->sw) * d->g,
                      .to_step = d->g,
                      .bias = back ? NULL : r->a->b,
                      .to = (char *)(back ? r->a->dx : r->a->y) + i * cols * d->g * m->elem,
                      .add = r->a->beta != 0};
        for (int64_t col = 0; col < cols; col += s.pixels) {
            list(&p, i % rows, col);
            s.taps = p.taps;
            s.pixels = are_alike(m, col, DW_PIXELS, cols) ? DW_PIXELS : 1;
            if (r->epilogue.any)
                finished_pixels(r, &s, (i * cols + col) * d->g);
            else
                m->kernels->pixel(&s);
            s.to = (char *)s.to + s.pixels * d->g * m->elem;
        }
    }
}

/* ---- BWD_W: each tap's sums of a block of channels, over a part of dy's rows */
static void gradient_row(const dw_run *r, pixel_work *p, int64_t row, int64_t channel, char *sums)
{
    const dw_plan *m = p->m;
    const cnn_conv_desc *d = &m->d;
    const int64_t pixel = d->g * m->elem, at = channel * m->elem, channels = cpu_min(m->channels, d->g - channel);
    const char *dy = (const char *)r->a->dy + row * d->ow * pixel + at;
    const char *x = (const char *)r->a->x + row / d->oh * d->ih * d->iw * pixel + at;
    for (int64_t col = 0, run; col < d->ow; col += run, dy += run * pixel) {
        list(p, row % d->oh, col);
        for (run = 1; are_alike(m, col, run + 1, d->ow);) run++;
        if (run > 1)
            m->kernels->strip(dy, x, p->places, p->weights, p->taps, channels, run, d->g, d->sw * d->g, sums);
        else
            m->kernels->products(dy, x, p->places, p->weights, p->taps, channels, sums);
    }
}

static void gradient_item(const dw_run *r, pixel_work *p, int64_t part, int64_t block)
{
    const dw_plan *m = p->m;
    const cnn_conv_desc *d = &m->d;
    const int64_t rows = d->mb * d->oh, channel = block * m->channels, channels = cpu_min(m->channels, d->g - channel);
    char *sums = r->workspace + m->sums_at + (part * (m->taps + 1) * d->g + channel) * m->elem;
    const int64_t first = rows * part / m->parts, end = rows * (part + 1) / m->parts;
    for (int64_t i = first; i < end; i++) gradient_row(r, p, i, channel, sums);
    if (d->bias)
        m->kernels->channels((const char *)r->a->dy + (first * d->ow * d->g + channel) * m->elem, (end - first) * d->ow,
                             d->g, channels, sums + m->taps * d->g * m->elem);
}

void dw_pixels_gradient_task(void *arg, int64_t task, int worker)
{
    const dw_run *r = arg;
    const dw_plan *m = r->m;
    pixel_work p = begin(r, worker);
    for (int64_t i = m->items * task / m->tasks; i < m->items * (task + 1) / m->tasks; i++)
        gradient_item(r, &p, i % m->parts, i / m->parts);
}
