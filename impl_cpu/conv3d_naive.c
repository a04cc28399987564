/* conv3d_naive.c: the defining loops of the convolution of three dimensions, in the dtype itself.
 *
 * They are those of conv_naive.c with rows of all depths counted together: which row of x an output row reads by a row
 * of taps, row_of() says. Each task owns what it writes, and every sum is made in one order. conv3d_naive.inc holds the
 * loops; it is included once for each dtype. */
#include "harness/cnn/shape.h"
#include "impl_cpu/cpu.h"

typedef struct naive3d {
    const cnn_conv_desc *d;
    const cnn_weighted_args *a;
    int64_t ih, oh, kh; /* rows of all depths */
    cpu_epilogue epilogue;
} naive3d;

static inline bool inside(int64_t at, int64_t size) { return at >= 0 && at < size; }

/* -1: it lies outside. */
static inline int64_t row_of(const cnn_conv_desc *d, int64_t p, int64_t i)
{
    const int64_t z = p / d->oh * d->sd + i / d->kh * (d->dd + 1) - d->pd;
    const int64_t h = p % d->oh * d->sh + i % d->kh * (d->dh + 1) - d->ph;
    return inside(z, d->id) && inside(h, d->ih) ? z * d->ih + h : -1;
}
static inline int64_t col_of(const cnn_conv_desc *d, int64_t q, int64_t j)
{
    return q * d->sw + j * (d->dw + 1) - d->pw;
}

/* Where the operands' elements lie. `c` of a weight counts within its group. */
static inline int64_t in_at(const naive3d *t, int64_t n, int64_t c, int64_t h, int64_t w)
{
    return cnn_offset(t->d->t.layout, t->d->ic, t->ih, t->d->iw, n, c, h, w);
}
static inline int64_t out_at(const naive3d *t, int64_t n, int64_t k, int64_t p, int64_t q)
{
    return cnn_offset(t->d->t.layout, t->d->oc, t->oh, t->d->ow, n, k, p, q);
}
static inline int64_t weight_at(const naive3d *t, int64_t k, int64_t c, int64_t i, int64_t j)
{
    if (t->d->flip) i = t->kh - 1 - i, j = t->d->kw - 1 - j;
    return ((k * (t->d->ic / t->d->g) + c) * t->kh + i) * t->d->kw + j;
}

#define KERNELS "impl_cpu/conv3d_naive.inc"
#include "for_each_real.inc"

static void run(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *a)
{
    static parallel_body *const bodies[CNN_DIR_COUNT][CNN_DTYPE_COUNT] = {
        [CNN_FWD] = {fwd_row_float, fwd_row_double},
        [CNN_BWD_D] = {bwd_data_channel_float, bwd_data_channel_double},
        [CNN_BWD_W] = {bwd_weights_slice_float, bwd_weights_slice_double}};
    const cnn_conv_desc *d = &plan->problem.u.conv;
    naive3d arg = {d, a, d->id * d->ih, d->od * d->oh, d->kd * d->kh, cpu_epilogue_of(cpu, plan, a)};
    const int64_t tasks[CNN_DIR_COUNT] = {d->mb * d->oc * arg.oh, d->mb * d->ic, d->oc * (d->ic / d->g)};
    parallel_for(cpu->pool, tasks[plan->dir], bodies[plan->dir][d->t.dtype], &arg);
}

const cpu_kernels cpu_conv3d_naive = {run, NULL, NULL};
