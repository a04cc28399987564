/* pool.c: max, average and global average pooling, with a depth or without.
 *
 * A task works on planes: in NCHW a channel of an image; in NHWC blocks of up to CPU_LANES channels of one, side by
 * side: as many as leave work for all threads, for what is read then lies side by side, too. Windows that overlap lie
 * in the same plane, so no two tasks add to the same gradient. Forward nothing is added: there a plane of NHWC is cut
 * into rows, and has all blocks.
 *
 * A plane's outputs are taken in groups of up to CPU_LANES, which a vector can work on at once: in NHWC the channels of
 * a pixel, in NCHW neighbours in a row. All windows of a group have the same taps inside the image (all of them, but
 * for the border, where an NCHW group is one output), so the inner loops need no test for the border. */
#include "block.h"
#include "cpu.h"
#include "harness/cnn/shape.h"
#include "impl_cpu/pool/max.h"
#include "vector.h"

#include <math.h>

/* [first, last) */
typedef struct cpu_span {
    int64_t first, last;
} cpu_span;

typedef struct pool_job {
    cpu_work work; /* pieces of planes */
    const cnn_pool_desc *desc;
    const void *x, *dy;
    void *out;                  /* y or dx */
    int64_t blocks, cuts;       /* of a plane; pieces that each is cut into, by rows of y */
    int64_t planes;             /* of an image */
    const pool_kernels *beside; /* maxima, NHWC: of all channels of a pixel; else NULL */
} pool_job;

/* A group of outputs. The offsets are lane 0's; `in` is that of the first tap that lies inside. */
typedef struct pool_group {
    int lanes;
    int64_t in, out;
    int64_t step;                           /* elements from one lane's window to the next lane's */
    int64_t slices, rows, cols;             /* taps inside the image */
    int64_t slice_step, row_step, col_step; /* elements from one tap to the next */
    double divisor;                         /* of an average */
    /* Where the walk over the plane is. */
    cpu_block plane;
    int64_t plane_out, r, p, q; /* offset of the plane in y; the output after this group */
    int64_t row, last_row;      /* of outputs, of all depths; where the piece ends */
    int64_t left;               /* channels of these outputs from this group's first on; 0 in NCHW */
    cpu_span slices_inside, rows_inside, inner;
} pool_group;

/* The taps of output `o` that fall inside. */
static inline cpu_span taps_inside(int64_t o, int64_t i, int64_t k, int64_t s, int64_t p, int64_t d)
{
    cpu_span taps;
    cnn_tap_range(o, i, k, s, p, d, &taps.first, &taps.last);
    return taps;
}

/* The plane's part of x: its first block, and in NHWC as wide as all of its blocks. */
CPU_INLINE cpu_block pool_block(const pool_job *job, int64_t index)
{
    const cnn_pool_desc *d = job->desc;
    const int64_t plane = index / job->cuts, n = plane / job->planes, first = plane % job->planes * job->blocks;
    cpu_block block = cpu_block_at(d->t.layout, d->ic, d->id * d->ih * d->iw, n, 1, first);
    if (d->t.layout == CNN_NHWC) block.width = cpu_min(job->blocks * CPU_LANES, d->ic - block.channel);
    return block;
}

/* The outputs of a row whose windows lie wholly inside the image. */
static inline cpu_span inner_outputs(const cnn_pool_desc *d)
{
    const int64_t slack = d->iw - 1 - (d->kw - 1) * (d->dw + 1) + d->pw;
    cpu_span inner = {cpu_ceil_div(d->pw, d->sw), slack < 0 ? 0 : slack / d->sw + 1};
    if (inner.last > d->ow) inner.last = d->ow;
    return inner;
}

static inline pool_group first_group(const pool_job *job, int64_t index)
{
    const cnn_pool_desc *d = job->desc;
    const int64_t plane = index / job->cuts, n = plane / job->planes, first = plane % job->planes * job->blocks;
    const int64_t rows = d->od * d->oh, cut = index % job->cuts, pixel = d->t.layout == CNN_NCHW ? 1 : d->ic;
    return (pool_group){.step = d->t.layout == CNN_NCHW ? d->sw : 1,
                        .slice_step = (d->dd + 1) * d->ih * d->iw * pixel,
                        .row_step = (d->dh + 1) * d->iw * pixel,
                        .col_step = (d->dw + 1) * pixel,
                        .plane = pool_block(job, index),
                        .inner = inner_outputs(d),
                        .row = rows / job->cuts * cut,
                        .last_row = rows / job->cuts * (cut + 1),
                        .plane_out = cpu_block_at(d->t.layout, d->ic, rows * d->ow, n, 1, first).offset};
}

/* The next channels of the same outputs; false after the last. */
static inline bool next_channels(pool_group *g)
{
    if (g->left <= CPU_LANES) return false;
    g->left -= CPU_LANES;
    g->lanes = (int)cpu_min(CPU_LANES, g->left);
    g->in += CPU_LANES;
    g->out += CPU_LANES;
    return true;
}

/* Moves on to the next group of the piece; false after the last. */
static inline bool next_group(const pool_job *job, pool_group *g)
{
    const cnn_pool_desc *d = job->desc;
    const int64_t pixel = d->t.layout == CNN_NCHW ? 1 : d->ic;
    if (next_channels(g)) return true;
    if (g->q == d->ow) {
        g->q = 0;
        g->row++;
    }
    if (g->row == g->last_row) return false;
    if (g->q == 0) {
        g->r = g->row / d->oh;
        g->p = g->row % d->oh;
        g->slices_inside = taps_inside(g->r, d->id, d->kd, d->sd, d->pd, d->dd);
        g->rows_inside = taps_inside(g->p, d->ih, d->kh, d->sh, d->ph, d->dh);
    }
    const bool inner = g->q >= g->inner.first && g->q < g->inner.last;
    const cpu_span slices = g->slices_inside, rows = g->rows_inside;
    const cpu_span cols = inner ? (cpu_span){0, d->kw} : taps_inside(g->q, d->iw, d->kw, d->sw, d->pw, d->dw);
    int64_t outputs = inner && d->t.layout == CNN_NCHW ? g->inner.last - g->q : 1;
    if (outputs > CPU_LANES) outputs = CPU_LANES;
    g->lanes = d->t.layout == CNN_NCHW ? (int)outputs : g->plane.lanes;
    g->slices = slices.last - slices.first;
    g->rows = rows.last - rows.first;
    g->cols = cols.last - cols.first;
    g->divisor = (double)(d->kind == CNN_POOL_AVG_PAD ? d->kd * d->kh * d->kw : g->slices * g->rows * g->cols);
    const int64_t z = g->r * d->sd - d->pd + slices.first * (d->dd + 1);
    const int64_t h = g->p * d->sh - d->ph + rows.first * (d->dh + 1);
    const int64_t w = g->q * d->sw - d->pw + cols.first * (d->dw + 1);
    g->in = g->plane.offset + ((z * d->ih + h) * d->iw + w) * pixel;
    g->out = g->plane_out + ((g->r * d->oh + g->p) * d->ow + g->q) * pixel;
    g->q += outputs;
    g->left = d->t.layout == CNN_NCHW ? 0 : g->plane.width;
    return true;
}

/* Maxima are by vectors, of a size that every instruction set has: of a choice in a loop over lanes the compiler makes
 * branches, or goes through memory. A comparison is a mask of as many bits. */
enum { POOL_BYTES = 16, NEAR = 27 };
typedef float pool_vector_float __attribute__((vector_size(POOL_BYTES)));
typedef int32_t pool_mask_float __attribute__((vector_size(POOL_BYTES)));
typedef double pool_vector_double __attribute__((vector_size(POOL_BYTES)));
typedef int64_t pool_mask_double __attribute__((vector_size(POOL_BYTES)));

/* All channels of this group's pixel, of which it has the first ones; false: it is for the group's kernel. */
CPU_INLINE bool whole_pixel(const pool_job *job, pool_group *g, size_t size)
{
    const pool_pixel pixel = {g->left, g->slices, g->rows, g->cols, g->slice_step, g->row_step, g->col_step};
    const size_t in = (size_t)g->in * size, out = (size_t)g->out * size;
    const char *x = job->x, *dy = job->dy;
    char *result = job->out;
    if (dy != NULL)
        job->beside->back(&pixel, x + in, dy + out, result + in);
    else if (!job->beside->forward(&pixel, x + in, result + out))
        return false;
    g->left = 0;
    return true;
}

#define KERNELS "pool.inc"
#include "for_each_real.inc"

/* By the problem alone. */
static void choose_planes(pool_job *job, bool forward)
{
    enum { TASKS = 8 };
    const cnn_pool_desc *d = job->desc;
    const int64_t blocks = cpu_block_count(d->t.layout, d->ic);
    const bool beside = d->t.layout == CNN_NHWC && d->kind != CNN_POOL_GLOBAL_AVG;
    job->blocks = !beside ? 1 : forward ? blocks : cpu_clamp(d->mb * blocks / TASKS, 1, blocks);
    job->cuts = beside && forward ? d->od * d->oh : 1;
    job->planes = cpu_ceil_div(blocks, job->blocks);
}

static const pool_kernels *kernels_of(const cnn_context *context)
{
#if defined(__x86_64__)
    const cpu_isa isa = ((const cpu_context *)context)->isa;
    if (isa == CPU_ISA_AVX512) return pool_avx512;
    if (isa == CPU_ISA_AVX2) return pool_avx2;
#endif
    (void)context;
    return pool_base;
}

static void run(cnn_context *context, const cnn_problem *problem, pool_job job, bool forward)
{
    const cnn_pool_desc deep = cnn_pool_with_depth(problem), *d = &deep;
    const double taps =
        fmin((double)d->kd, (double)d->id) * fmin((double)d->kh, (double)d->ih) * fmin((double)d->kw, (double)d->iw);
    const double outputs = (double)d->od * (double)d->oh * (double)d->ow * (taps + 4) * 4;
    const double pixels = (double)d->id * (double)d->ih * (double)d->iw;
    const double cost = d->kind == CNN_POOL_GLOBAL_AVG ? pixels : outputs;
    job.desc = d;
    if (d->kind == CNN_POOL_MAX && d->t.layout == CNN_NHWC) job.beside = &kernels_of(context)[d->t.dtype];
    choose_planes(&job, forward);
    const double lanes = d->t.layout == CNN_NCHW ? 1 : (double)(job.blocks * CPU_LANES);
    job.work = cpu_items(d->mb * job.planes * job.cuts, (int64_t)fmin(lanes * cost / (double)job.cuts, 1e15));
    if (forward)
        CPU_RUN(context, d->t.dtype, pool_fwd, &job);
    else
        CPU_RUN(context, d->t.dtype, pool_bwd, &job);
}

cnn_status cpu_pool_fwd(cnn_context *context, const cnn_plan *plan, const cnn_map_fwd_args *args, cnn_error *err)
{
    if (cnn_is_half(plan->problem.u.type.dtype)) return cpu_half_map_fwd(context, plan, args, cpu_pool_fwd, err);
    run(context, &plan->problem, (pool_job){.x = args->x, .out = args->y}, true);
    return CNN_OK;
}

cnn_status cpu_pool_bwd(cnn_context *context, const cnn_plan *plan, const cnn_map_bwd_args *args, cnn_error *err)
{
    if (cnn_is_half(plan->problem.u.type.dtype)) return cpu_half_map_bwd(context, plan, args, cpu_pool_bwd, err);
    run(context, &plan->problem, (pool_job){.x = args->x, .dy = args->dy, .out = args->dx}, false);
    return CNN_OK;
}
