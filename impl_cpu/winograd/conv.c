/* conv.c: Winograd's forward pass and data gradient: weights first, then block after block of tiles. A task has one
 * block of one group (or a part of its results), and all of it in its worker's memory. */
#include "winograd.h"

typedef struct wino_run {
    const wino_plan *m;
    cnn_dir dir;
    const cnn_weighted_args *args;
    const void *in, *bias;
    void *out;
    char *workspace;
    int64_t k_parts; /* of the weights' channels, each a task */
    cnn_laps *laps;
    cpu_epilogue epilogue;
    cpu_finish finish; /* of the epilogue, all of y */
} wino_run;

enum { INPUT, PRODUCTS, OUTPUT };
static const char *const phases[CPU_CLOCK_PHASES] = {"input", "products", "output"};

static char *weights_of(const wino_run *r, int64_t group, int64_t panel)
{
    const wino_plan *m = r->m;
    const int64_t at = group * WINO_POINTS * wino_point(m) + panel * wino_panel(m);
    return r->workspace + m->weights_at + at * m->elem;
}

static void weights_task(void *arg, int64_t task, int worker)
{
    const wino_run *r = arg;
    const wino_plan *m = r->m;
    const int64_t part = task % r->k_parts, panel = task / r->k_parts % m->panels,
                  group = task / r->k_parts / m->panels;
    const int64_t pair = 2 * m->kernels->lanes;
    const wino_weights w = wino_weights_of(m, r->dir, r->args, group);
    (void)worker;
    m->kernels->weights(&w, panel * pair, m->k * part / r->k_parts, m->k * (part + 1) / r->k_parts,
                        (wino_points){weights_of(r, group, panel), wino_point(m), pair});
}

/* points[p][tile][k] of the strips [first, last). */
static void transform_input(const wino_run *r, int64_t group, int64_t first, int64_t last, char *v, void *pixels)
{
    const wino_plan *m = r->m;
    const int64_t lanes = m->kernels->lanes, cols = m->strip * WINO_OUT + WINO_IN - WINO_OUT;
    for (int64_t s = first; s < last; s++) {
        const wino_strip strip = wino_strip_at(m, s, true);
        for (int64_t k = 0; k < m->k; k += lanes) {
            const wino_channels c = {group * m->k + k, cpu_min(lanes, m->k - k)};
            const int64_t at = (s - first) * m->strip * m->k_pad + k;
            m->kernels->fill(&m->in, r->in, &strip, WINO_IN, cols, c, pixels);
            m->kernels->input(pixels, m->strip, (wino_points){v + at * m->elem, wino_tiles(m) * m->k_pad, m->k_pad});
        }
    }
}

/* The 36 products of a panel: points[p][tile][u]. */
static void multiply(const wino_run *r, int64_t group, int64_t panel, int64_t tiles, const char *v, char *to)
{
    const wino_plan *m = r->m;
    const int64_t pair = 2 * m->kernels->lanes, all = wino_tiles(m);
    const char *w = weights_of(r, group, panel);
    for (int64_t p = 0; p < WINO_POINTS; p++) {
        const cpu_product product = {.a = v + p * all * m->k_pad * m->elem,
                                     .b = w + p * wino_point(m) * m->elem,
                                     .to = to + p * all * pair * m->elem,
                                     .rows = tiles,
                                     .k = m->k,
                                     .of_row = m->k_pad,
                                     .of_k = 1,
                                     .row_b = pair};
        m->kernels->product(&product);
    }
}

/* A curved activation of what was stored just now. */
static void curve(const wino_run *r, const wino_strip *s, wino_channels c)
{
    const wino_tensor *t = &r->m->out;
    const bool last = t->layout == CNN_NHWC;
    const int64_t there = cpu_min(t->w - s->col, s->tiles * WINO_OUT), lines = last ? there : c.count;
    for (int64_t row = s->row; row < cpu_min(s->row + WINO_OUT, t->h); row++)
        for (int64_t i = 0; i < lines; i++) {
            const int64_t channel = last ? c.first : c.first + i, col = last ? s->col + i : s->col;
            const int64_t at = cnn_offset(t->layout, t->c, t->h, t->w, s->image, channel, row, col);
            cpu_epilogue_curve(&r->epilogue, at, last ? c.count : there);
        }
}

static void transform_output(const wino_run *r, int64_t group, int64_t panel, int64_t first, int64_t last, char *made,
                             void *pixels)
{
    const wino_plan *m = r->m;
    const int64_t lanes = m->kernels->lanes, pair = 2 * lanes;
    for (int64_t s = first; s < last; s++) {
        const wino_strip strip = wino_strip_at(m, s, false);
        for (int64_t half = 0; half < 2; half++) {
            const int64_t u = panel * pair + half * lanes;
            const wino_channels c = {group * m->u + u, cpu_min(lanes, m->u - u)};
            const int64_t at = (s - first) * m->strip * pair + half * lanes;
            if (c.count <= 0) continue;
            m->kernels->output((wino_points){made + at * m->elem, wino_tiles(m) * pair, pair}, m->strip, r->bias, c,
                               pixels);
            m->kernels->store(&m->out, r->out, &strip, c, pixels, r->args->beta != 0,
                              r->epilogue.any ? &r->finish : NULL);
            if (r->epilogue.curved) curve(r, &strip, c);
        }
    }
}

static void block_task(void *arg, int64_t task, int worker)
{
    const wino_run *r = arg;
    const wino_plan *m = r->m;
    const int64_t part = task % m->parts, block = task / m->parts % m->blocks, group = task / m->parts / m->blocks;
    const int64_t first = block * m->each, last = cpu_min(first + m->each, m->strips);
    char *v = r->workspace + m->worker_at + worker * m->worker, *made = v + m->m_at, *pixels = v + m->pixels_at;
    cpu_clock clock = cpu_clock_start(r->laps, worker);
    transform_input(r, group, first, last, v, pixels);
    cpu_clock_tick(&clock, INPUT);
    for (int64_t panel = m->panels * part / m->parts; panel < m->panels * (part + 1) / m->parts; panel++) {
        multiply(r, group, panel, (last - first) * m->strip, v, made);
        cpu_clock_tick(&clock, PRODUCTS);
        transform_output(r, group, panel, first, last, made, pixels);
        cpu_clock_tick(&clock, OUTPUT);
    }
}

static void run(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *args)
{
    enum { WEIGHT_TASKS = 16 };
    const wino_plan *m = plan->state;
    const bool forward = plan->dir == CNN_FWD;
    if (plan->dir == CNN_BWD_W) {
        wino_gradient(cpu, plan, args);
        return;
    }
    wino_run r = {.m = m,
                  .dir = plan->dir,
                  .args = args,
                  .in = forward ? args->x : args->dy,
                  .bias = forward ? args->b : NULL,
                  .out = forward ? args->y : args->dx,
                  .workspace = args->workspace,
                  .laps = cpu->laps,
                  .epilogue = cpu_epilogue_of(cpu, plan, args)};
    r.finish = cpu_finish_at(&r.epilogue, args->y);
    r.k_parts = cpu_clamp(WEIGHT_TASKS / (m->d.g * m->panels), 1, m->k);
    parallel_for(cpu->pool, m->d.g * m->panels * r.k_parts, weights_task, &r);
    cpu_phase(cpu, "weights");
    parallel_for(cpu->pool, m->d.g * m->blocks * m->parts, block_task, &r);
    cpu_phases(cpu, phases);
}

const cpu_kernels cpu_conv_winograd = {run, wino_plan_make, NULL};
