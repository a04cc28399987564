/* bias.c: the bias of a transposed convolution, whose y has the shape of the convolution's x: added, and its gradient.
 * A task is a block of channels over the whole batch (block.h), summed in double as in batchnorm.c. */
#include "block.h"

typedef struct bias_job {
    cpu_work work; /* blocks */
    const cnn_conv_desc *desc;
    const cnn_bias_args *args;
} bias_job;

CPU_INLINE cpu_block bias_block(const cnn_conv_desc *d, int64_t b)
{
    return cpu_block_at(d->t.layout, d->ic, d->ih * d->iw, 0, d->mb, b);
}

#define KERNELS "bias.inc"
#include "for_each_real.inc"

static bias_job job_of(const cnn_plan *plan, const cnn_bias_args *args)
{
    const cnn_conv_desc *d = &plan->problem.u.conv;
    const int64_t elements = d->mb * d->ih * d->iw * (d->t.layout == CNN_NCHW ? 1 : CPU_LANES);
    return (bias_job){cpu_items(cpu_block_count(d->t.layout, d->ic), elements), d, args};
}

cnn_status cpu_bias_add(cnn_context *context, const cnn_plan *plan, const cnn_bias_args *args, cnn_error *err)
{
    bias_job job = job_of(plan, args);
    (void)err;
    CPU_RUN(context, job.desc->t.dtype, bias_add, &job);
    return CNN_OK;
}

cnn_status cpu_bias_gradient(cnn_context *context, const cnn_plan *plan, const cnn_bias_args *args, cnn_error *err)
{
    bias_job job = job_of(plan, args);
    (void)err;
    CPU_RUN(context, job.desc->t.dtype, bias_gradient, &job);
    return CNN_OK;
}

void cpu_conv_bias_gradient(const cpu_context *cpu, const cnn_plan *plan, const cnn_weighted_args *args)
{
    if (args->db == NULL) return;
    cnn_plan of_dy = *plan;
    cnn_conv_desc *d = &of_dy.problem.u.conv;
    d->ic = d->oc, d->ih = d->oh, d->iw = d->ow;
    bias_job job = job_of(&of_dy, &(cnn_bias_args){.dy = args->dy, .db = args->db, .beta = args->beta});
    CPU_RUN((cnn_context *)(uintptr_t)cpu, d->t.dtype, bias_gradient, &job);
    cpu_phase(cpu, "bias");
}
