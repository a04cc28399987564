/* planes.c: cpu:depthwise in NCHW, plane by plane: a copy with zeros around it, then row by row of outputs. */
#include "depthwise.h"
#include "harness/cnn/half.h"

#include <string.h>

typedef struct plane_work {
    const dw_plan *m;
    const cnn_weighted_args *a;
    char *w, *copy, *dy, *rows, *acc, *sums;
    const cpu_epilogue *epilogue;
} plane_work;

/* The copies' zeros stay as long as the task: each plane's pixels come to the same places. */
static plane_work begin(const dw_run *r, int worker)
{
    const dw_plan *m = r->m;
    char *piece = dw_worker(r, worker);
    const plane_work p = {m,
                          r->a,
                          piece + m->w_at,
                          piece + m->copy_at,
                          piece + m->dy_at,
                          piece + m->row_at,
                          piece + m->acc_at,
                          r->workspace + m->sums_at,
                          &r->epilogue};
    memset(p.copy, 0, (size_t)(dw_copy_rows(m) * m->in.phases * m->in.length * m->elem));
    if (m->dir == CNN_BWD_W) memset(p.dy, 0, (size_t)((m->dy.rows + 1) * m->dy.length * m->elem));
    return p;
}

static const char *at(const dw_plan *m, const void *tensor, int64_t plane, int64_t size)
{
    return (const char *)tensor + plane * size * m->elem;
}

/* ---- FWD: x's plane, then its outputs' */
static void forward_plane(const plane_work *p, int64_t plane)
{
    const dw_plan *m = p->m;
    const cnn_conv_desc *d = &m->d;
    const int64_t pixels = d->oh * d->ow;
    m->kernels->copy(at(m, p->a->x, plane, d->ih * d->iw), d->ih, d->iw, &m->in, p->copy);
    for (int64_t k = 0; k < m->outputs; k++) {
        const int64_t channel = plane % d->g * m->outputs + k, first = (plane * m->outputs + k) * pixels;
        char *y = (char *)p->a->y + first * m->elem;
        const cpu_finish finish = cpu_finish_at(p->epilogue, y);
        const dw_sums s = {.from = p->copy,
                           .w = at(m, p->a->w, channel, m->taps),
                           .places = m->places,
                           .taps = m->taps,
                           .n = d->ow,
                           .rows = d->oh,
                           .from_step = d->sh * m->in.phases * m->in.length,
                           .to_step = d->ow,
                           .bias = p->a->b ? cnn_number_get(d->t.dtype, p->a->b, channel) : 0.0,
                           .to = y,
                           .add = p->a->beta != 0,
                           .finish = p->epilogue->any ? &finish : NULL};
        m->kernels->sums(&s);
        cpu_epilogue_curve(p->epilogue, first, pixels);
    }
}

/* ---- BWD_D: dy's planes of a channel, then dx's rows, every sw-th pixel at a time */
static dw_sums backward_sums(const plane_work *p, int64_t h, int64_t b)
{
    const dw_plan *m = p->m;
    const cnn_conv_desc *d = &m->d;
    const int64_t class = (h + d->ph) % d->sh * d->sw + b, first = m->first[class];
    return (dw_sums){.from = p->copy + (h + d->ph) / d->sh * m->in.length * m->elem,
                     .w = p->w + first * m->elem,
                     .places = m->places + first,
                     .taps = m->first[class + 1] - first,
                     .n = cpu_ceil_div(d->iw - b, d->sw),
                     .rows = 1,
                     .from_step = m->in.length,
                     .to_step = d->iw};
}

static void backward_rows(const plane_work *p, char *dx)
{
    const dw_plan *m = p->m;
    const cnn_conv_desc *d = &m->d;
    const int64_t length = cpu_ceil_div(cpu_ceil_div(d->iw, d->sw), m->kernels->lanes) * m->kernels->lanes;
    for (int64_t h = 0; h < d->ih; h++) {
        for (int64_t b = 0; b < cpu_min(d->sw, d->iw); b++) {
            dw_sums s = backward_sums(p, h, b);
            s.to = p->rows + b * length * m->elem;
            m->kernels->sums(&s);
        }
        m->kernels->weave(p->rows, d->sw, length, dx + h * d->iw * m->elem, d->iw, p->a->beta != 0);
    }
}

static void backward_plane(const plane_work *p, int64_t plane)
{
    const dw_plan *m = p->m;
    const cnn_conv_desc *d = &m->d;
    for (int64_t k = 0; k < m->outputs; k++)
        m->kernels->copy(at(m, p->a->dy, plane * m->outputs + k, d->oh * d->ow), d->oh, d->ow, &m->in,
                         p->copy + k * m->in.rows * m->in.length * m->elem);
    m->kernels->pick(at(m, p->a->w, plane % d->g * m->outputs, m->taps), m->weights, m->outputs * m->taps, p->w);
    char *dx = (char *)p->a->dx + plane * d->ih * d->iw * m->elem;
    if (d->sh > 1 || d->sw > 1) {
        backward_rows(p, dx);
        return;
    }
    dw_sums s = backward_sums(p, 0, 0);
    s.rows = d->ih;
    s.to = dx;
    s.add = p->a->beta != 0;
    m->kernels->sums(&s);
}

void dw_planes_task(void *arg, int64_t task, int worker)
{
    const dw_run *r = arg;
    const dw_plan *m = r->m;
    const plane_work p = begin(r, worker);
    for (int64_t i = m->items * task / m->tasks; i < m->items * (task + 1) / m->tasks; i++)
        if (m->dir == CNN_FWD)
            forward_plane(&p, i);
        else
            backward_plane(&p, i);
}

/* ---- BWD_W: rows of dy by the rows of x that their outputs read, at once where both copies' rows are as long; an
 * image's sums, then the part's */
static void add_rows(const plane_work *p)
{
    const dw_plan *m = p->m;
    const cnn_conv_desc *d = &m->d;
    const int64_t step = d->sh * m->in.phases * m->in.length, length = m->dy.length;
    if (step == length) {
        m->kernels->dots(p->dy, p->copy, m->places, m->taps, (d->oh - 1) * length + d->ow, p->acc);
        return;
    }
    for (int64_t row = 0; row < d->oh; row++)
        m->kernels->dots(p->dy + row * length * m->elem, p->copy + row * step * m->elem, m->places, m->taps, d->ow,
                         p->acc);
}

static void gradient_item(const plane_work *p, int64_t part, int64_t channel)
{
    const dw_plan *m = p->m;
    const cnn_conv_desc *d = &m->d;
    const int64_t tap = m->kernels->lanes * m->elem;
    for (int64_t n = d->mb * part / m->parts; n < d->mb * (part + 1) / m->parts; n++) {
        m->kernels->copy(at(m, p->a->x, n * d->g + channel, d->ih * d->iw), d->ih, d->iw, &m->in, p->copy);
        for (int64_t k = channel * m->outputs; k < (channel + 1) * m->outputs; k++) {
            m->kernels->copy(at(m, p->a->dy, n * d->oc + k, d->oh * d->ow), d->oh, d->ow, &m->dy, p->dy);
            memset(p->acc, 0, (size_t)((m->taps + 1) * tap));
            add_rows(p);
            if (d->bias) m->kernels->total(p->dy, (d->oh - 1) * m->dy.length + d->ow, p->acc + m->taps * tap);
            m->kernels->fold(p->acc, m->taps + 1, p->sums + (part * d->oc + k) * (m->taps + 1) * m->elem);
        }
    }
}

void dw_planes_gradient_task(void *arg, int64_t task, int worker)
{
    const dw_run *r = arg;
    const dw_plan *m = r->m;
    const plane_work p = begin(r, worker);
    for (int64_t i = m->items * task / m->tasks; i < m->items * (task + 1) / m->tasks; i++)
        gradient_item(&p, i % m->parts, i / m->parts);
}
