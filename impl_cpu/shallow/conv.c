/* conv.c: cpu:shallow's tasks. FWD: a band of an image's rows, for one group. BWD_W: a part of the bands of all
 * images. */
#include "shallow.h"

typedef struct sh_run {
    const sh_plan *m;
    const cnn_weighted_args *a;
    char *workspace;
    cnn_laps *laps;
} sh_run;

enum { COPY, COLUMNS, PRODUCTS, STORE };
static const char *const phases[CPU_CLOCK_PHASES] = {"copy", "columns", "products", "store"};

/* A block, and what its worker has for it. */
typedef struct task {
    const sh_run *r;
    sh_block b;
    char *copy, *columns, *dy, *to;
    char *sums; /* BWD_W: of the group's first panel */
    bool add;
    cpu_clock clock;
} task;

static task task_of(const sh_run *r, int64_t group, int worker)
{
    char *own = r->workspace + r->m->worker_at + worker * r->m->worker;
    return (task){.r = r,
                  .b = {.group = group},
                  .copy = own,
                  .columns = own + r->m->columns_at,
                  .dy = own + r->m->dy_at,
                  .to = own + r->m->to_at,
                  .clock = cpu_clock_start(r->laps, worker)};
}

static int64_t pixels_of(const task *t) { return (t->b.r1 - t->b.r0) * (t->b.q1 - t->b.q0); }

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
static char *block_at(const task *t, const void *y)
{
    const cnn_conv_desc *d = &t->r->m->d;
    const int64_t channel = t->b.group * t->r->m->ocg;
    return (char *)(uintptr_t)y +
           cnn_offset(d->t.layout, d->oc, d->oh, d->ow, t->b.n, channel, t->b.r0, t->b.q0) * t->r->m->elem;
}

/* NCHW: rows are channels. Some panels of pixels are stored together: long pieces of a plane. */
static void planes_block(task *t)
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
        const mx_store s = {.sums = t->to,
                            .row_bias = a->b != NULL ? (const char *)a->b + first * m->elem : NULL,
                            .rows = m->ocg,
                            .cols = cols,
                            .panel = m->ocg * width,
                            .to = y + col * m->elem,
                            .row = {NULL, m->d.oh * m->d.ow},
                            .col = {NULL, 1},
                            .add = a->beta != 0};
        cpu_clock_tick(&t->clock, PRODUCTS);
        m->kernels->store(&s);
        cpu_clock_tick(&t->clock, STORE);
    }
}

/* NHWC: rows are pixels, a panel of channels at a time. */
static void pixels_block(task *t)
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
        const mx_store s = {.sums = t->to,
                            .col_bias = a->b != NULL ? (const char *)a->b + at : NULL,
                            .rows = pixels,
                            .cols = cpu_min(width, m->ocg - first),
                            .to = y + first * m->elem,
                            .row = {NULL, m->d.oc},
                            .col = {NULL, 1},
                            .add = a->beta != 0};
        multiply(m->kernels, p, m->elem);
        cpu_clock_tick(&t->clock, PRODUCTS);
        m->kernels->store(&s);
        cpu_clock_tick(&t->clock, STORE);
    }
}

/* BWD_W: rows are those of the columns, terms pixels. */
static void weights_block(task *t)
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
    cpu_clock_tick(&t->clock, COLUMNS);
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
    cpu_clock_tick(&t->clock, PRODUCTS);
}

/* A band, block by block. */
static void run_band(task *t, int64_t n, int64_t band, void (*body)(task *))
{
    const sh_plan *m = t->r->m;
    const cnn_conv_desc *d = &m->d;
    const int64_t r0 = band * m->band, r1 = cpu_min(r0 + m->band, d->oh);
    t->b.n = n, t->b.band0 = t->b.r0 = r0, t->b.r1 = r1;
    sh_copy(m, t->r->a->x, &t->b, t->copy);
    cpu_clock_tick(&t->clock, COPY);
    for (int64_t row = r0; row < r1; row += m->block_rows)
        for (int64_t col = 0; col < d->ow; col += m->block_cols) {
            t->b.r0 = row, t->b.r1 = cpu_min(row + m->block_rows, r1);
            t->b.q0 = col, t->b.q1 = cpu_min(col + m->block_cols, d->ow);
            sh_columns(m, t->copy, &t->b, t->columns);
            cpu_clock_tick(&t->clock, COLUMNS);
            body(t);
        }
}

static void forward_task(void *arg, int64_t index, int worker)
{
    const sh_run *r = arg;
    const sh_plan *m = r->m;
    task t = task_of(r, index / m->bands % m->d.g, worker);
    run_band(&t, index / m->bands / m->d.g, index % m->bands,
             m->d.t.layout == CNN_NHWC ? pixels_block : planes_block);
}

static void weights_task(void *arg, int64_t index, int worker)
{
    const sh_run *r = arg;
    const sh_plan *m = r->m;
    const int64_t width = 2 * m->kernels->lanes, units = m->d.mb * m->bands, part = index / m->d.g;
    task t = task_of(r, index % m->d.g, worker);
    t.sums = r->workspace + m->sums_at + index * m->panels * m->rows * width * m->elem;
    for (int64_t i = units * part / m->parts; i < units * (part + 1) / m->parts; i++)
        run_band(&t, i / m->bands, i % m->bands, weights_block);
}

static void pack_task(void *arg, int64_t panel, int worker)
{
    const sh_run *r = arg;
    const sh_plan *m = r->m;
    const int64_t width = 2 * m->kernels->lanes, first = panel % m->panels * width;
    const int64_t channel = panel / m->panels * m->ocg + first;
    const mx_pack w = {.from = (const char *)r->a->w + channel * m->rows * m->elem,
                       .lane = {NULL, m->rows},
                       .k = {NULL, 1},
                       .lanes = cpu_min(width, m->ocg - first),
                       .width = width,
                       .count = m->rows,
                       .to = r->workspace + m->w_at + panel * m->rows * width * m->elem};
    (void)worker;
    m->kernels->pack(&w);
}

static void reduce_task(void *arg, int64_t panel, int worker)
{
    const sh_run *r = arg;
    const sh_plan *m = r->m;
    const int64_t each = m->rows * 2 * m->kernels->lanes;
    char *sums = r->workspace + m->sums_at + panel * each * m->elem;
    (void)worker;
    m->kernels->reduce(sums, m->parts, m->d.g * m->panels * each, each, sums, false);
    sh_turn(m, sums, panel, r->a->dw, r->a->beta != 0);
}

static void run(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *args)
{
    const sh_plan *m = plan->state;
    sh_run r = {m, args, args->workspace, cpu->laps};
    if (m->dir == CNN_BWD_W) {
        parallel_for(cpu->pool, m->parts * m->d.g, weights_task, &r);
        cpu_phases(cpu, phases);
        parallel_for(cpu->pool, m->d.g * m->panels, reduce_task, &r);
        cpu_phase(cpu, "parts");
        cpu_conv_bias_gradient(cpu, plan, args);
        return;
    }
    if (m->d.t.layout == CNN_NHWC) {
        parallel_for(cpu->pool, m->d.g * m->panels, pack_task, &r);
        cpu_phase(cpu, "weights");
    }
    parallel_for(cpu->pool, m->d.mb * m->d.g * m->bands, forward_task, &r);
    cpu_phases(cpu, phases);
}

const cpu_kernels cpu_conv_shallow = {run, sh_plan_make};
