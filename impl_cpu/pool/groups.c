/* groups.c: a row of outputs in groups of up to CPU_LANES, which a vector can work on at once: in NHWC the channels of
 * a pixel, in NCHW neighbours in a row. All windows of a group have the same taps inside the image (all of them, but
 * for the border, where an NCHW group is one output), so the inner loops need no test for the border. */
#include "harness/cnn/shape.h"
#include "impl_cpu/pool/pool.h"
#include "impl_cpu/vector.h"

#include <math.h>

/* A group of outputs. The offsets are lane 0's; `in` is that of the first tap that lies inside. */
typedef struct pool_group {
    int lanes;
    int64_t in, out;
    int64_t step;                           /* elements from one lane's window to the next lane's */
    int64_t slices, rows, cols;             /* taps inside the image */
    int64_t slice_step, row_step, col_step; /* elements from one tap to the next */
    double divisor;                         /* of an average */
    /* Where the walk over the row is. */
    cpu_block plane;
    int64_t plane_out, r, p, q; /* offset of the plane in y; the output after this group */
    int64_t left;               /* channels of these outputs from this group's first on; 0 in NCHW */
    pool_span slices_inside, rows_inside, inner;
} pool_group;

static inline pool_group first_group(const pool_job *job, int64_t plane, int64_t row)
{
    const cnn_pool_desc *d = job->desc;
    const int64_t pixel = d->t.layout == CNN_NCHW ? 1 : d->ic, r = row / d->oh, p = row % d->oh;
    return (pool_group){.step = d->t.layout == CNN_NCHW ? d->sw : 1,
                        .slice_step = (d->dd + 1) * d->ih * d->iw * pixel,
                        .row_step = (d->dh + 1) * d->iw * pixel,
                        .col_step = (d->dw + 1) * pixel,
                        .plane = pool_block(job, plane, d->id * d->ih * d->iw),
                        .plane_out = pool_block(job, plane, d->od * d->oh * d->ow).offset,
                        .r = r,
                        .p = p,
                        .slices_inside = pool_taps_inside(r, d->id, d->kd, d->sd, d->pd, d->dd),
                        .rows_inside = pool_taps_inside(p, d->ih, d->kh, d->sh, d->ph, d->dh),
                        .inner = pool_inner_outputs(d)};
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

/* Moves on to the next group of the row; false after the last. */
static inline bool next_group(const pool_job *job, pool_group *g)
{
    const cnn_pool_desc *d = job->desc;
    const int64_t pixel = d->t.layout == CNN_NCHW ? 1 : d->ic;
    if (next_channels(g)) return true;
    if (g->q == d->ow) return false;
    const bool inner = g->q >= g->inner.first && g->q < g->inner.last;
    const pool_span slices = g->slices_inside, rows = g->rows_inside;
    const pool_span cols = pool_taps_inside(g->q, d->iw, d->kw, d->sw, d->pw, d->dw);
    int64_t outputs = inner && d->t.layout == CNN_NCHW ? g->inner.last - g->q : 1;
    if (outputs > CPU_LANES) outputs = CPU_LANES;
    g->lanes = d->t.layout == CNN_NCHW ? (int)outputs : (int)cpu_min(CPU_LANES, g->plane.width);
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

typedef void pool_groups(const pool_job *, int64_t plane, int64_t row);
#define GROUPS(f) CPU_VARIANTS_OF(pool_groups, f, (const pool_job *job, int64_t plane, int64_t row), job, plane, row)

#define KERNELS "impl_cpu/pool/groups.inc"
#include "impl_cpu/for_each_real.inc"

void pool_row_by_groups(const pool_job *job, int64_t plane, int64_t row)
{
    pool_groups *const *variants = job->desc->t.dtype == CNN_F32 ? groups_float_variants : groups_double_variants;
    variants[job->isa](job, plane, row);
}
