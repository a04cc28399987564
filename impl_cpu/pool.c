/* pool.c: max, average and global average pooling.
 *
 * A task works on planes: in NCHW a channel of an image; in NHWC up to CPU_LANES channels of one, side by side. Windows
 * that overlap lie in the same plane, so no two tasks add to the same gradient.
 *
 * A plane's outputs are cut into segments: stretches of a row whose windows have the same taps inside the image (all of
 * them, but for the border, where a segment is one output). So the inner loops need no test for the border. */
#include "block.h"

#include <math.h>

typedef struct pool_job {
    const cnn_pool_desc *desc;
    const void *x, *dy;
    void *out; /* y or dx */
    int64_t blocks, tasks;
} pool_job;

/* Outputs [q0, q1) of row p, and their taps inside the image, [i0, i1) x [j0, j1). */
typedef struct pool_segment {
    int64_t p, q0, q1, i0, i1, j0, j1;
} pool_segment;

/* A pixel is `pixel` elements from the next; `lanes` channels of it belong to the plane. */
typedef struct pool_plane {
    int64_t in, out; /* offsets of its first element in x and in y */
    int64_t pixel;
    int lanes;
} pool_plane;

static inline int64_t ceil_div(int64_t a, int64_t b) { return a <= 0 ? 0 : (a + b - 1) / b; }

/* The taps t of a kernel of k at output o that fall inside: 0 <= o*s - p + t*(d+1) < i. */
static inline cpu_span taps_inside(int64_t o, int64_t i, int64_t k, int64_t s, int64_t p, int64_t d)
{
    const int64_t start = o * s - p;
    cpu_span taps = {ceil_div(-start, d + 1), ceil_div(i - start, d + 1)};
    if (taps.last > k) taps.last = k;
    if (taps.first > taps.last) taps.first = taps.last;
    return taps;
}

/* The segment of row p that begins at q0. */
static inline pool_segment segment_at(const cnn_pool_desc *d, int64_t p, int64_t q0)
{
    const cpu_span rows = taps_inside(p, d->ih, d->kh, d->sh, d->ph, d->dh);
    const cpu_span cols = taps_inside(q0, d->iw, d->kw, d->sw, d->pw, d->dw);
    pool_segment s = {p, q0, q0 + 1, rows.first, rows.last, cols.first, cols.last};
    if (cols.last - cols.first == d->kw) { /* up to the last output whose last tap is inside */
        const int64_t slack = d->iw - 1 - (d->kw - 1) * (d->dw + 1) + d->pw;
        s.q1 = slack / d->sw + 1 < d->ow ? slack / d->sw + 1 : d->ow;
    }
    return s;
}

/* Pixel (row, column) that tap (i, j) of output (p, q) reads, counted from the plane's first. */
static inline int64_t tap_pixel(const cnn_pool_desc *d, int64_t p, int64_t q, int64_t i, int64_t j)
{
    return (p * d->sh - d->ph + i * (d->dh + 1)) * d->iw + q * d->sw - d->pw + j * (d->dw + 1);
}

static inline pool_plane plane_at(const pool_job *job, int64_t index)
{
    const cnn_pool_desc *d = job->desc;
    const int64_t n = index / job->blocks, b = index % job->blocks;
    const cpu_block in = cpu_block_at(d->t.layout, d->ic, d->ih * d->iw, n, 1, b);
    const cpu_block out = cpu_block_at(d->t.layout, d->ic, d->oh * d->ow, n, 1, b);
    return (pool_plane){in.offset, out.offset, d->t.layout == CNN_NCHW ? 1 : d->ic, in.lanes};
}

/* What an average is divided by. */
static inline double divisor(const cnn_pool_desc *d, const pool_segment *s)
{
    return (double)(d->kind == CNN_POOL_AVG_PAD ? d->kh * d->kw : (s->i1 - s->i0) * (s->j1 - s->j0));
}

#define KERNELS "pool.inc"
#include "for_each_real.inc"

static pool_job make_job(const cnn_pool_desc *d)
{
    const int64_t blocks = cpu_block_count(d->t.layout, d->ic);
    const int64_t lanes = d->t.layout == CNN_NCHW ? 1 : CPU_LANES;
    const int64_t cost = d->kind == CNN_POOL_GLOBAL_AVG ? d->ih * d->iw : d->oh * d->ow * (d->kh * d->kw + 4) * 4;
    return (pool_job){.desc = d, .blocks = blocks, .tasks = cpu_tasks(d->mb * blocks, lanes * cost)};
}

cnn_status cpu_pool_fwd(cnn_context *context, const cnn_plan *plan, const cnn_map_fwd_args *args, cnn_error *err)
{
    const cnn_pool_desc *d = &plan->problem.u.pool;
    pool_job job = make_job(d);
    (void)err;
    job.x = args->x;
    job.out = args->y;
    cpu_run(context, job.tasks, d->t.dtype == CNN_F32 ? pool_fwd_float_variants : pool_fwd_double_variants, &job);
    return CNN_OK;
}

cnn_status cpu_pool_bwd(cnn_context *context, const cnn_plan *plan, const cnn_map_bwd_args *args, cnn_error *err)
{
    const cnn_pool_desc *d = &plan->problem.u.pool;
    pool_job job = make_job(d);
    (void)err;
    job.x = args->x;
    job.dy = args->dy;
    job.out = args->dx;
    cpu_run(context, job.tasks, d->t.dtype == CNN_F32 ? pool_bwd_float_variants : pool_bwd_double_variants, &job);
    return CNN_OK;
}
