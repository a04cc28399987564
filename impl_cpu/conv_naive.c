/* conv_naive.c: the defining loops of convolution (thesis eq. 3.5 to 3.10), as they stand, in the dtype itself.
 *
 * Nothing here is clever: each task owns what it writes (an output row, an input channel of one image, one filter's
 * slice of a channel), so tasks never meet and every sum is made in one order. conv_naive.inc holds the loops; it is
 * included once for each dtype. */
#include "harness/cnn/shape.h"
#include "impl_cpu/cpu.h"

typedef struct naive {
    const cnn_conv_desc *d;
    const cnn_weighted_args *a;
    cpu_epilogue epilogue;
} naive;

/* Where the operands' elements lie. `c` of a weight counts within its group. */
static inline int64_t in_at(const cnn_conv_desc *d, int64_t n, int64_t c, int64_t h, int64_t w)
{
    return cnn_offset(d->t.layout, d->ic, d->ih, d->iw, n, c, h, w);
}
static inline int64_t out_at(const cnn_conv_desc *d, int64_t n, int64_t k, int64_t p, int64_t q)
{
    return cnn_offset(d->t.layout, d->oc, d->oh, d->ow, n, k, p, q);
}
static inline int64_t weight_at(const cnn_conv_desc *d, int64_t k, int64_t c, int64_t i, int64_t j)
{
    if (d->flip) i = d->kh - 1 - i, j = d->kw - 1 - j;
    return ((k * (d->ic / d->g) + c) * d->kh + i) * d->kw + j;
}
/* The input row (column) that tap i of output row (column) p reads, which may lie outside. */
static inline int64_t row_of(const cnn_conv_desc *d, int64_t p, int64_t i)
{
    return p * d->sh + i * (d->dh + 1) - d->ph;
}
static inline int64_t col_of(const cnn_conv_desc *d, int64_t q, int64_t j)
{
    return q * d->sw + j * (d->dw + 1) - d->pw;
}
static inline bool inside(int64_t at, int64_t size) { return at >= 0 && at < size; }

#define KERNELS "impl_cpu/conv_naive.inc"
#include "for_each_real.inc"

static void run(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *a)
{
    static parallel_body *const bodies[CNN_DIR_COUNT][CNN_DTYPE_COUNT] = {
        [CNN_FWD] = {fwd_row_float, fwd_row_double},
        [CNN_BWD_D] = {bwd_data_channel_float, bwd_data_channel_double},
        [CNN_BWD_W] = {bwd_weights_slice_float, bwd_weights_slice_double}};
    const cnn_conv_desc *d = &plan->problem.u.conv;
    const int64_t tasks[CNN_DIR_COUNT] = {d->mb * d->oc * d->oh, d->mb * d->ic, d->oc * (d->ic / d->g)};
    naive arg = {d, a, cpu_epilogue_of(cpu, plan, a)};
    parallel_for(cpu->pool, tasks[plan->dir], bodies[plan->dir][d->t.dtype], &arg);
}

const cpu_kernels cpu_conv_naive = {run, NULL, NULL};
