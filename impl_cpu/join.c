/* join.c: where branches of a network meet: elementwise addition and concatenation along the channels.
 *
 * Concatenation copies bytes. In NCHW a row is an image, and input i brings ic[i]*ih*iw elements of it; in NHWC a row
 * is a pixel, with ic[i] elements. The backward is the same walk with the copies turned round. */
#include "harness/cnn/shape.h"
#include "ops.h"

#include <string.h>

typedef struct add_job {
    cpu_work work;
    const void *a, *b;
    void *y;
} add_job;

#define KERNELS "add.inc"
#include "for_each_real.inc"

cnn_status cpu_add_fwd(cnn_context *context, const cnn_plan *plan, const cnn_join_args *args, cnn_error *err)
{
    const cnn_add_desc *d = &plan->problem.u.add;
    const int64_t count = d->mb * d->ic * d->ih * d->iw;
    add_job job = {.work = cpu_elements(count, 1), .a = args->x[0], .b = args->x[1], .y = args->y};
    (void)err;
    if (cnn_is_half(d->t.dtype))
        cpu_half_add(context, d, args);
    else
        CPU_RUN(context, d->t.dtype, add, &job);
    return CNN_OK;
}

typedef struct concat_job {
    cpu_work work; /* rows */
    int n_inputs;
    size_t part_bytes[CNN_MAX_INPUTS], row_bytes; /* a row of each input, and of y */
    const cnn_join_args *join;                    /* forward; else NULL */
    const cnn_split_args *split;                  /* backward */
} concat_job;

CPU_INLINE void concat_rows(const concat_job *job, cpu_share rows)
{
    for (int64_t r = rows.first; r < rows.last; r++) {
        size_t at = (size_t)r * job->row_bytes; /* in y or dy */
        for (int i = 0; i < job->n_inputs; i++) {
            const size_t bytes = job->part_bytes[i], part = (size_t)r * bytes;
            if (job->join != NULL)
                memcpy((char *)job->join->y + at, (const char *)job->join->x[i] + part, bytes);
            else if (job->split->dx[i] != NULL)
                memcpy((char *)job->split->dx[i] + part, (const char *)job->split->dy + at, bytes);
            at += bytes;
        }
    }
}
CPU_VARIANTS(concat_rows);

static void concat(cnn_context *context, const cnn_concat_desc *d, const cnn_join_args *join,
                   const cnn_split_args *split)
{
    const int64_t pixels = d->ih * d->iw, per_channel = d->t.layout == CNN_NCHW ? pixels : 1;
    const size_t elem = cnn_dtype_size(d->t.dtype);
    const int64_t rows = d->t.layout == CNN_NCHW ? d->mb : d->mb * pixels;
    concat_job job = {.n_inputs = d->n_inputs, .join = join, .split = split};
    for (int i = 0; i < d->n_inputs; i++) {
        job.part_bytes[i] = (size_t)(d->ic[i] * per_channel) * elem;
        job.row_bytes += job.part_bytes[i];
    }
    job.work = cpu_items(rows, (int64_t)(job.row_bytes / elem));
    cpu_run(context, concat_rows_variants, &job.work);
}

cnn_status cpu_concat_fwd(cnn_context *context, const cnn_plan *plan, const cnn_join_args *args, cnn_error *err)
{
    (void)err;
    concat(context, &plan->problem.u.concat, args, NULL);
    return CNN_OK;
}

cnn_status cpu_concat_bwd(cnn_context *context, const cnn_plan *plan, const cnn_split_args *args, cnn_error *err)
{
    (void)err;
    concat(context, &plan->problem.u.concat, NULL, args);
    return CNN_OK;
}
