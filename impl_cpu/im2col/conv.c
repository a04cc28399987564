/* conv.c: the three directions of an im2col convolution: pack what is read into bundles, then one task for each
 * piece of the output.
 *
 *   FWD    a task is a block of output pixels of one bundle and group
 *   BWD_D  a task owns some input channels of one bundle; it adds block after block of columns to them
 *   BWD_W  a task owns some input channels' weights over some (bundle, block) pairs; where the pairs are split, each
 *          split sums into a buffer of its own, and these are added in order at the end */
#include "im2col.h"
#include "impl_cpu/cpu.h"

#include <string.h>

#define KERNELS "impl_cpu/im2col/sums.inc"
#include "impl_cpu/for_each_real.inc"

typedef struct job {
    const im2col_plan *m;
    const cnn_weighted_args *a;
    const char *x, *dy; /* in bundles */
    char *workspace;
    cnn_laps *laps;
    cpu_epilogue epilogue;
} job;

/* Within a task columns and products take turns; filling in the bias and clearing dx count as columns. */
enum { COLUMNS, GEMM, REST };
static const char *const phases[CNN_DIR_COUNT][CPU_CLOCK_PHASES] = {
    [CNN_FWD] = {"im2col", "gemm", "unpack"},
    [CNN_BWD_D] = {"col2im", "gemm", "unpack"},
    [CNN_BWD_W] = {"im2col", "gemm", "bias"},
};

static char *scratch_of(const job *j, int worker)
{
    return j->workspace + j->m->scratch_start + worker * j->m->scratch_stride;
}

/* The columns of a block: where they are, and from one row to the next. */
static gemm_matrix columns_of(const job *j, const im2col_block *b, char *scratch)
{
    const im2col_plan *m = j->m;
    const char *bundle = j->x + b->image * m->d.ic * m->in_pixels * m->elem;
    if (m->pointwise) {
        const int64_t at = (b->channel * m->in_pixels + b->first) * b->lanes;
        return (gemm_matrix){bundle + at * m->elem, m->in_pixels * b->lanes, false};
    }
    im2col_gather(m, b, bundle, scratch);
    return (gemm_matrix){scratch, im2col_width(b), false};
}

/* The block of dy, of one group's output channels. */
static gemm_matrix dy_of(const job *j, const im2col_block *b, int64_t group)
{
    const im2col_plan *m = j->m;
    const int64_t at = b->image * m->d.oc * m->out_pixels + (group * m->group_oc * m->out_pixels + b->first) * b->lanes;
    return (gemm_matrix){j->dy + at * m->elem, m->out_pixels * b->lanes, false};
}

static void start(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *a, job *j)
{
    const im2col_plan *m = plan->state;
    *j = (job){m, a, a->x, a->dy, a->workspace, cpu->laps, cpu_epilogue_of(cpu, plan, a)};
    if (!m->pack) return;
    im2col_tensor x = {m, a->x, NULL, m->d.ic, m->in_pixels, m->split},
                  dy = {m, a->dy, NULL, m->d.oc, m->out_pixels, false};
    if (plan->dir != CNN_BWD_D) x.to = j->workspace + m->x_start, j->x = x.to;
    if (plan->dir != CNN_FWD) dy.to = j->workspace + m->y_start, j->dy = dy.to;
    im2col_pack(cpu->pool, x, dy);
    cpu_phase(cpu, "pack");
}

/* A task is a block of pixels of a group: its columns are made, multiplied and dropped while they are in the cache. */
static void fwd_body(void *arg, int64_t task, int worker)
{
    const job *j = arg;
    const im2col_plan *m = j->m;
    const cnn_weighted_args *a = j->a;
    const int64_t group = task / m->blocks % m->d.g, rows = m->group_ic * m->taps, oc0 = group * m->group_oc;
    im2col_block b = {.channel = group * m->group_ic, .count = m->group_ic};
    cpu_clock clock = cpu_clock_start(j->laps, worker);
    im2col_bundle(m, task / m->blocks / m->d.g, &b);
    im2col_pixels(m, task % m->blocks, &b);
    char *scratch = scratch_of(j, worker), *y = scratch + m->result_at;
    const int64_t width = im2col_width(&b);
    const gemm_matrix columns = columns_of(j, &b, scratch),
                      w = {(const char *)a->w + oc0 * rows * m->elem, rows, false};
    if (!m->pack) y = (char *)a->y + ((b.image * m->d.oc + oc0) * m->out_pixels + b.first) * m->elem;
    const int64_t ld = m->pack ? width : m->out_pixels;
    bool add = !m->pack && a->beta != 0;
    if (a->b) {
        CPU_REAL(m->dtype, fill_bias, cpu_at_const(m->dtype, a->b, oc0), m->group_oc, width, (void *)y, ld, add);
        add = true;
    }
    cpu_clock_tick(&clock, COLUMNS);
    cpu_gemm(m->dtype, m->group_oc, width, rows, w, columns, add, y, ld);
    cpu_clock_tick(&clock, GEMM);
    if (m->pack)
        im2col_unpack(m, &b, y, (im2col_target){a->y, m->d.oc, m->out_pixels, oc0, m->group_oc, a->beta != 0, false});
    for (int64_t image = b.image; j->epilogue.any && image < b.image + b.lanes; image++)
        cpu_epilogue_image(
            &j->epilogue, m->d.t.layout,
            &(cpu_epilogue_part){image, m->d.oc, m->out_pixels, oc0, oc0 + m->group_oc, b.first, b.last});
    cpu_clock_tick(&clock, REST);
}

/* A task owns some channels of an image, so that columns are scattered without atomics. */
static void bwd_data_body(void *arg, int64_t task, int worker)
{
    const job *j = arg;
    const im2col_plan *m = j->m;
    const cnn_weighted_args *a = j->a;
    const int64_t group = task / m->chunks % m->d.g, c0 = task % m->chunks * m->chunk;
    const int64_t rows = m->group_ic * m->taps;
    im2col_block b = {.channel = group * m->group_ic + c0, .count = cpu_min(m->chunk, m->group_ic - c0)};
    cpu_clock clock = cpu_clock_start(j->laps, worker);
    im2col_bundle(m, task / m->chunks / m->d.g, &b);
    char *columns = scratch_of(j, worker), *dx = columns + m->result_at;
    if (!m->pack) dx = (char *)a->dx + (b.image * m->d.ic + b.channel) * m->in_pixels * m->elem;
    const bool keep = !m->pack && a->beta != 0;
    if (!m->pointwise && !keep) memset(dx, 0, (size_t)(b.count * m->in_pixels * b.lanes * m->elem));
    const gemm_matrix w = {(const char *)a->w + (group * m->group_oc * rows + c0 * m->taps) * m->elem, rows, true};
    for (int64_t block = 0; block < m->blocks; block++) {
        im2col_pixels(m, block, &b);
        const gemm_matrix dy = dy_of(j, &b, group);
        const int64_t width = im2col_width(&b);
        char *to = m->pointwise ? dx + b.first * b.lanes * m->elem : columns;
        cpu_clock_tick(&clock, COLUMNS);
        cpu_gemm(m->dtype, b.count * m->taps, width, m->group_oc, w, dy, m->pointwise && keep, to,
                 m->pointwise ? m->in_pixels * b.lanes : width);
        cpu_clock_tick(&clock, GEMM);
        if (!m->pointwise) im2col_scatter(m, &b, columns, dx);
    }
    cpu_clock_tick(&clock, COLUMNS);
    b.first = 0, b.last = m->in_pixels;
    if (m->pack)
        im2col_unpack(m, &b, dx,
                      (im2col_target){a->dx, m->d.ic, m->in_pixels, b.channel, b.count, a->beta != 0, m->split});
    cpu_clock_tick(&clock, REST);
}

/* Each part sums its own share of the images; parts are added later, in their order, whatever thread made them. */
static void bwd_weights_body(void *arg, int64_t task, int worker)
{
    const job *j = arg;
    const im2col_plan *m = j->m;
    const int64_t chunk = task % m->chunks, group = task / m->chunks % m->d.g, part = task / m->chunks / m->d.g;
    const int64_t c0 = chunk * m->chunk, rows = m->group_ic * m->taps, oc0 = group * m->group_oc;
    const int64_t units = m->bundles * m->blocks, first = units * part / m->parts, last = units * (part + 1) / m->parts;
    im2col_block b = {.channel = group * m->group_ic + c0, .count = cpu_min(m->chunk, m->group_ic - c0)};
    char *partial = j->workspace + m->partial_start + part * m->d.oc * (rows + 1) * m->elem;
    char *dw = m->parts > 1 ? partial : j->a->dw, *db = m->parts > 1 ? partial + m->d.oc * rows * m->elem : j->a->db;
    bool add = m->parts == 1 && j->a->beta != 0;
    cpu_clock clock = cpu_clock_start(j->laps, worker);
    for (int64_t unit = first; unit < last; unit++, add = true) {
        im2col_bundle(m, unit / m->blocks, &b);
        im2col_pixels(m, unit % m->blocks, &b);
        const gemm_matrix columns = columns_of(j, &b, scratch_of(j, worker));
        const gemm_matrix dy = dy_of(j, &b, group);
        const int64_t width = im2col_width(&b);
        cpu_clock_tick(&clock, COLUMNS);
        for (int64_t row = 0, end = b.count * m->taps; row < end; row += m->piece) {
            const gemm_matrix some = {(const char *)columns.p + row * columns.ld * m->elem, columns.ld, true};
            cpu_gemm(m->dtype, m->group_oc, cpu_min(m->piece, end - row), width, dy, some, add,
                     dw + (oc0 * rows + c0 * m->taps + row) * m->elem, rows);
        }
        cpu_clock_tick(&clock, GEMM);
        if (!j->a->db || chunk != 0) continue;
        CPU_REAL(m->dtype, row_sums, dy.p, dy.ld, m->group_oc, width, cpu_at(m->dtype, db, oc0), add);
        cpu_clock_tick(&clock, REST);
    }
}

enum { REDUCE_ELEMS = 1 << 13 };

static void reduce_body(void *arg, int64_t task, int worker)
{
    (void)worker;
    const job *j = arg;
    const im2col_plan *m = j->m;
    const int64_t weights = m->d.oc * m->group_ic * m->taps, stride = weights + m->d.oc;
    const int64_t first = task * REDUCE_ELEMS, count = cpu_min(REDUCE_ELEMS, weights - first);
    const char *partial = j->workspace + m->partial_start;
    const bool add = j->a->beta != 0;
    CPU_REAL(m->dtype, reduce, cpu_at_const(m->dtype, partial, first), m->parts, stride, count,
             cpu_at(m->dtype, j->a->dw, first), add);
    if (j->a->db && task == 0)
        CPU_REAL(m->dtype, reduce, cpu_at_const(m->dtype, partial, weights), m->parts, stride, m->d.oc, j->a->db, add);
}

static void run(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *a)
{
    static parallel_body *const bodies[CNN_DIR_COUNT] = {fwd_body, bwd_data_body, bwd_weights_body};
    job j;
    start(cpu, plan, a, &j);
    parallel_for(cpu->pool, j.m->tasks, bodies[plan->dir], &j);
    cpu_phases(cpu, phases[plan->dir]);
    if (j.m->parts == 1) return;
    parallel_for(cpu->pool, cpu_ceil_div(j.m->d.oc * j.m->group_ic * j.m->taps, REDUCE_ELEMS), reduce_body, &j);
    cpu_phase(cpu, "reduce");
}

const cpu_kernels cpu_conv_im2col = {run, im2col_plan_make, NULL};
