/* plan.c: how an im2col convolution is cut into bundles, blocks and tasks, and what workspace that takes. */
#include "im2col.h"

#include <stdlib.h>
#include <string.h>

/* The shape of a product: thinner ones spend their time packing. PART_WIDTH: columns that a partial sum of BWD_W is
 * worth. MOST_PARTIAL: elements of all partial sums. */
enum { MOST_TASKS = 32, LEAST_WIDTH = 64, LEAST_ROWS = 64, MOST_ROWS = 512, PART_WIDTH = 256, MOST_PARTIAL = 1 << 24 };

/* On AVX-512 OpenBLAS multiplies without packing its operands where a product takes at most 100^3 multiply-adds and,
 * for dy * columns', at most some 50 rows of columns. With few channels, packing would double the time. */
enum { SMALL_PRODUCT = 1000000, SMALL_ROWS = 48 };

/* Rows of columns in one product of BWD_W; even pieces. */
static int64_t choose_piece(const im2col_plan *m)
{
    const int64_t rows = m->chunk * m->taps;
    if (m->isa != CPU_ISA_AVX512 || m->group_oc * SMALL_ROWS * LEAST_WIDTH > SMALL_PRODUCT) return rows;
    return cpu_ceil_div(rows, cpu_ceil_div(rows, SMALL_ROWS));
}

/* Several images side by side pay where an image alone gives short copies or thin products. */
static int64_t choose_lanes(const im2col_plan *m)
{
    const cnn_conv_desc *d = &m->d;
    const bool short_copies = !m->pointwise && (d->sw > 1 || d->ow < 24), thin_products = m->out_pixels < 256;
    const int64_t most = IM2COL_MAX_LANES * (int64_t)sizeof(float) / m->elem;
    return short_copies || thin_products ? cpu_min(d->mb, most) : 1;
}

/* Channels of a task, so that all threads find work and, in BWD_D, dx of the task stays in the cache. */
static void choose_chunks(im2col_plan *m, cnn_dir dir, int64_t want, int64_t budget)
{
    const int64_t rows = m->group_ic * m->taps, groups = m->d.g * (dir == CNN_BWD_D ? m->bundles : 1);
    int64_t least = 1;
    if (dir == CNN_BWD_D) least = cpu_ceil_div(m->group_ic * m->in_pixels * m->lanes, budget);
    if (dir == CNN_BWD_W) least = cpu_ceil_div(rows, MOST_ROWS);
    const int64_t useful = cpu_power_of_two(cpu_min(cpu_ceil_div(want, groups), rows / LEAST_ROWS));
    const int64_t chunks = dir == CNN_FWD ? 1 : cpu_clamp(cpu_max(least, useful), 1, m->group_ic);
    m->chunk = cpu_ceil_div(m->group_ic, chunks);
    m->chunks = cpu_ceil_div(m->group_ic, m->chunk);
}

/* Output pixels of a block: what the budget holds, not so few that products grow thin, even in size. */
static void choose_blocks(im2col_plan *m, cnn_dir dir, int64_t want, int64_t budget)
{
    const int64_t least = cpu_min(cpu_ceil_div(LEAST_WIDTH, m->lanes), m->out_pixels);
    const int64_t small = SMALL_PRODUCT / m->group_oc / (m->piece * m->lanes);
    int64_t most = cpu_clamp(budget / (m->chunk * m->taps * m->lanes), 1, m->out_pixels);
    if (m->isa == CPU_ISA_AVX512 && small >= least) most = cpu_min(most, small);
    int64_t blocks = cpu_ceil_div(m->out_pixels, cpu_max(most, least));
    if (dir != CNN_BWD_D) {
        if (dir == CNN_BWD_W)
            want = cpu_min(want, m->d.g * m->chunks * cpu_max(m->d.mb * m->out_pixels / PART_WIDTH, 1));
        const int64_t useful = cpu_ceil_div(want, m->bundles * m->d.g * m->chunks);
        blocks = cpu_max(blocks, cpu_power_of_two(cpu_min(useful, cpu_ceil_div(m->out_pixels, least))));
    }
    m->block_pixels = cpu_ceil_div(m->out_pixels, blocks);
    m->blocks = cpu_ceil_div(m->out_pixels, m->block_pixels);
}

/* BWD_W: into how many sums the (bundle, block) pairs are split. */
static int64_t choose_parts(const im2col_plan *m, int64_t want, int64_t weights)
{
    const int64_t most = cpu_min(m->d.mb * m->out_pixels / PART_WIDTH, MOST_PARTIAL / weights);
    return cpu_clamp(want / (m->d.g * m->chunks), 1, cpu_clamp(most, 1, m->bundles * m->blocks));
}

static void choose_cut(int64_t block_kib, cnn_dir dir, im2col_plan *m)
{
    const cnn_conv_desc *d = &m->d;
    const int64_t weights = d->oc * m->group_ic * m->taps;
    const int64_t want = cpu_task_count((double)weights * (double)d->mb * (double)m->out_pixels, MOST_TASKS);
    const int64_t budget = block_kib * 1024 / m->elem;
    m->lanes = choose_lanes(m);
    m->bundles = cpu_ceil_div(d->mb, m->lanes);
    m->pack = m->lanes > 1 || d->t.layout == CNN_NHWC;
    m->split = m->pack && d->sw > 1;
    choose_chunks(m, dir, want, budget);
    m->piece = dir == CNN_BWD_W ? choose_piece(m) : m->chunk * m->taps;
    choose_blocks(m, dir, want, budget);
    m->parts = dir == CNN_BWD_W ? choose_parts(m, want, weights) : 1;
    const int64_t pieces = dir == CNN_FWD ? m->bundles * m->blocks : (dir == CNN_BWD_D ? m->bundles : m->parts);
    m->tasks = d->g * pieces * m->chunks;
}

/* Takes a piece of count * each elements; where it begins, in bytes. */
static int64_t area(const im2col_plan *m, cpu_arena *arena, int64_t count, int64_t each)
{
    const int64_t at = arena->used;
    cpu_take(arena, count, each, (size_t)m->elem);
    return at;
}

/* The workspace: what is packed, BWD_W's partial sums, and for each worker a block of columns and a packed result. */
static bool lay_out(const cpu_context *cpu, cnn_dir dir, im2col_plan *m)
{
    const cnn_conv_desc *d = &m->d;
    const bool x = m->pack && dir != CNN_BWD_D, y = m->pack && dir != CNN_FWD;
    const int64_t rows = m->chunk * m->taps, width = m->block_pixels * m->lanes;
    const int64_t channels = dir == CNN_FWD ? m->group_oc : dir == CNN_BWD_D ? m->chunk : 0;
    cpu_arena all = {0}, scratch = {0};
    m->x_start = area(m, &all, x ? d->mb : 0, d->ic * m->in_pixels);
    m->y_start = area(m, &all, y ? d->mb : 0, d->oc * m->out_pixels);
    m->partial_start = area(m, &all, m->parts > 1 ? m->parts : 0, d->oc * (m->group_ic * m->taps + 1));
    area(m, &scratch, m->pointwise ? 0 : rows, width);
    m->result_at = area(m, &scratch, m->pack ? channels : 0, dir == CNN_FWD ? width : m->in_pixels * m->lanes);
    m->scratch_stride = scratch.used;
    m->scratch_start = all.used;
    cpu_take(&all, cpu->threads, m->scratch_stride, 1);
    m->bytes = all.used;
    return !all.overflow && !scratch.overflow;
}

static cnn_status check(const cnn_conv_desc *d, cnn_error *err)
{
    const int64_t in_pixels = d->id * d->ih * d->iw, out_pixels = d->od * d->oh * d->ow, lanes = IM2COL_MAX_LANES;
    cnn_status status =
        cpu_fits_blas("a filter (channels of a group x taps)", d->ic / d->g, d->kd * d->kh * d->kw, err);
    if (status == CNN_OK) status = cpu_fits_blas("a packed input channel (pixels x lanes)", in_pixels, lanes, err);
    if (status == CNN_OK) status = cpu_fits_blas("a packed output channel (pixels x lanes)", out_pixels, lanes, err);
    if (status == CNN_OK) status = cpu_fits_blas("the count of channels", cpu_max(d->ic, d->oc), 1, err);
    return status;
}

cnn_status im2col_plan_make(const cpu_context *cpu, const cnn_request *r, void **state, size_t *bytes, cnn_error *err)
{
    const cnn_conv_desc all = cnn_with_depth(r->problem), *d = &all;
    im2col_plan plan = {.d = *d, .dtype = d->t.dtype, .isa = cpu->isa, .elem = (int64_t)cnn_dtype_size(d->t.dtype)};
    im2col_plan *m = &plan;
    const cnn_status status = check(d, err);
    if (status != CNN_OK) return status;
    m->group_ic = d->ic / d->g, m->group_oc = d->oc / d->g, m->taps = d->kd * d->kh * d->kw;
    m->in_pixels = d->id * d->ih * d->iw, m->out_pixels = d->od * d->oh * d->ow;
    m->pointwise = m->taps == 1 && d->sd == 1 && d->sh == 1 && d->sw == 1 && d->pd == 0 && d->ph == 0 && d->pw == 0 &&
                   d->od == d->id && d->oh == d->ih && d->ow == d->iw;
    choose_cut(r->knobs[CPU_KNOB_IM2COL_BLOCK], r->dir, m);
    if (!lay_out(cpu, r->dir, m))
        return CNN_FAIL(err, CNN_UNSUPPORTED, "the workspace of an im2col convolution of %lld images overflows",
                        (long long)d->mb);
    const double images = (double)d->mb * (double)(d->ic * m->in_pixels + d->oc * m->out_pixels) * (double)m->elem;
    if ((double)m->bytes > 0x1p30 + 1024 * images) /* a large block for each of many workers */
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "im2col would need %lld bytes of workspace, out of proportion to this problem: take a smaller "
                        "im2col.block_kib, or fewer threads",
                        (long long)m->bytes);
    *bytes = (size_t)m->bytes;
    if (!state) return CNN_OK;
    if (!(*state = malloc(sizeof plan))) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a plan of im2col");
    memcpy(*state, &plan, sizeof plan);
    return CNN_OK;
}
