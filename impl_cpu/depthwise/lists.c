/* lists.c: cpu:depthwise's lists: where the terms of a sum are. */
#include "depthwise.h"

/* ---- NCHW: distances in a copy */

static int64_t class_count(const dw_plan *m) { return m->dir == CNN_BWD_D ? m->d.sh * m->d.sw : 1; }

/* Tap (i, j)'s number in the weights. */
static int64_t tap_of(const cnn_conv_desc *d, int64_t i, int64_t j)
{
    return d->flip ? (d->kh - 1 - i) * d->kw + (d->kw - 1 - j) : i * d->kw + j;
}

/* The list of FWD and BWD_W, in the weights' order: output row p begins in row p*sh of the copy. */
static void put_forward(dw_plan *m)
{
    const cnn_conv_desc *d = &m->d;
    m->first[0] = 0;
    m->first[1] = m->taps;
    for (int64_t i = 0; i < d->kh; i++)
        for (int64_t j = 0; j < d->kw; j++) {
            const int64_t t = j * (d->dw + 1) - d->pw, o = dw_floor(t, d->sw), row = i * (d->dh + 1);
            m->places[tap_of(d, i, j)] = (row * d->sw + t - o * d->sw) * m->in.length + m->in.left + o;
        }
}

/* dx's row h, of class a = (h + ph) % sh, begins in row (h + ph)/sh of the copy of dy, and reads it by the taps i with
 * i*(dh+1) % sh = a; pixels b, b + sw ... of it likewise. */
static void put_backward(dw_plan *m)
{
    const cnn_conv_desc *d = &m->d;
    int64_t at = 0, step_h = d->dh + 1, step_w = d->dw + 1;
    for (int64_t c = 0; c < m->classes; c++) {
        const int64_t a = c / d->sw, b = c % d->sw;
        m->first[c] = at;
        for (int64_t k = 0; k < m->outputs; k++)
            for (int64_t i = 0; i < d->kh; i++)
                for (int64_t j = 0; j < d->kw; j++) {
                    if ((i * step_h - a) % d->sh != 0 || (b + d->pw - j * step_w) % d->sw != 0) continue;
                    const int64_t row = k * m->in.rows + m->in.top - (i * step_h - a) / d->sh;
                    m->places[at] = row * m->in.length + m->in.left + (b + d->pw - j * step_w) / d->sw;
                    m->weights[at++] = k * m->taps + tap_of(d, i, j);
                }
    }
    m->first[m->classes] = at;
}

/* ---- NHWC: taps inside the image, along an axis */

/* i of n outputs (back: inputs) by k taps: input i*stride + tap*step - pad, or the output that reads it by that tap. */
static void put_axis(dw_axis *x, bool back, int64_t n, int64_t k, int64_t limit, int64_t stride, int64_t step,
                     int64_t pad)
{
    for (int64_t i = 0; i < n; i++) {
        x->counts[i] = 0;
        for (int64_t t = 0; t < k; t++) {
            const int64_t at = back ? i + pad - t * step : i * stride + t * step - pad;
            if (at < 0 || (back && at % stride != 0)) continue;
            const int64_t place = back ? at / stride : at, e = i * k + x->counts[i];
            if (place >= limit) continue;
            x->taps[e] = t;
            x->places[e] = place;
            x->counts[i]++;
        }
    }
}

static int64_t *carve(int64_t **rest, int64_t count)
{
    int64_t *at = *rest;
    *rest += count;
    return at;
}

int64_t dw_lists_size(const dw_plan *m)
{
    const cnn_conv_desc *d = &m->d;
    const bool back = m->dir == CNN_BWD_D;
    const int64_t rows = back ? d->ih : d->oh, cols = back ? d->iw : d->ow;
    int64_t numbers, more;
    if (d->t.layout == CNN_NHWC) {
        if (!cnn_mul4(rows, d->kh, 2, 1, &numbers) || !cnn_mul4(cols, d->kw, 2, 1, &more)) return -1;
        return __builtin_add_overflow(numbers, more + rows + cols, &numbers) ? -1 : numbers;
    }
    if (!cnn_mul4(m->outputs, m->taps, 2, 1, &numbers) || !cnn_mul4(d->sh, d->sw, 1, 1, &more)) return -1;
    return __builtin_add_overflow(numbers, more + 2, &numbers) ? -1 : numbers;
}

void dw_lists_make(dw_plan *m)
{
    const cnn_conv_desc *d = &m->d;
    const bool back = m->dir == CNN_BWD_D;
    const int64_t rows = back ? d->ih : d->oh, cols = back ? d->iw : d->ow;
    int64_t *rest = m->lists;
    if (d->t.layout == CNN_NHWC) {
        m->rows = (dw_axis){carve(&rest, rows), carve(&rest, rows * d->kh), carve(&rest, rows * d->kh)};
        m->cols = (dw_axis){carve(&rest, cols), carve(&rest, cols * d->kw), carve(&rest, cols * d->kw)};
        put_axis(&m->rows, back, rows, d->kh, back ? d->oh : d->ih, d->sh, d->dh + 1, d->ph);
        put_axis(&m->cols, back, cols, d->kw, back ? d->ow : d->iw, d->sw, d->dw + 1, d->pw);
        return;
    }
    m->classes = class_count(m);
    m->first = carve(&rest, m->classes + 1);
    m->places = carve(&rest, m->outputs * m->taps);
    m->weights = carve(&rest, m->outputs * m->taps);
    if (back)
        put_backward(m);
    else
        put_forward(m);
}
