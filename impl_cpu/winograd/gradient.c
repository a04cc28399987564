/* gradient.c: Winograd's gradient of the weights. Blocks of tiles one after another: both tensors are transformed, then
 * 36 products add them up; at the end the sums are transformed to weights. Groups follow each other, so that the
 * workspace is one group's. */
#include "winograd.h"

typedef struct gradient_run {
    const wino_plan *m;
    const cnn_weighted_args *args;
    char *workspace;
    int64_t group, first, last; /* strips of the block */
    int64_t k_vectors, u_vectors, k_parts;
    bool add; /* to the sums of the blocks before */
} gradient_run;

/* A strip and a vector of channels of one of the tensors. */
static void transform_task(void *arg, int64_t task, int worker)
{
    const gradient_run *r = arg;
    const wino_plan *m = r->m;
    const int64_t vectors = r->k_vectors + r->u_vectors, s = r->first + task / vectors;
    const bool in = task % vectors < r->k_vectors;
    const int64_t lanes = m->kernels->lanes, from = (in ? task % vectors : task % vectors - r->k_vectors) * lanes;
    const int64_t channels = in ? m->k : m->u, row = in ? m->k_pad : m->panels * 2 * lanes;
    const wino_channels c = {r->group * channels + from, cpu_clamp(channels - from, 0, lanes)};
    const wino_strip strip = wino_strip_at(m, s, in);
    const int64_t rows = in ? WINO_IN : WINO_OUT, cols = m->strip * WINO_OUT + (in ? WINO_IN - WINO_OUT : 0);
    char *pixels = r->workspace + m->worker_at + worker * m->worker + m->pixels_at;
    char *to = r->workspace + (in ? m->in_at : m->out_at) + ((s - r->first) * m->strip * row + from) * m->elem;
    m->kernels->fill(in ? &m->in : &m->out, in ? r->args->x : r->args->dy, &strip, rows, cols, c, pixels);
    (in ? m->kernels->input : m->kernels->gradient)(pixels, m->strip, (wino_points){to, wino_tiles(m) * row, row});
}

/* A point, a panel of u, and a part of the k: sums over all tiles of the block. */
static void product_task(void *arg, int64_t task, int worker)
{
    const gradient_run *r = arg;
    const wino_plan *m = r->m;
    const int64_t part = task % r->k_parts, panel = task / r->k_parts % m->panels, p = task / r->k_parts / m->panels;
    const int64_t pair = 2 * m->kernels->lanes, u_pad = m->panels * pair, all = wino_tiles(m);
    const int64_t k0 = m->k * part / r->k_parts, k1 = m->k * (part + 1) / r->k_parts;
    const int64_t sums = p * wino_point(m) + panel * wino_panel(m) + k0 * pair;
    (void)worker;
    const cpu_product product = {.a = r->workspace + m->in_at + (p * all * m->k_pad + k0) * m->elem,
                                 .b = r->workspace + m->out_at + (p * all * u_pad + panel * pair) * m->elem,
                                 .to = r->workspace + m->weights_at + sums * m->elem,
                                 .rows = k1 - k0,
                                 .k = (r->last - r->first) * m->strip,
                                 .of_row = 1,
                                 .of_k = m->k_pad,
                                 .row_b = u_pad,
                                 .add = r->add};
    m->kernels->product(&product);
}

static void weights_task(void *arg, int64_t task, int worker)
{
    const gradient_run *r = arg;
    const wino_plan *m = r->m;
    const int64_t part = task % r->k_parts, panel = task / r->k_parts, pair = 2 * m->kernels->lanes;
    const wino_weights w = wino_weights_of(m, CNN_BWD_W, r->args, r->group);
    char *sums = r->workspace + m->weights_at + panel * wino_panel(m) * m->elem;
    (void)worker;
    m->kernels->weights_gradient(&w, panel * pair, m->k * part / r->k_parts, m->k * (part + 1) / r->k_parts,
                                 (wino_points){sums, wino_point(m), pair});
}

void wino_gradient(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *args)
{
    enum { PRODUCT_TASKS = 64 };
    const wino_plan *m = plan->state;
    gradient_run r = {.m = m, .args = args, .workspace = args->workspace};
    r.k_vectors = m->k_pad / m->kernels->lanes;
    r.u_vectors = m->panels * 2;
    r.k_parts = cpu_clamp(PRODUCT_TASKS / m->panels, 1, cpu_ceil_div(m->k, m->kernels->rows * 4));
    for (r.group = 0; r.group < m->d.g; r.group++) {
        for (r.first = 0; r.first < m->strips; r.first = r.last) {
            r.last = cpu_min(r.first + m->each, m->strips);
            r.add = r.first > 0;
            parallel_for(cpu->pool, (r.last - r.first) * (r.k_vectors + r.u_vectors), transform_task, &r);
            cpu_phase(cpu, "input");
            parallel_for(cpu->pool, WINO_POINTS * m->panels * r.k_parts, product_task, &r);
            cpu_phase(cpu, "products");
        }
        parallel_for(cpu->pool, m->panels * r.k_parts, weights_task, &r);
        cpu_phase(cpu, "weights");
    }
    cpu_conv_bias_gradient(cpu, plan, args);
}
