/* conv.c: cpu:shallow's tasks. FWD: a band of an image's rows, for one group. BWD_W: a part of the bands of all
 * images. */
#include "blocks.h"

static const char *const phases[CPU_CLOCK_PHASES] = {"copy", "columns", "products", "store"};

static sh_task task_of(const sh_run *r, int64_t group, int worker)
{
    char *own = r->workspace + r->m->worker_at + worker * r->m->worker;
    return (sh_task){.r = r,
                     .b = {.group = group},
                     .copy = own,
                     .columns = own + r->m->columns_at,
                     .dy = own + r->m->dy_at,
                     .to = own + r->m->to_at,
                     .clock = cpu_clock_start(r->laps, worker)};
}

/* A band, block by block. */
static void run_band(sh_task *t, int64_t n, int64_t band, void (*body)(sh_task *))
{
    const sh_plan *m = t->r->m;
    const cnn_conv_desc *d = &m->d;
    const int64_t r0 = band * m->band, r1 = cpu_min(r0 + m->band, d->oh);
    t->b.n = n, t->b.band0 = t->b.r0 = r0, t->b.r1 = r1;
    sh_copy(m, t->r->a->x, &t->b, t->copy);
    cpu_clock_tick(&t->clock, SH_COPY);
    for (int64_t row = r0; row < r1; row += m->block_rows)
        for (int64_t col = 0; col < d->ow; col += m->block_cols) {
            t->b.r0 = row, t->b.r1 = cpu_min(row + m->block_rows, r1);
            t->b.q0 = col, t->b.q1 = cpu_min(col + m->block_cols, d->ow);
            sh_columns(m, t->copy, &t->b, t->columns);
            cpu_clock_tick(&t->clock, SH_COLUMNS);
            body(t);
        }
}

static void forward_task(void *arg, int64_t index, int worker)
{
    const sh_run *r = arg;
    const sh_plan *m = r->m;
    sh_task t = task_of(r, index / m->bands % m->d.g, worker);
    run_band(&t, index / m->bands / m->d.g, index % m->bands,
             m->d.t.layout == CNN_NHWC ? sh_pixels_block : sh_planes_block);
}

static void weights_task(void *arg, int64_t index, int worker)
{
    const sh_run *r = arg;
    const sh_plan *m = r->m;
    const int64_t width = 2 * m->kernels->lanes, units = m->d.mb * m->bands, part = index / m->d.g;
    sh_task t = task_of(r, index % m->d.g, worker);
    t.sums = r->workspace + m->sums_at + index * m->panels * m->rows * width * m->elem;
    for (int64_t i = units * part / m->parts; i < units * (part + 1) / m->parts; i++)
        run_band(&t, i / m->bands, i % m->bands, sh_weights_block);
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
    sh_run r = {m, args, args->workspace, cpu->laps, cpu_epilogue_of(cpu, plan, args)};
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

const cpu_kernels cpu_conv_shallow = {run, sh_plan_make, NULL};
