/* batchnorm.c: batch normalisation in training and inference.
 *
 * A task is a block of channels over the whole batch (block.h): mean, variance and result in one go, no sums across
 * tasks. Sums and the arithmetic on them are double for f32 too; the variance is taken about the mean in a second pass,
 * since the difference of two large sums would lose its digits. */
#include "block.h"

#include <math.h>

typedef struct batchnorm_job {
    cpu_work work; /* blocks */
    const cnn_batchnorm_desc *desc;
    const cnn_batchnorm_args *args;
} batchnorm_job;

CPU_INLINE cpu_block batchnorm_block(const cnn_batchnorm_desc *d, int64_t b)
{
    return cpu_block_at(d->t.layout, d->ic, d->ih * d->iw, 0, d->mb, b);
}

#define KERNELS "batchnorm.inc"
#include "for_each_real.inc"

/* Three passes of a few operations in double. */
cnn_status cpu_batchnorm(cnn_context *context, const cnn_plan *plan, const cnn_batchnorm_args *args, cnn_error *err)
{
    const cnn_batchnorm_desc *d = &plan->problem.u.batchnorm;
    if (cnn_is_half(d->t.dtype)) return cpu_half_batchnorm(context, plan, args, err);
    const int64_t blocks = cpu_block_count(d->t.layout, d->ic);
    const int64_t elements = d->mb * d->ih * d->iw * (d->t.layout == CNN_NCHW ? 1 : CPU_LANES);
    batchnorm_job job = {.work = cpu_items(blocks, elements * 8), .desc = d, .args = args};
    if (plan->dir == CNN_FWD)
        CPU_RUN(context, d->t.dtype, batchnorm_fwd, &job);
    else
        CPU_RUN(context, d->t.dtype, batchnorm_bwd, &job);
    return CNN_OK;
}
