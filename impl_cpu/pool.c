/* pool.c: max, average and global average pooling, with a depth or without.
 *
 * A task works on planes: in NCHW a channel of an image; in NHWC blocks of up to CPU_LANES channels of one, side by
 * side: as many as leave work for all threads, for what is read then lies side by side, too. Windows that overlap lie
 * in the same plane, so no two tasks add to the same gradient. Forward nothing is added: there a plane of NHWC is cut
 * into rows, and has all blocks.
 *
 * A plane's outputs are taken a row at a time, in order, by the kernels in pool/ for this instruction set; or by groups
 * (pool/groups.c), where a row has a NaN or an infinity, or is longer than those kernels have room for. */
#include "impl_cpu/pool/pool.h"
#include "harness/cnn/shape.h"
#include "ops.h"

#include <math.h>

/* Of an instruction set whose vectors the channels fill. */
static const pool_kernels *kernels_of(const pool_job *job, int64_t channels)
{
    const cnn_dtype dtype = job->desc->t.dtype;
#if defined(__x86_64__)
    const pool_kernels *of[] = {pool_base, pool_avx2, pool_avx512};
    int isa = (int)job->isa;
    while (isa > 0 && job->desc->t.layout == CNN_NHWC && channels < of[isa][dtype].lanes) isa--;
    return &of[isa][dtype];
#else
    (void)channels;
    return &pool_base[dtype];
#endif
}

/* pool_rows.columns, for each output; false: a row is longer than the kernels of NCHW have room for. */
static bool count_columns(const pool_job *job, void *columns)
{
    const cnn_pool_desc *d = job->desc;
    const bool max = d->kind == CNN_POOL_MAX;
    if (d->t.layout == CNN_NHWC) return true;
    if ((d->ow - 1) * d->sw + (d->kw - 1) * (d->dw + 1) + 1 > POOL_SPAN) return false;
    for (int64_t q = 0; q < d->ow + CPU_LANES; q++) {
        const pool_span cols = pool_taps_inside(q, d->iw, d->kw, d->sw, d->pw, d->dw);
        const int64_t value = q >= d->ow ? 1 : max ? cols.first : cols.last - cols.first;
        if (d->t.dtype == CNN_F32 && max)
            ((int32_t *)columns)[q] = (int32_t)value;
        else if (d->t.dtype == CNN_F32)
            ((float *)columns)[q] = (float)value;
        else if (max)
            ((int64_t *)columns)[q] = value;
        else
            ((double *)columns)[q] = (double)value;
    }
    return true;
}

/* p + count elements; NULL stays. */
static const void *at(const pool_job *job, const void *p, int64_t count)
{
    return p == NULL ? NULL : cpu_at_const(job->desc->t.dtype, p, count);
}

/* A plane, and the kernel for its rows. */
typedef struct pool_place {
    int64_t plane, in, out; /* its first elements, of x and of y */
    pool_rows_run *run;
} pool_place;

static pool_place place_of(const pool_job *job, pool_rows *r, int64_t plane)
{
    const cnn_pool_desc *d = job->desc;
    const cpu_block block = pool_block(job, plane, d->id * d->ih * d->iw);
    r->channels = d->t.layout == CNN_NCHW ? 1 : block.width;
    const pool_kernels *of = kernels_of(job, r->channels);
    return (pool_place){.plane = plane,
                        .in = block.offset,
                        .out = pool_block(job, plane, d->od * d->oh * d->ow).offset,
                        .run = (d->kind == CNN_POOL_MAX ? of->max : of->mean)[d->t.layout][job->forward ? 0 : 1]};
}

/* Outputs of an axis whose taps are all inside, from `o` on, `most` of them; or just this one. */
static int64_t alike(int64_t o, int64_t most, int64_t i, int64_t k, int64_t s, int64_t p, int64_t d)
{
    int64_t count = 1, last = o * s - p + (k - 1) * (d + 1);
    if (o * s < p) return 1;
    while (count < most && (last += s) < i) count++;
    return count;
}

/* Up to `most` rows of outputs, of all depths, from `row` on. How many are done. */
static int64_t run_rows(const pool_job *job, const pool_place *place, pool_rows *r, int64_t row, int64_t most)
{
    const cnn_pool_desc *d = job->desc;
    const int64_t pixel = d->t.layout == CNN_NCHW ? 1 : d->ic, pixels = d->id * d->ih * d->iw;
    const int64_t depth = d->od == 1 ? 0 : row / d->oh, high = row - depth * d->oh;
    const pool_span slices = pool_taps_inside(depth, d->id, d->kd, d->sd, d->pd, d->dd);
    const pool_span rows = pool_taps_inside(high, d->ih, d->kh, d->sh, d->ph, d->dh);
    const int64_t z = depth * d->sd - d->pd + slices.first * (d->dd + 1);
    const int64_t h = high * d->sh - d->ph + rows.first * (d->dh + 1);
    const int64_t first = (z * d->ih + h) * d->iw, in = place->in + first * pixel;
    const int64_t out = place->out + row * d->ow * pixel;
    r->count = alike(high, cpu_min(most, d->oh - high), d->ih, d->kh, d->sh, d->ph, d->dh);
    r->slices = slices.last - slices.first;
    r->rows = rows.last - rows.first;
    r->divisor = (double)(r->padded ? d->kd * d->kh * d->kw : r->slices * r->rows);
    r->readable = d->mb * d->ic * pixels - in;
    r->writable = job->forward ? (d->od * d->oh - row) * d->ow : pixels - first;
    void *to = cpu_at(d->t.dtype, job->out, job->forward ? out : in);
    const int64_t done = place->run(r, at(job, job->x, in), at(job, job->dy, out), to);
    if (done > 0) return done;
    pool_row_by_groups(job, place->plane, row);
    return 1;
}

static void clear_plane(const pool_job *job, int64_t plane)
{
    const cnn_pool_desc *d = job->desc;
    const cpu_block b = pool_block(job, plane, d->id * d->ih * d->iw);
    for (int64_t run = 0; run < b.runs; run++)
        memset(cpu_at(d->t.dtype, job->out, b.offset + run * b.stride), 0,
               (size_t)b.width * cnn_dtype_size(d->t.dtype));
}

static void windows(const void *arg, cpu_share share)
{
    const pool_job *job = arg;
    const cnn_pool_desc *d = job->desc;
    const int64_t rows = d->od * d->oh, last = share.last * job->item_rows, first = share.first * job->item_rows;
    const int64_t pixel = d->t.layout == CNN_NCHW ? 1 : d->ic;
    const pool_span inner = pool_inner_outputs(d);
    double columns[POOL_SPAN + CPU_LANES];
    const bool fits = count_columns(job, columns);
    pool_rows r = {.desc = d,
                   .slice_step = (d->dd + 1) * d->ih * d->iw * pixel,
                   .row_step = (d->dh + 1) * d->iw * pixel,
                   .col_step = (d->dw + 1) * pixel,
                   .in_step = d->sh * d->iw * pixel,
                   .out_step = d->ow * pixel,
                   .first_inner = inner.first,
                   .last_inner = inner.last,
                   .padded = d->kind == CNN_POOL_AVG_PAD,
                   .columns = columns};
    pool_place place = {0};
    for (int64_t i = first, row = first % rows, done; i < last; i += done) {
        if (i == first || row == 0) place = place_of(job, &r, i / rows);
        if (!job->forward && row == 0) clear_plane(job, place.plane);
        done = fits ? run_rows(job, &place, &r, row, cpu_min(last - i, rows - row)) : 1;
        if (!fits) pool_row_by_groups(job, place.plane, row);
        row = row + done == rows ? 0 : row + done;
    }
}

static void global_means(const void *arg, cpu_share share)
{
    const pool_job *job = arg;
    const cnn_pool_desc *d = job->desc;
    const int64_t pixels = d->id * d->ih * d->iw;
    const void *from = job->forward ? job->x : job->dy;
    for (int64_t plane = share.first; plane < share.last; plane++) {
        const cpu_block x = pool_block(job, plane, pixels), y = pool_block(job, plane, 1);
        const int64_t channels = d->t.layout == CNN_NCHW ? share.last - plane : x.width;
        const int64_t in = job->forward ? x.offset : y.offset, out = job->forward ? y.offset : x.offset;
        kernels_of(job, channels)
            ->global[d->t.layout][job->forward ? 0 : 1](channels, pixels, d->ic, at(job, from, in),
                                                        cpu_at(d->t.dtype, job->out, out));
        if (d->t.layout == CNN_NCHW) return; /* they lie one behind the other */
    }
}

/* By the problem alone. */
static void choose_planes(pool_job *job)
{
    enum { TASKS = 8 };
    const cnn_pool_desc *d = job->desc;
    const bool global = d->kind == CNN_POOL_GLOBAL_AVG, deep = d->t.layout == CNN_NHWC;
    const int64_t blocks = cpu_block_count(d->t.layout, d->ic), rows = global ? 1 : d->od * d->oh;
    const bool by_rows = deep && job->forward && !global;
    job->blocks = !deep ? 1 : by_rows ? blocks : cpu_clamp(d->mb * blocks / TASKS, 1, blocks);
    job->item_rows = by_rows ? 1 : rows;
    job->planes = cpu_ceil_div(blocks, job->blocks);
}

static void run(cnn_context *context, const cnn_problem *problem, pool_job job)
{
    const cpu_context *cpu = (const void *)context;
    const cnn_pool_desc deep = cnn_pool_with_depth(problem), *d = &deep;
    const bool global = d->kind == CNN_POOL_GLOBAL_AVG;
    const double taps =
        fmin((double)d->kd, (double)d->id) * fmin((double)d->kh, (double)d->ih) * fmin((double)d->kw, (double)d->iw);
    const double outputs = (double)d->od * (double)d->oh * (double)d->ow * (taps + 4) * 2;
    const double pixels = (double)d->id * (double)d->ih * (double)d->iw;
    job.desc = d;
    job.isa = cpu->isa;
    choose_planes(&job);
    const int64_t rows = global ? 1 : d->od * d->oh, items = d->mb * job.planes * (rows / job.item_rows);
    const double lanes = d->t.layout == CNN_NCHW ? 1 : (double)(job.blocks * CPU_LANES);
    const double cost = lanes * (global ? pixels : outputs) / (double)rows * (double)job.item_rows;
    job.work = cpu_items(items, (int64_t)fmin(cost, 1e15));
    job.work.kernel = global ? global_means : windows;
    parallel_for(cpu->pool, job.work.tasks, cpu_run_share, &job);
}

cnn_status cpu_pool_fwd(cnn_context *context, const cnn_plan *plan, const cnn_map_fwd_args *args, cnn_error *err)
{
    if (cnn_is_half(plan->problem.u.type.dtype)) return cpu_half_map_fwd(context, plan, args, cpu_pool_fwd, err);
    run(context, &plan->problem, (pool_job){.x = args->x, .out = args->y, .forward = true});
    return CNN_OK;
}

cnn_status cpu_pool_bwd(cnn_context *context, const cnn_plan *plan, const cnn_map_bwd_args *args, cnn_error *err)
{
    if (cnn_is_half(plan->problem.u.type.dtype)) return cpu_half_map_bwd(context, plan, args, cpu_pool_bwd, err);
    run(context, &plan->problem, (pool_job){.x = args->x, .dy = args->dy, .out = args->dx});
    return CNN_OK;
}
