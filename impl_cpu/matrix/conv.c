/* conv.c: cpu:matrix's three directions. A task has a part of the rows and a part of the columns of one group's
 * product, and of BWD_W a part of its terms, which are pixels. */
#include "task.h"

#include <string.h>

enum { PACK, PRODUCTS, STORE };
static const char *const phases[CPU_CLOCK_PHASES] = {"pack", "products", "store"};

static int64_t place(mx_axis axis, int64_t i) { return axis.at != NULL ? axis.at[i] : axis.step * i; }

/* The rows of A lie along K, evenly: nothing is to be packed. *step: from row to row. */
static bool reads_in_place(const mx_task *t, const mx_view *a, int64_t *step)
{
    const mx_axis row = a->axis[0], k = a->axis[1];
    const int64_t rows = t->rows - 1, terms = t->terms - 1;
    if (place(k, terms) - place(k, 0) != terms) return false;
    *step = rows > 0 ? place(row, 1) - place(row, 0) : 0;
    if (row.at == NULL) return true;
    for (int64_t r = 1; r <= rows; r++)
        if (row.at[r] - row.at[r - 1] != *step) return false;
    return true;
}

static char *sums_of(const mx_task *t, int64_t col) { return t->c + col * t->rows * t->m->elem; }

static void store(const mx_run *run, const mx_task *t, bool add)
{
    const mx_plan *m = t->m;
    const mx_view c = mx_view_at(t, &t->o.c, t->m0, t->n0);
    const bool by_row = m->d.t.layout == CNN_NCHW;
    const char *bias = t->o.bias;
    mx_store s = {.sums = t->c,
                  .row_bias = bias != NULL && by_row ? bias + t->m0 * m->elem : NULL,
                  .col_bias = bias != NULL && !by_row ? bias + t->n0 * m->elem : NULL,
                  .rows = t->rows,
                  .cols = t->cols,
                  .panel = t->rows * m->n.unit,
                  .to = c.p,
                  .row = c.axis[0],
                  .col = c.axis[1],
                  .add = add};
    mx_put(m->kernels, &s, &run->epilogue);
}

/* The sums of a block of K, added to those of the blocks before. */
static void add_block(const mx_task *t, bool add, cpu_clock *clock)
{
    const mx_kernels *kernels = t->m->kernels;
    const mx_view a = mx_view_at(t, &t->o.a, t->m0, t->k0), b = mx_view_at(t, &t->o.b, t->n0, t->k0);
    cpu_product p = {.k = t->terms, .row_b = t->m->n.unit, .add = add};
    const bool in_place = t->shared_a == NULL && reads_in_place(t, &a, &p.of_row);
    const int64_t each = in_place ? t->rows : kernels->rows;
    const int64_t width = t->m->n.unit, at_once = MX_PANELS * width;
    const char *packed = t->shared_a != NULL ? t->shared_a : t->a;
    p.of_k = in_place ? 1 : each;
    if (!in_place) p.of_row = 1;
    if (packed == t->a && !in_place) mx_pack_lanes(t, &a, 0, t->rows, each, t->a);
    for (int64_t col = 0; col < t->cols; col += width) {
        if (t->shared_b == NULL && col % at_once == 0)
            mx_pack_lanes(t, &b, col, cpu_min(at_once, t->cols - col), width, t->b);
        cpu_clock_tick(clock, PACK);
        p.narrow = t->cols - col <= kernels->lanes;
        p.b = t->shared_b != NULL ? t->shared_b + col * MX_BLOCK * t->m->elem
                                  : t->b + col % at_once * MX_BLOCK * t->m->elem;
        for (int64_t row = 0; row < t->rows; row += each) {
            p.a = in_place ? a.p + (place(a.axis[0], 0) + place(a.axis[1], 0)) * t->m->elem
                           : packed + row * MX_BLOCK * t->m->elem;
            p.rows = cpu_min(each, t->rows - row);
            p.to = sums_of(t, col) + row * width * t->m->elem;
            kernels->product(&p);
        }
        cpu_clock_tick(clock, PRODUCTS);
    }
}

static void run_task(void *arg, int64_t index, int worker)
{
    const mx_run *r = arg;
    const mx_plan *m = r->m;
    const int64_t n = index % m->n.parts, i = index / m->n.parts % m->m.parts;
    const int64_t part = index / m->n.parts / m->m.parts % m->k.parts,
                  group = index / m->n.parts / m->m.parts / m->k.parts;
    const int64_t last = mx_first(m->k, part + 1), k0 = mx_first(m->k, part);
    char *own = r->workspace + m->worker_at + worker * m->worker;
    int64_t *lists = (int64_t *)(void *)(own + m->lists_at);
    mx_task t = {m, .o = mx_operands_of(r, group, part), .a = own, .b = own + m->b_at, .c = own + m->c_at};
    t.lists[0] = lists, t.lists[1] = lists + m->list;
    t.m0 = mx_first(m->m, i), t.rows = mx_first(m->m, i + 1) - t.m0;
    t.n0 = mx_first(m->n, n), t.cols = mx_first(m->n, n + 1) - t.n0;
    cpu_clock clock = cpu_clock_start(r->laps, worker);
    if (m->dir != CNN_BWD_W) {
        const bool rows = m->d.t.layout == CNN_NHWC;
        mx_list_pixels(&t, rows ? t.m0 : t.n0, rows ? t.rows : t.cols);
    }
    for (t.k0 = k0; t.k0 < last; t.k0 += MX_BLOCK) {
        t.terms = cpu_min(MX_BLOCK, last - t.k0);
        if (m->dir == CNN_BWD_W) mx_list_pixels(&t, t.k0, t.terms);
        mx_find_shared(r, &t, group);
        add_block(&t, t.k0 > k0, &clock);
    }
    store(r, &t, m->k.parts == 1 && r->a->beta != 0);
    cpu_clock_tick(&clock, STORE);
}

/* Pixels of dx that the kernel passes over. */
static void clear_task(void *arg, int64_t image, int worker)
{
    const mx_run *r = arg;
    (void)worker;
    memset((char *)r->a->dx + image * r->m->x.image * r->m->elem, 0, (size_t)(r->m->x.image * r->m->elem));
}

enum { REDUCE_EACH = 4096 };
static void reduce_task(void *arg, int64_t index, int worker)
{
    const mx_run *r = arg;
    const mx_plan *m = r->m;
    const int64_t all = m->d.oc * (m->d.ic / m->d.g), first = index * REDUCE_EACH;
    (void)worker;
    m->kernels->reduce(r->workspace + m->sums_at + first * m->elem, m->k.parts, all, cpu_min(REDUCE_EACH, all - first),
                       (char *)r->a->dw + first * m->elem, r->a->beta != 0);
}

static void run(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *args)
{
    const mx_plan *m = plan->state;
    mx_run r = {m, args, args->workspace, cpu->laps, cpu_epilogue_of(cpu, plan, args)};
    if (m->dir == CNN_BWD_D && args->beta == 0 && m->d.oh * m->d.ow < m->d.ih * m->d.iw) {
        parallel_for(cpu->pool, m->d.mb, clear_task, &r);
        cpu_phase(cpu, "clear");
    }
    mx_share(cpu, &r);
    parallel_for(cpu->pool, m->n.parts * m->m.parts * m->k.parts * m->d.g, run_task, &r);
    cpu_phases(cpu, phases);
    if (m->k.parts > 1) {
        parallel_for(cpu->pool, cpu_ceil_div(m->d.oc * (m->d.ic / m->d.g), REDUCE_EACH), reduce_task, &r);
        cpu_phase(cpu, "parts");
    }
    if (m->dir == CNN_BWD_W) cpu_conv_bias_gradient(cpu, plan, args);
}

const cpu_kernels cpu_conv_matrix = {run, mx_plan_make, NULL};
