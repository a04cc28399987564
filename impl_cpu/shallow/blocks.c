/* blocks.c: the products of a block of columns, and where their results go. */
#include "blocks.h"

static int64_t pixels_of(const sh_task *t) { return (t->b.r1 - t->b.r0) * (t->b.q1 - t->b.q0); }

/* The product of all of its terms, in blocks whose sums start at zero. */
static void multiply(const mx_kernels *kernels, cpu_product p, int64_t elem)
{
    const int64_t terms = p.k;
    for (int64_t k = 0; k < terms; k += p.k) {
        p.k = cpu_min(MX_BLOCK, terms - k);
        p.add = p.add || k > 0;
        kernels->product(&p);
        p.a = (const char *)p.a + p.k * p.of_k * elem;
        p.b = (const char *)p.b + p.k * p.row_b * elem;
    }
}

/* A block's results of group's channel 0, of its first pixel. */
static char *block_at(const sh_task *t, const void *y)
{
    const cnn_conv_desc *d = &t->r->m->d;
    const int64_t channel = t->b.group * t->r->m->ocg;
    return (char *)(uintptr_t)y +
           cnn_offset(d->t.layout, d->oc, d->oh, d->ow, t->b.n, channel, t->b.r0, t->b.q0) * t->r->m->elem;
}

/* NCHW: rows are channels. Some panels of pixels are stored together: long pieces of a plane. */
void sh_planes_block(sh_task *t)
{
    const sh_plan *m = t->r->m;
    const cnn_weighted_args *a = t->r->a;
    const int64_t width = 2 * m->kernels->lanes, first = t->b.group * m->ocg, pixels = pixels_of(t);
    char *y = block_at(t, a->y);
    for (int64_t col = 0, cols; col < pixels; col += cols) {
        cols = cpu_min(m->store_panels * width, pixels - col);
        for (int64_t at = 0; at < cols; at += width) {
            const cpu_product p = {.a = (const char *)a->w + first * m->rows * m->elem,
                                   .b = t->columns + (col + at) * m->elem,
                                   .to = t->to + at * m->ocg * m->elem,
                                   .rows = m->ocg,
                                   .k = m->rows,
                                   .of_row = m->rows,
                                   .of_k = 1,
                                   .row_b = m->pitch,
                                   .narrow = cols - at <= m->kernels->lanes};
            multiply(m->kernels, p, m->elem);
        }
        mx_store s = {.sums = t->to,
                      .row_bias = a->b != NULL ? (const char *)a->b + first * m->elem : NULL,
                      .rows = m->ocg,
                      .cols = cols,
                      .panel = m->ocg * width,
                      .to = y + col * m->elem,
                      .row = {NULL, m->d.oh * m->d.ow},
                      .col = {NULL, 1},
                      .add = a->beta != 0};
        cpu_clock_tick(&t->clock, SH_PRODUCTS);
        mx_put(m->kernels, &s, &t->r->epilogue);
        cpu_clock_tick(&t->clock, SH_STORE);
    }
}

/* NHWC: rows are pixels, a panel of channels at a time. */
void sh_pixels_block(sh_task *t)
{
    const sh_plan *m = t->r->m;
    const cnn_weighted_args *a = t->r->a;
    const int64_t width = 2 * m->kernels->lanes, pixels = pixels_of(t);
    char *y = block_at(t, a->y);
    for (int64_t panel = 0; panel < m->panels; panel++) {
        const int64_t first = panel * width, at = (t->b.group * m->ocg + first) * m->elem;
        const int64_t index = t->b.group * m->panels + panel;
        const cpu_product p = {.a = t->columns,
                               .b = t->r->workspace + m->w_at + index * m->rows * width * m->elem,
                               .to = t->to,
                               .rows = pixels,
                               .k = m->rows,
                               .of_row = 1,
                               .of_k = m->pitch,
                               .row_b = width,
                               .narrow = m->ocg - first <= m->kernels->lanes};
        mx_store s = {.sums = t->to,
                      .col_bias = a->b != NULL ? (const char *)a->b + at : NULL,
                      .rows = pixels,
                      .cols = cpu_min(width, m->ocg - first),
                      .to = y + first * m->elem,
                      .row = {NULL, m->d.oc},
                      .col = {NULL, 1},
                      .add = a->beta != 0};
        multiply(m->kernels, p, m->elem);
        cpu_clock_tick(&t->clock, SH_PRODUCTS);
        mx_put(m->kernels, &s, &t->r->epilogue);
        cpu_clock_tick(&t->clock, SH_STORE);
    }
}

/* BWD_W: rows are those of the columns, terms pixels. */
void sh_weights_block(sh_task *t)
{
    const sh_plan *m = t->r->m;
    const bool last = m->d.t.layout == CNN_NHWC;
    const int64_t width = 2 * m->kernels->lanes, pixels = pixels_of(t), plane = m->d.oh * m->d.ow;
    const mx_pack dy = {.from = block_at(t, t->r->a->dy),
                        .lane = {NULL, last ? 1 : plane},
                        .k = {NULL, last ? m->d.oc : 1},
                        .lanes = m->ocg,
                        .width = width,
                        .count = pixels,
                        .panel = pixels * width,
                        .to = t->dy};
    m->kernels->pack(&dy);
    cpu_clock_tick(&t->clock, SH_COLUMNS);
    for (int64_t panel = 0; panel < m->panels; panel++) {
        const cpu_product p = {.a = t->columns,
                               .b = t->dy + panel * dy.panel * m->elem,
                               .to = t->sums + panel * m->rows * width * m->elem,
                               .rows = m->rows,
                               .k = pixels,
                               .of_row = m->pitch,
                               .of_k = 1,
                               .row_b = width,
                               .add = t->add,
                               .narrow = m->ocg - panel * width <= m->kernels->lanes};
        multiply(m->kernels, p, m->elem);
    }
    t->add = true;
    cpu_clock_tick(&t->clock, SH_PRODUCTS);
}
